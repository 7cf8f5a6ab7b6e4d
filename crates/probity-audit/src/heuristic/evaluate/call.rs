//! Calls: of constructors, of the project's functions, of the standard library, of unknown code.

use super::{Evaluator, Expr, ExprKind, Location, Node, Outcomes, Path, Scope, Term};
use crate::heuristic::tree::{Parameter, Span};

/// Functions inside functions.
const MAX_CALLS: usize = 12;

impl<'p> Evaluator<'p> {
    pub(super) fn call(
        &mut self,
        span: Span,
        callee: &'p Expr,
        arguments: &'p [(Option<String>, Expr)],
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
        self.call_with(span, callee, arguments, None, scope, path)
    }

    /// `value |> call(arguments)`: the value is the first argument.
    pub(super) fn pipe(
        &mut self,
        span: Span,
        value: &'p Expr,
        call: &'p Expr,
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
        let mut found = Vec::new();
        for (path, value) in self.eval(value, scope, path) {
            let has_hole = |arguments: &[(Option<String>, Expr)]| {
                arguments.iter().any(|(_, argument)| matches!(argument.kind, ExprKind::Hole))
            };
            match &call.kind {
                ExprKind::Call { callee, arguments } if !has_hole(arguments) => {
                    found.extend(self.call_with(span, callee, arguments, Some(value), scope, path));
                }
                _ => {
                    let at = Location { file: scope.file, span };
                    for (path, function) in self.eval(call, scope, path) {
                        found.extend(self.call_value(call, function, vec![value], path, at));
                    }
                }
            }
        }
        found
    }

    /// A bare constructor behind a pipe is a call of it.
    fn call_value(
        &mut self,
        callee: &'p Expr,
        function: Term,
        arguments: Vec<Term>,
        path: Path,
        at: Location,
    ) -> Outcomes {
        if let ExprKind::Constructor(name) = &callee.kind {
            return vec![(path, self.construct(name, &arguments, &[], at))];
        }
        self.apply(function, arguments, path, at)
    }

    fn call_with(
        &mut self,
        span: Span,
        callee: &'p Expr,
        arguments: &'p [(Option<String>, Expr)],
        first: Option<Term>,
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
        let at = Location { file: scope.file, span };
        let is_hole = |(_, argument): &(_, Expr)| matches!(argument.kind, ExprKind::Hole);
        let given = arguments.iter().filter(|argument| !is_hole(argument));
        let given = self.eval_each(given.map(|(_, value)| value), scope, path);
        let mut found = Vec::new();
        for (path, values) in given {
            let mut all: Vec<Term> = first.into_iter().collect();
            if let ExprKind::Constructor(name) = &callee.kind {
                all.extend(values);
                let labels: Vec<_> = arguments.iter().map(|(label, _)| label.as_deref()).collect();
                found.push((path, self.construct(name, &all, &labels, at)));
                continue;
            }
            for (path, function) in self.eval(callee, scope, path) {
                if arguments.iter().any(is_hole) {
                    let mut values = values.iter().copied();
                    let slots = arguments
                        .iter()
                        .map(|argument| if is_hole(argument) { None } else { values.next() })
                        .collect();
                    let partial = self.terms.add(Node::Partial(function, slots), at);
                    found.push((path, partial));
                } else {
                    let mut all = all.clone();
                    all.extend(&values);
                    found.extend(self.apply(function, all, path, at));
                }
            }
        }
        found
    }

    fn construct(
        &mut self,
        name: &str,
        values: &[Term],
        labels: &[Option<&str>],
        at: Location,
    ) -> Term {
        let fields = values.iter().enumerate().map(|(position, value)| {
            let label = labels.get(position).copied().flatten();
            (label.map_or_else(|| self.key(at.file, name, position), str::to_owned), *value)
        });
        let fields = super::sorted(fields);
        self.terms.add(Node::Construct { name: name.to_owned(), base: None, fields }, at)
    }

    /// Calls a function value.
    pub(super) fn apply(
        &mut self,
        function: Term,
        arguments: Vec<Term>,
        path: Path,
        at: Location,
    ) -> Outcomes {
        match self.terms.node(function).clone() {
            Node::Closure(delayed) => {
                let ExprKind::Lambda(parameters, body) = &delayed.code.expr.kind else {
                    return Vec::new();
                };
                let scope = Scope { file: delayed.code.file, names: delayed.names };
                let stack = std::mem::replace(&mut self.stack, delayed.stack);
                let found = self.enter(parameters, body, &arguments, scope, path, at);
                self.stack = stack;
                found
            }
            Node::Function(file, body) => {
                let recursive = self.stack.contains(&body);
                if recursive || self.stack.len() >= MAX_CALLS {
                    let node = Node::Opaque { recursive, arguments };
                    return vec![(path, self.terms.add(node, at))];
                }
                self.stack.push(body);
                let scope = Scope { file, names: Vec::new() };
                let found =
                    self.enter(&body.0.parameters, &body.0.body, &arguments, scope, path, at);
                self.stack.pop();
                found
            }
            Node::Partial(function, slots) => {
                let mut given = arguments.into_iter();
                let mut all: Vec<Term> =
                    slots.into_iter().filter_map(|slot| slot.or_else(|| given.next())).collect();
                all.extend(given);
                self.apply(function, all, path, at)
            }
            Node::LibraryFunction(name) => self.library_call(&name, arguments, path, at),
            _ => {
                let mut all = vec![function];
                all.extend(arguments);
                let node = Node::Opaque { recursive: false, arguments: all };
                vec![(path, self.terms.add(node, at))]
            }
        }
    }

    fn enter(
        &mut self,
        parameters: &'p [Parameter],
        body: &'p Expr,
        arguments: &[Term],
        scope: Scope,
        path: Path,
        at: Location,
    ) -> Outcomes {
        let mut ways = vec![(scope, path)];
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if let Some(annotation) = &parameter.annotation {
                self.terms.note_type(*argument, &annotation.name);
            }
            let source = crate::heuristic::path::FactSource::Required;
            let bound = ways.into_iter().flat_map(|(scope, path)| {
                self.bind(&parameter.pattern, *argument, scope, path, source, at)
            });
            ways = bound.collect();
        }
        let mut found = Vec::new();
        for (scope, path) in ways {
            found.extend(self.eval(body, &scope, path));
        }
        found
    }

    /// How many arguments a function value takes, where that is known.
    pub(super) fn arity(&self, function: Term) -> Option<usize> {
        match self.terms.node(function) {
            Node::Closure(delayed) => match &delayed.code.expr.kind {
                ExprKind::Lambda(parameters, _) => Some(parameters.len()),
                _ => None,
            },
            Node::Function(_, body) => Some(body.0.parameters.len()),
            Node::Partial(_, slots) => Some(slots.iter().filter(|slot| slot.is_none()).count()),
            _ => None,
        }
    }
}
