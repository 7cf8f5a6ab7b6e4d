//! What is inside a value: tokens, lovelace, and the value of an input.

use super::View;
use crate::heuristic::term::{Node, Root, Term};

impl View<'_, '_> {
    /// `quantity_of` and the like, applied to this value: the policy and name of one token.
    pub(in crate::heuristic) fn token_lookup(&self, term: Term) -> Option<(Term, Term, Term)> {
        match self.terms.library(term)? {
            ("assets.quantity_of", [value, policy, name]) if !self.is_ada(*policy) => {
                Some((*value, *policy, *name))
            }
            _ => None,
        }
    }

    /// The value whose lovelace this is.
    pub(in crate::heuristic) fn lovelace_of(&self, term: Term) -> Option<Term> {
        match self.terms.library(term)? {
            ("assets.lovelace_of", [value]) => Some(*value),
            ("assets.quantity_of", [value, policy, _]) if self.is_ada(*policy) => Some(*value),
            _ => None,
        }
    }

    fn is_ada(&self, policy: Term) -> bool {
        match self.terms.node(policy) {
            Node::LibraryFunction(name) => name == "assets.ada_policy_id",
            Node::Literal(text) => text.trim_start_matches(['#', '@']) == "\"\"",
            _ => false,
        }
    }

    /// Whether a fact asks for one token in the value of this output.
    pub(in crate::heuristic) fn checks_token_in(&self, output: Term) -> bool {
        let value = self.field(output, "value");
        value.is_some_and(|value| {
            self.uses(value).into_iter().any(|part| {
                let by_policy = self.terms.library(part).is_some_and(|(name, _)| {
                    let function = name.strip_prefix("assets.").unwrap_or_default();
                    function.starts_with("has_")
                        || matches!(function, "tokens" | "policies" | "flatten")
                });
                by_policy || self.token_lookup(part).is_some()
            })
        })
    }

    /// The output that is spent by the own input, or by one that is taken for it.
    pub(in crate::heuristic) fn own_outputs(&self) -> Vec<Term> {
        let own = self.terms.find(&Node::Root(Root::OwnInput));
        let inputs = own.into_iter().chain(self.elements("inputs"));
        inputs.filter_map(|input| self.field(input, "output")).collect()
    }

    /// Whether the term contains the value of an input.
    pub(in crate::heuristic) fn has_input_value(&self, term: Term) -> bool {
        let values =
            self.own_outputs().into_iter().filter_map(|output| self.field(output, "value"));
        let parts = self.terms.parts(term);
        values.into_iter().any(|value| parts.contains(&value))
    }

    pub(in crate::heuristic) fn mentions_own_reference(&self, term: Term) -> bool {
        self.terms.mentions_root(term, Root::OwnReference)
            || self.terms.parts(term).into_iter().any(|part| {
                let input = self.terms.field_of(part, "output_reference");
                input.is_some_and(|input| self.is_own_input(input))
            })
    }
}
