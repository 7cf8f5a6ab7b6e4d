//! Binding the names of a pattern, and what follows from a match.

use super::{Evaluator, Location, Node, Path, Pattern, Scope, Term, value::ORDINALS};
use crate::heuristic::{path::FactSource, term::Selector};

impl Evaluator<'_> {
    /// The ways on which the value matches, with the names of the pattern.
    pub(super) fn bind(
        &mut self,
        pattern: &Pattern,
        value: Term,
        mut scope: Scope,
        path: Path,
        source: FactSource,
        at: Location,
    ) -> Vec<(Scope, Path)> {
        match pattern {
            Pattern::Discard => vec![(scope, path)],
            Pattern::Name(name) => {
                scope.names.push((name.clone(), value));
                vec![(scope, path)]
            }
            Pattern::Alias(inner, name) => {
                scope.names.push((name.clone(), value));
                self.bind(inner, value, scope, path, source, at)
            }
            Pattern::Literal(text) => {
                let literal = self.terms.add(Node::Literal(text.replace('_', "")), at);
                let equal = Node::Binary(super::Operator::Equal, value, literal);
                let equal = self.terms.add(equal, at);
                let paths = self.fact(equal, true, source, path, at);
                paths.into_iter().map(|path| (scope.clone(), path)).collect()
            }
            Pattern::Tuple(items) => {
                let mut ways = vec![(scope, path)];
                for (item, ordinal) in items.iter().zip(ORDINALS) {
                    let part = self.field(value, ordinal, at);
                    ways = self.bind_in(ways, item, source, at, |_, path| vec![(path, part)]);
                }
                ways
            }
            Pattern::List { items, tail } => {
                self.bind_list(items, tail.as_ref(), value, scope, path, source, at)
            }
            Pattern::Constructor { name, fields } => {
                self.bind_constructor(name, fields, value, scope, path, source, at)
            }
        }
    }

    fn bind_in(
        &mut self,
        ways: Vec<(Scope, Path)>,
        pattern: &Pattern,
        source: FactSource,
        at: Location,
        value: impl Fn(&mut Self, Path) -> Vec<(Path, Term)>,
    ) -> Vec<(Scope, Path)> {
        let mut found = Vec::new();
        for (scope, path) in ways {
            for (path, value) in value(self, path) {
                found.extend(self.bind(pattern, value, scope.clone(), path, source, at));
            }
        }
        found
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of the pattern, and where it is bound"
    )]
    fn bind_list(
        &mut self,
        items: &[Pattern],
        tail: Option<&Option<String>>,
        value: Term,
        scope: Scope,
        path: Path,
        source: FactSource,
        at: Location,
    ) -> Vec<(Scope, Path)> {
        let paths = if tail.is_none() {
            let length = self.terms.add(Node::Length(value, items.len()), at);
            self.fact(length, true, source, path, at)
        } else {
            vec![path]
        };
        let mut ways: Vec<_> = paths.into_iter().map(|path| (scope.clone(), path)).collect();
        for (position, item) in items.iter().enumerate() {
            ways = self.bind_in(ways, item, source, at, |evaluator, path| {
                evaluator.element(value, Selector::Position(position), source, path, at)
            });
        }
        if let Some(Some(name)) = tail {
            let rest = self.terms.add(Node::Tail(value), at);
            ways.iter_mut().for_each(|(scope, _)| scope.names.push((name.clone(), rest)));
        }
        ways
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of the pattern, and where it is bound"
    )]
    fn bind_constructor(
        &mut self,
        name: &str,
        fields: &[(Option<String>, Pattern)],
        value: Term,
        scope: Scope,
        path: Path,
        source: FactSource,
        at: Location,
    ) -> Vec<(Scope, Path)> {
        if name == "True" || name == "False" {
            let paths = self.assume(value, name == "True", source, path, at);
            return paths.into_iter().map(|path| (scope.clone(), path)).collect();
        }
        if name == "Some" && self.unwraps_by_itself(value) {
            let found = self.unwrap_some(value, source, path, at);
            let mut ways = Vec::new();
            for (path, inner) in found {
                match fields {
                    [(_, pattern)] => {
                        ways.extend(self.bind(pattern, inner, scope.clone(), path, source, at));
                    }
                    _ => ways.push((scope.clone(), path)),
                }
            }
            return ways;
        }
        let mut path = path;
        match self.terms.node(value) {
            Node::Construct { name: built, .. } => {
                if built != name {
                    return Vec::new();
                }
            }
            _ if self.is_only_constructor(scope.file, name) => {}
            _ => {
                let is = self.terms.add(Node::Is(value, name.to_owned()), at);
                match self.fact(is, true, source, path, at).pop() {
                    Some(next) => path = next,
                    None => return Vec::new(),
                }
            }
        }
        if let Some((type_name, _)) = self.program.constructor(scope.file, name) {
            self.terms.note_type(value, type_name);
        }
        let mut ways = vec![(scope, path)];
        for (position, (label, pattern)) in fields.iter().enumerate() {
            let part = self.payload(value, name, label.as_deref(), position, at);
            ways = self.bind_in(ways, pattern, source, at, |_, path| vec![(path, part)]);
        }
        ways
    }

    /// Records, pairs and the records of the standard library always match.
    fn is_only_constructor(&self, file: usize, name: &str) -> bool {
        match self.program.constructor(file, name) {
            Some((type_name, _)) => self.program.record(type_name).is_some(),
            None => matches!(
                name,
                "Pair"
                    | "Transaction"
                    | "Output"
                    | "Input"
                    | "OutputReference"
                    | "Address"
                    | "ScriptContext"
                    | "Interval"
                    | "IntervalBound"
                    | "TransactionId"
            ),
        }
    }

    /// What a constructor contains, by label or by position.
    pub(super) fn payload(
        &mut self,
        value: Term,
        constructor: &str,
        label: Option<&str>,
        position: usize,
        at: Location,
    ) -> Term {
        let key = match label {
            Some(label) => label.to_owned(),
            None => self.key(at.file, constructor, position),
        };
        if let Some(root) = self.purpose_payload(value, &key) {
            return root;
        }
        self.field(value, &key, at)
    }

    /// The name of the field at a position.
    pub(super) fn key(&self, file: usize, constructor: &str, position: usize) -> String {
        if constructor == "Pair" {
            return ORDINALS.get(position).copied().unwrap_or_default().to_owned();
        }
        let found = self.program.constructor(file, constructor);
        let label = found.and_then(|(_, found)| found.fields.get(position)?.0.clone());
        label.unwrap_or_else(|| format!("{constructor}.{position}"))
    }

    /// The way on which a pattern does not match; none if it always does.
    pub(super) fn refute(
        &mut self,
        pattern: &Pattern,
        value: Term,
        path: Path,
        at: Location,
    ) -> Vec<Path> {
        match pattern {
            Pattern::Discard | Pattern::Name(_) => Vec::new(),
            Pattern::Alias(inner, _) => self.refute(inner, value, path, at),
            Pattern::Constructor { name, .. } if name == "True" || name == "False" => {
                self.assume(value, name != "True", FactSource::Branch, path, at)
            }
            Pattern::Constructor { name, fields } => {
                if fields.iter().any(|(_, inner)| !always_matches(inner)) {
                    return vec![path];
                }
                match self.terms.node(value) {
                    Node::Construct { name: built, .. } if built == name => return Vec::new(),
                    Node::Construct { .. } => return vec![path],
                    _ if self.is_only_constructor(at.file, name) => return Vec::new(),
                    _ => {}
                }
                let is = self.terms.add(Node::Is(value, name.clone()), at);
                self.fact(is, false, FactSource::Branch, path, at)
            }
            Pattern::List { items, tail: None } => {
                let length = self.terms.add(Node::Length(value, items.len()), at);
                self.fact(length, false, FactSource::Branch, path, at)
            }
            Pattern::List { .. } | Pattern::Literal(_) => vec![path],
            Pattern::Tuple(items) => {
                if items.iter().all(always_matches) {
                    Vec::new()
                } else {
                    vec![path]
                }
            }
        }
    }
}

fn always_matches(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Discard | Pattern::Name(_) => true,
        Pattern::Alias(inner, _) => always_matches(inner),
        Pattern::Tuple(items) => items.iter().all(always_matches),
        _ => false,
    }
}
