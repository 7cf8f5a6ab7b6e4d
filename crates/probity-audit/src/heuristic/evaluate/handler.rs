//! The handlers of all validators, each with the ways on which it accepts.

use super::{Evaluator, FUEL, Location, Node, Path, Program, Root, Scope, Term, Terms};
use crate::heuristic::{
    path::FactSource,
    tree::{Handler, Parameter, Span, TypeName},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::heuristic) enum Purpose {
    Spend,
    Mint,
    Withdraw,
    /// `publish`, `vote` and `propose`.
    Govern,
    Else,
}

pub(in crate::heuristic) struct HandlerPaths<'p> {
    /// The values of this handler; another one has other arguments.
    pub(in crate::heuristic) terms: Terms<'p>,
    pub(in crate::heuristic) file: usize,
    /// Handlers of the same validator share its script hash.
    pub(in crate::heuristic) validator: usize,
    pub(in crate::heuristic) purpose: Purpose,
    pub(in crate::heuristic) span: Span,
    pub(in crate::heuristic) body: Span,
    pub(in crate::heuristic) paths: Vec<Path>,
    /// Too complex to follow: what is missing in `paths` is not missing in the handler.
    pub(in crate::heuristic) exhausted: bool,
}

pub(in crate::heuristic) fn evaluate_all<'p>(program: &'p Program<'p>) -> Vec<HandlerPaths<'p>> {
    let mut found = Vec::new();
    let mut number = 0;
    for (file, source) in program.files.iter().enumerate() {
        for validator in &source.module.validators {
            number += 1;
            for handler in &validator.handlers {
                let evaluator = Evaluator {
                    program,
                    terms: Terms::default(),
                    fuel: FUEL,
                    exhausted: false,
                    depth: 0,
                    stack: Vec::new(),
                };
                found.push(evaluator.handler(file, number, handler, &validator.parameters));
            }
        }
    }
    found
}

impl<'p> Evaluator<'p> {
    fn parameters(&mut self, file: usize, parameters: &[Parameter]) -> Scope {
        let mut scope = Scope { file, names: Vec::new() };
        for (position, parameter) in parameters.iter().enumerate() {
            let term = self.terms.root(Root::Parameter(position));
            self.note_root_type(Root::Parameter(position), parameter.annotation.as_ref());
            scope = self.bind_parameter(parameter, term, scope);
        }
        scope
    }

    fn bind_parameter(&mut self, parameter: &Parameter, term: Term, scope: Scope) -> Scope {
        let at = Location { file: scope.file, span: Span::default() };
        let before = scope.clone();
        let bound =
            self.bind(&parameter.pattern, term, scope, Path::default(), FactSource::Required, at);
        bound.into_iter().next().map_or(before, |(scope, _)| scope)
    }

    fn handler(
        mut self,
        file: usize,
        validator: usize,
        handler: &'p Handler,
        parameters: &[Parameter],
    ) -> HandlerPaths<'p> {
        let mut scope = self.parameters(file, parameters);
        let (purpose, roots) = roles(handler);
        for (parameter, root) in handler.parameters.iter().zip(roots) {
            let term = self.terms.root(*root);
            self.note_root_type(*root, parameter.annotation.as_ref());
            scope = self.bind_parameter(parameter, term, scope);
        }
        let at = Location { file, span: handler.body.span };
        let mut paths = Vec::new();
        for (path, result) in self.eval(&handler.body, &scope, Path::default()) {
            paths.extend(self.assume(result, true, FactSource::Required, path, at));
        }
        let purpose = self.old_purpose(purpose, &paths);
        HandlerPaths {
            file,
            validator,
            purpose,
            span: handler.span,
            body: handler.body.span,
            paths,
            exhausted: self.exhausted,
            terms: self.terms,
        }
    }

    fn note_root_type(&mut self, root: Root, annotation: Option<&TypeName>) {
        let Some(annotation) = annotation else { return };
        let (root, name) = match (root, annotation.arguments.as_slice()) {
            (Root::Datum, [inner]) => (Root::State, &inner.name),
            (root, _) => (root, &annotation.name),
        };
        let term = self.terms.root(root);
        self.terms.note_type(term, name);
    }

    /// In the old syntax two arguments may belong to any purpose but spending.
    fn old_purpose(&self, purpose: Purpose, paths: &[Path]) -> Purpose {
        let facts = || paths.iter().flat_map(|path| &path.facts);
        let is = |name: &str| {
            facts().any(|fact| match self.terms.node(fact.term) {
                Node::Is(value, constructor) => {
                    constructor == name && self.terms.field_of(*value, "purpose").is_some()
                }
                _ => false,
            })
        };
        if is("WithdrawFrom") {
            Purpose::Withdraw
        } else if is("Publish") {
            Purpose::Govern
        } else {
            purpose
        }
    }
}

/// The purpose of a handler, and what its arguments are.
fn roles(handler: &Handler) -> (Purpose, &'static [Root]) {
    const SPEND: &[Root] = &[Root::Datum, Root::Redeemer, Root::OwnReference, Root::Transaction];
    const MINT: &[Root] = &[Root::Redeemer, Root::PolicyId, Root::Transaction];
    const OTHER: &[Root] = &[Root::Redeemer, Root::Subject, Root::Transaction];
    const OLD_SPEND: &[Root] = &[Root::State, Root::Redeemer, Root::Context];
    const OLD_OTHER: &[Root] = &[Root::Redeemer, Root::Context];
    if handler.old_syntax {
        return match handler.parameters.len() {
            3 => (Purpose::Spend, OLD_SPEND),
            _ => (Purpose::Mint, OLD_OTHER),
        };
    }
    match handler.name.as_str() {
        "spend" => (Purpose::Spend, SPEND),
        "mint" => (Purpose::Mint, MINT),
        "withdraw" => (Purpose::Withdraw, OTHER),
        "publish" | "vote" | "propose" => (Purpose::Govern, OTHER),
        _ => (Purpose::Else, &[Root::Context]),
    }
}
