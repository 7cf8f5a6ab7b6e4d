//! Follows a handler symbolically: each way through it that can return `True` becomes a [`Path`].
//!
//! Calls of the project's own functions are followed into, so names and the cut into helpers do not
//! matter. Nothing is computed: a value is the expression that leads to it from the handler's
//! arguments. Work is limited by [`FUEL`]; a handler that needs more is marked and gives no findings.

mod assume;
mod branch;
mod call;
mod handler;
mod library;
mod pattern;
mod statement;
mod value;

pub(super) use self::handler::{HandlerPaths, Purpose, evaluate_all};
use super::{
    path::{FactSource, Path},
    program::Program,
    term::{Delayed, FunctionCode, Location, Node, Root, Term, Terms},
    tree::{Expr, ExprKind, Operator, Pattern},
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
}

fn sorted(fields: impl Iterator<Item = (String, Term)>) -> Vec<(String, Term)> {
    let mut fields: Vec<_> = fields.collect();
    fields.sort();
    fields
}
