//! Blocks: each statement binds names or requires something, and the last one is the value.

use super::{Evaluator, FactSource, Location, MAX_PATHS, Node, Outcomes, Path, Scope, Term};
use crate::heuristic::tree::{Span, Statement, StatementKind};

impl<'p> Evaluator<'p> {
    pub(super) fn block(
        &mut self,
        statements: &'p [Statement],
        scope: &Scope,
        path: Path,
    ) -> Outcomes {
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

    pub(super) fn boolean(&mut self, value: bool, at: Location) -> Term {
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
}
