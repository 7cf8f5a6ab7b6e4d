//! Follows a handler symbolically: each way through it that can return `True` becomes a [`Path`].
//!
//! Calls of the project's own functions are followed into, so names and the cut into helpers do not
//! matter. Nothing is computed: a value is the expression that leads to it from the handler's
//! arguments. Work is limited by [`FUEL`]; a handler that needs more is marked and gives no findings.

mod assume;
mod call;
mod handler;
mod library;
mod pattern;

pub(super) use self::handler::{HandlerPaths, Purpose, evaluate_all};
use super::{
    path::{FactSource, Path},
    program::{Meaning, Program},
    term::{Code, Delayed, FunctionCode, Location, Node, Root, Term, Terms},
    tree::{Condition, Expr, ExprKind, Operator, Pattern, Span, Statement, StatementKind},
};

/// Expressions that are evaluated for one handler.
const FUEL: usize = 30_000;
/// Ways that are followed at the same time.
const MAX_PATHS: usize = 256;
/// Expressions inside expressions, through all calls.
const MAX_DEPTH: usize = 160;

/// A value, and the path on which the expression has it.
type Outcomes = Vec<(Path, Term)>;

struct Evaluator<'p> {
    program: &'p Program<'p>,
    terms: Terms<'p>,
    fuel: usize,
    exhausted: bool,
    depth: usize,
    /// The functions that are being followed, to see recursion.
    stack: Vec<FunctionCode<'p>>,
}

/// The local names, innermost last.
#[derive(Clone)]
struct Scope {
    file: usize,
    names: Vec<(String, Term)>,
}

impl Scope {
    fn get(&self, name: &str) -> Option<Term> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, term)| *term)
    }
}

impl<'p> Evaluator<'p> {
    fn eval(&mut self, expr: &'p Expr, scope: &Scope, path: Path) -> Outcomes {
        if self.fuel == 0 || self.depth >= MAX_DEPTH {
            self.exhausted = true;
            return Vec::new();
        }
        self.fuel -= 1;
        self.depth += 1;
        let mut found = self.eval_kind(expr, scope, path);
        self.depth -= 1;
        if found.len() > MAX_PATHS {
            self.exhausted = true;
            found.clear();
        }
        found
    }

    fn eval_kind(&mut self, expr: &'p Expr, scope: &Scope, path: Path) -> Outcomes {
        let at = Location { file: scope.file, span: expr.span };
        match &expr.kind {
            ExprKind::Fail => Vec::new(),
            ExprKind::Block(statements) => self.block(statements, scope, path),
            ExprKind::When(subject, arms) => self.when(subject, arms, scope, path),
            ExprKind::If(conditions, otherwise) => {
                self.if_chain(conditions, otherwise.as_deref(), scope, path)
            }
            ExprKind::Call { callee, arguments } => {
                self.call(expr.span, callee, arguments, scope, path)
            }
            ExprKind::Binary(Operator::Pipe, value, call) => {
                self.pipe(expr.span, value, call, scope, path)
            }
            ExprKind::Binary(operator, left, right)
                if !matches!(operator, Operator::And | Operator::Or) =>
            {
                let sides = self.eval_each([&**left, &**right], scope, path);
                self.build(sides, at, |sides| Node::Binary(*operator, sides[0], sides[1]))
            }
            ExprKind::Negate(inner) => {
                let inner = self.eval_each([&**inner], scope, path);
                self.build(inner, at, |inner| Node::Negate(inner[0]))
            }
            ExprKind::Record { constructor, base, fields } => {
                let values =
                    base.as_deref().into_iter().chain(fields.iter().map(|(_, value)| value));
                let values = self.eval_each(values, scope, path);
                let first = usize::from(base.is_some());
                self.build(values, at, |values| Node::Construct {
                    name: constructor.clone(),
                    base: base.is_some().then(|| values[0]),
                    fields: sorted(
                        fields
                            .iter()
                            .zip(&values[first..])
                            .map(|((name, _), value)| (name.clone(), *value)),
                    ),
                })
            }
            ExprKind::List(items, tail) => {
                let values = self.eval_each(items.iter().chain(tail.as_deref()), scope, path);
                self.build(values, at, |values| {
                    let (items, rest) = values.split_at(items.len());
                    Node::List(items.to_vec(), rest.first().copied())
                })
            }
            ExprKind::Tuple(items) => {
                let values = self.eval_each(items, scope, path);
                self.build(values, at, |values| Node::Tuple(values.to_vec()))
            }
            ExprKind::Field(value, name) => self.field_access(value, name, at, scope, path),
            _ => {
                let term = self.atom(expr, at, scope);
                vec![(path, term)]
            }
        }
    }

