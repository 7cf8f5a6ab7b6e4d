//! Values that need no way of their own: names, literals, functions, and the fields of others.

use super::{
    Delayed, Evaluator, Expr, ExprKind, FunctionCode, Location, Node, Outcomes, Path, Root, Scope,
    Term,
};
use crate::heuristic::{program::Meaning, term::Code};

impl<'p> Evaluator<'p> {
    /// Expressions that have one value and require nothing.
    pub(super) fn atom(&mut self, expr: &'p Expr, at: Location, scope: &Scope) -> Term {
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

    pub(super) fn delayed(&self, expr: &'p Expr, scope: &Scope) -> Delayed<'p> {
        let code = Code { file: scope.file, expr };
        Delayed { code, names: captured(expr, scope), stack: self.stack.clone() }
    }

    pub(super) fn unknown(&mut self, at: Location) -> Term {
        let number = self.terms.len();
        self.terms.add(Node::Unknown(number), at)
    }

    pub(super) fn meaning(&mut self, meaning: Meaning<'p>, at: Location) -> Term {
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

    pub(super) fn field_access(
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

    pub(super) fn field(&mut self, owner: Term, name: &str, at: Location) -> Term {
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
}

/// How the parts of tuples and pairs are called.
pub(super) const ORDINALS: &[&str] = &["1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"];

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
