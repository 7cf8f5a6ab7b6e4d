//! `when` and `if`: each arm is a way of its own, with what its pattern or condition says.

use super::{Evaluator, FactSource, Location, Outcomes, Path, Pattern, Scope};
use crate::heuristic::tree::{Condition, Expr};

impl<'p> Evaluator<'p> {
    pub(super) fn when(
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

    pub(super) fn if_chain(
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
