//! Who has to agree: signatures, and values that the builder of a transaction does not choose.

use super::View;
use crate::heuristic::{
    path::Fact,
    term::{Node, Root, Term},
};

impl<'a, 'p> View<'a, 'p> {
    /// Facts that require a signature.
    pub(in crate::heuristic) fn signatures(&self) -> Vec<&'a Fact> {
        let Some(signatories) = self.transaction_field("extra_signatories") else {
            return Vec::new();
        };
        self.facts_about(signatories)
    }

    /// Whether someone must sign whom the state, a parameter or a constant names.
    pub(in crate::heuristic) fn has_trusted_signature(&self) -> bool {
        self.signatures().into_iter().any(|fact| self.is_trusted(fact.term))
    }

    /// Whether the term depends on something that the transaction's builder does not choose freely.
    pub(in crate::heuristic) fn is_trusted(&self, term: Term) -> bool {
        self.terms.mentions_root(term, Root::State)
            || self.terms.mentions_parameter(term)
            || self.terms.mentions_root(term, Root::OwnInput)
            || self.terms.any_part(term, |node| match node {
                Node::Literal(text) => text.contains('"'),
                _ => false,
            })
            || self
                .terms
                .parts(term)
                .into_iter()
                .any(|part| self.is_element(part, "reference_inputs"))
    }
}