    /// Expressions that have one value and require nothing.
    fn atom(&mut self, expr: &'p Expr, at: Location, scope: &Scope) -> Term {
        let node = match &expr.kind {
            ExprKind::Var(name) => match scope.get(name) {
                Some(term) => return term,
                None => return self.meaning(self.program.name(scope.file, name), at),
            },
            ExprKind::Constructor(name) => {
                Node::Construct { name: name.clone(), base: None, fields: Vec::new() }
            }
            ExprKind::Literal(text) => Node::Literal(text.clone()),
            ExprKind::Lambda(..) => Node::Closure(self.delayed(expr, scope)),
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::Binary(..) => {
                Node::Condition(self.delayed(expr, scope))
            }
            _ => return self.unknown(at),
        };
        self.terms.add(node, at)
    }

    fn delayed(&self, expr: &'p Expr, scope: &Scope) -> Delayed<'p> {
        let code = Code { file: scope.file, expr };
        Delayed { code, names: captured(expr, scope), stack: self.stack.clone() }
    }

    fn unknown(&mut self, at: Location) -> Term {
        let number = self.terms.len();
        self.terms.add(Node::Unknown(number), at)
    }

    fn meaning(&mut self, meaning: Meaning<'p>, at: Location) -> Term {
        match meaning {
            Meaning::Function(file, body) => {
                self.terms.add(Node::Function(file, FunctionCode(body)), at)
            }
            Meaning::Constant(file, value) => {
                let scope = Scope { file, names: Vec::new() };
                let found = self.eval(value, &scope, Path::default());
                match found.as_slice() {
                    [(_, only)] => *only,
                    _ => self.unknown(at),
                }
            }
            Meaning::Library(name) => self.terms.add(Node::LibraryFunction(name), at),
            Meaning::Foreign => self.unknown(at),
        }
    }

    fn eval_each(
        &mut self,
        exprs: impl IntoIterator<Item = &'p Expr>,
        scope: &Scope,
        path: Path,
    ) -> Vec<(Path, Vec<Term>)> {
        let mut found = vec![(path, Vec::new())];
        for expr in exprs {
            let mut next = Vec::new();
            for (path, values) in found {
                for (path, value) in self.eval(expr, scope, path) {
                    let mut values = values.clone();
                    values.push(value);
                    next.push((path, values));
                }
            }
            found = next;
        }
        found
    }

    fn build(
        &mut self,
        values: Vec<(Path, Vec<Term>)>,
        at: Location,
        node: impl Fn(&[Term]) -> Node<'p>,
    ) -> Outcomes {
        let built =
            values.into_iter().map(|(path, values)| (path, self.terms.add(node(&values), at)));
        built.collect()
    }

    fn field_access(
        &mut self,
        value: &'p Expr,
        name: &str,
        at: Location,
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
        if let ExprKind::Var(module) = &value.kind
            && scope.get(module).is_none()
            && let Some(meaning) = self.program.qualified(scope.file, module, name)
        {
            return vec![(path, self.meaning(meaning, at))];
        }
        let owners = self.eval(value, scope, path);
        owners.into_iter().map(|(path, owner)| (path, self.field(owner, name, at))).collect()
    }

    fn field(&mut self, owner: Term, name: &str, at: Location) -> Term {
        match self.terms.node(owner) {
            Node::Construct { base, fields, .. } => {
                if let Some((_, value)) = fields.iter().find(|(field, _)| field == name) {
                    return *value;
                }
                if let Some(base) = *base {
                    return self.field(base, name, at);
                }
            }
            Node::Tuple(items) => {
                let position = ORDINALS.iter().position(|ordinal| *ordinal == name);
                if let Some(item) = position.and_then(|position| items.get(position)) {
                    return *item;
                }
            }
            Node::Root(Root::Context) => match name {
                "transaction" => return self.terms.root(Root::Transaction),
                "redeemer" => return self.terms.root(Root::Redeemer),
                _ => {}
            },
            _ => {}
        }
        self.terms.add(Node::Field(owner, name.to_owned()), at)
    }

    fn block(&mut self, statements: &'p [Statement], scope: &Scope, path: Path) -> Outcomes {
        let Some((last, before)) = statements.split_last() else {
            let at = Location { file: scope.file, span: Span::default() };
            return vec![(path, self.unknown(at))];
        };
        let mut ways = vec![(scope.clone(), path)];
        for statement in before {
            let mut next = Vec::new();
            for (scope, path) in ways {
                next.extend(self.statement(statement, scope, path));
            }
            ways = next;
            if ways.len() > MAX_PATHS {
                self.exhausted = true;
                return Vec::new();
            }
        }
        let mut found = Vec::new();
        for (scope, path) in ways {
            if matches!(last.kind, StatementKind::Value) {
                found.extend(self.eval(&last.value, &scope, path));
                continue;
            }
            // A block may end with `expect`: it is then `True`, or nothing.
            for (scope, path) in self.statement(last, scope, path) {
                let at = Location { file: scope.file, span: last.value.span };
                found.push((path, self.boolean(true, at)));
            }
        }
        found
    }

    fn boolean(&mut self, value: bool, at: Location) -> Term {
        let name = if value { "True" } else { "False" };
        let node = Node::Construct { name: name.to_owned(), base: None, fields: Vec::new() };
        self.terms.add(node, at)
    }

    fn statement(
        &mut self,
        statement: &'p Statement,
        scope: Scope,
        path: Path,
    ) -> Vec<(Scope, Path)> {
        let value = &statement.value;
        let (pattern, annotation) = match &statement.kind {
            StatementKind::Expect(None) => {
                let paths = self.assume_expr(value, &scope, true, FactSource::Required, path);
                return paths.into_iter().map(|path| (scope.clone(), path)).collect();
            }
            StatementKind::Value => {
                let found = self.eval(value, &scope, path);
                return found.into_iter().map(|(path, _)| (scope.clone(), path)).collect();
            }
            StatementKind::Backpass(pattern) => (pattern, None),
            StatementKind::Let(pattern, annotation)
            | StatementKind::Expect(Some((pattern, annotation))) => (pattern, annotation.as_ref()),
        };
        let at = Location { file: scope.file, span: value.span };
        let mut found = Vec::new();
        for (path, term) in self.eval(value, &scope, path) {
            if let Some(annotation) = annotation {
                self.terms.note_type(term, &annotation.name);
            }
            found.extend(self.bind(pattern, term, scope.clone(), path, FactSource::Required, at));
        }
        found
    }

    fn when(
        &mut self,
        subject: &'p Expr,
        arms: &'p [(Vec<Pattern>, Expr)],
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
        let at = Location { file: scope.file, span: subject.span };
        let mut found = Vec::new();
        for (path, subject) in self.eval(subject, scope, path) {
            let mut open = vec![path];
            for (patterns, body) in arms {
                for pattern in patterns {
                    for path in open.clone() {
                        let bound = self.bind(
                            pattern,
                            subject,
                            scope.clone(),
                            path,
                            FactSource::Branch,
                            at,
                        );
                        for (scope, path) in bound {
                            found.extend(self.eval(body, &scope, path));
                        }
                    }
                    let missed =
                        open.into_iter().flat_map(|path| self.refute(pattern, subject, path, at));
                    open = missed.collect();
                }
            }
        }
        found
    }

    fn if_chain(
        &mut self,
        conditions: &'p [Condition],
        otherwise: Option<&'p Expr>,
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
        let mut found = Vec::new();
        let mut open = vec![path];
        for condition in conditions {
            let mut missed = Vec::new();
            for path in open {
                let Some(pattern) = &condition.pattern else {
                    let source = FactSource::Branch;
                    for path in self.assume_expr(&condition.test, scope, true, source, path.clone())
                    {
                        found.extend(self.eval(&condition.body, scope, path));
                    }
                    missed.extend(self.assume_expr(&condition.test, scope, false, source, path));
                    continue;
                };
                let at = Location { file: scope.file, span: condition.test.span };
                for (path, value) in self.eval(&condition.test, scope, path) {
                    let source = FactSource::Branch;
                    for (scope, path) in
                        self.bind(pattern, value, scope.clone(), path.clone(), source, at)
                    {
                        found.extend(self.eval(&condition.body, &scope, path));
                    }
                    missed.push(path);
                }
            }
            open = missed;
        }
        for path in open {
            if let Some(otherwise) = otherwise {
                found.extend(self.eval(otherwise, scope, path));
            }
        }
        found
    }
}

/// How the parts of tuples and pairs are called.
const ORDINALS: &[&str] = &["1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"];

fn sorted(fields: impl Iterator<Item = (String, Term)>) -> Vec<(String, Term)> {
    let mut fields: Vec<_> = fields.collect();
    fields.sort();
    fields
}

/// The local names that an expression uses, with their values.
fn captured(expr: &Expr, scope: &Scope) -> Vec<(String, Term)> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if let ExprKind::Var(name) = &expr.kind
            && let Some(term) = scope.get(name)
        {
            found.push((name.clone(), term));
        }
        expr.each_child(&mut |child| open.push(child));
    }
    found.sort();
    found.dedup();
    found
}
