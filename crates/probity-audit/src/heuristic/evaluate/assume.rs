//! What must be so if a condition is true, or false.

use super::{Evaluator, Location, Node, Operator, Path, Scope, Term};
use crate::heuristic::{
    path::{Fact, FactSource},
    term::Selector,
    tree::{Expr, ExprKind},
};

impl<'p> Evaluator<'p> {
    /// The ways on which the expression is `truth`.
    pub(super) fn assume_expr(
        &mut self,
        expr: &'p Expr,
        scope: &Scope,
        truth: bool,
        source: FactSource,
        path: Path,
    ) -> Vec<Path> {
        match &expr.kind {
            ExprKind::Not(inner) => self.assume_expr(inner, scope, !truth, source, path),
            ExprKind::And(items) => self.assume_each(items, scope, truth, truth, source, path),
            ExprKind::Or(items) => self.assume_each(items, scope, truth, !truth, source, path),
            ExprKind::Binary(Operator::And, left, right) => {
                self.assume_each([&**left, &**right], scope, truth, truth, source, path)
            }
            ExprKind::Binary(Operator::Or, left, right) => {
                self.assume_each([&**left, &**right], scope, truth, !truth, source, path)
            }
            _ => {
                let at = Location { file: scope.file, span: expr.span };
                let mut found = Vec::new();
                for (path, term) in self.eval(expr, scope, path) {
                    found.extend(self.assume(term, truth, source, path, at));
                }
                found
            }
        }
    }

    /// Items that must all be `truth` at once, or of which one is enough.
    fn assume_each(
        &mut self,
        items: impl IntoIterator<Item = &'p Expr>,
        scope: &Scope,
        truth: bool,
        all: bool,
        source: FactSource,
        path: Path,
    ) -> Vec<Path> {
        if !all {
            let mut found = Vec::new();
            for item in items {
                found.extend(self.assume_expr(item, scope, truth, source, path.clone()));
            }
            return found;
        }
        let mut ways = vec![path];
        for item in items {
            let mut next = Vec::new();
            for path in ways {
                next.extend(self.assume_expr(item, scope, truth, source, path));
            }
            ways = next;
            if ways.len() > super::MAX_PATHS {
                self.exhausted = true;
                return Vec::new();
            }
        }
        ways
    }

    pub(super) fn assume(
        &mut self,
        term: Term,
        truth: bool,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        match self.terms.node(term).clone() {
            Node::Construct { name, .. } if name == "True" || name == "False" => {
                if (name == "True") == truth { vec![path] } else { Vec::new() }
            }
            Node::Condition(delayed) => {
                let scope = Scope { file: delayed.code.file, names: delayed.names };
                let stack = std::mem::replace(&mut self.stack, delayed.stack);
                let found = self.assume_expr(delayed.code.expr, &scope, truth, source, path);
                self.stack = stack;
                found
            }
            Node::Binary(operator, left, right) => {
                self.assume_comparison((operator, left, right), truth, source, path, at)
            }
            Node::Library { name, arguments, .. } => match (name.as_str(), arguments.as_slice()) {
                ("list.any" | "pairs.any", [list, test]) => {
                    self.quantified(*list, *test, truth, truth, source, path, at)
                }
                ("list.all" | "pairs.all", [list, test]) => {
                    self.quantified(*list, *test, truth, !truth, source, path, at)
                }
                ("list.is_empty", [list]) => {
                    let empty = self.terms.add(Node::Length(*list, 0), at);
                    self.fact(empty, truth, source, path, at)
                }
                ("option.is_some", [value]) => self.is_some(*value, truth, source, path, at),
                ("option.is_none", [value]) => self.is_some(*value, !truth, source, path, at),
                _ => self.fact(term, truth, source, path, at),
            },
            _ => self.fact(term, truth, source, path, at),
        }
    }

    fn assume_comparison(
        &mut self,
        (operator, left, right): (Operator, Term, Term),
        truth: bool,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        let operator = if truth { operator } else { opposite(operator) };
        if let Operator::Equal | Operator::NotEqual = operator {
            let equal = operator == Operator::Equal;
            for (value, other) in [(left, right), (right, left)] {
                let Node::Construct { name, .. } = self.terms.node(other) else { continue };
                match name.as_str() {
                    "True" => return self.assume(value, equal, source, path, at),
                    "False" => return self.assume(value, !equal, source, path, at),
                    "None" if self.is_lookup(value) => {
                        return self.is_some(value, !equal, source, path, at);
                    }
                    _ => {}
                }
            }
        }
        let term = self.terms.add(Node::Binary(operator, left, right), at);
        self.fact(term, true, source, path, at)
    }

    fn is_lookup(&self, term: Term) -> bool {
        self.terms.library(term).is_some_and(|(name, _)| name == "list.find")
    }

    fn is_some(
        &mut self,
        value: Term,
        truth: bool,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        if truth {
            let found = self.unwrap_some(value, source, path, at);
            return found.into_iter().map(|(path, _)| path).collect();
        }
        let none = self.terms.add(Node::Is(value, "None".to_owned()), at);
        self.fact(none, true, source, path, at)
    }

    /// `test` has the value `truth` for one element of the list, or for every one.
    #[expect(clippy::too_many_arguments, reason = "what is assumed, and where: each is needed")]
    fn quantified(
        &mut self,
        list: Term,
        test: Term,
        truth: bool,
        one: bool,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        if let Node::List(items, None) = self.terms.node(list).clone()
            && !one
        {
            let mut ways = vec![path];
            for item in items {
                let mut next = Vec::new();
                for path in ways {
                    next.extend(self.assume_call(test, item, truth, source, path, at));
                }
                ways = next;
            }
            return ways;
        }
        let selector = if one { Selector::Match(test, 0) } else { Selector::Every(test) };
        let mut found = Vec::new();
        for (path, element) in self.element(list, selector, source, path, at) {
            found.extend(self.assume_call(test, element, truth, source, path, at));
        }
        found
    }

    pub(super) fn assume_call(
        &mut self,
        test: Term,
        argument: Term,
        truth: bool,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        let mut found = Vec::new();
        for (path, result) in self.apply(test, vec![argument], path, at) {
            found.extend(self.assume(result, truth, source, path, self.terms.origin(result)));
        }
        found
    }

    pub(super) fn fact(
        &mut self,
        term: Term,
        truth: bool,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        let fact = Fact { term, truth, origin: at, source };
        path.with(&self.terms, fact).into_iter().collect()
    }
}

fn opposite(operator: Operator) -> Operator {
    match operator {
        Operator::Equal => Operator::NotEqual,
        Operator::NotEqual => Operator::Equal,
        Operator::Less => Operator::GreaterEqual,
        Operator::LessEqual => Operator::Greater,
        Operator::Greater => Operator::LessEqual,
        Operator::GreaterEqual => Operator::Less,
        other => other,
    }
}
