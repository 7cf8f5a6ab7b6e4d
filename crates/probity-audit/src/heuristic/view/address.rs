//! Where value comes from and goes to: inputs, outputs and their addresses.

use super::View;
use crate::heuristic::{
    path::Fact,
    term::{Node, Root, Selector, Term},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::heuristic) enum AddressPart {
    Whole,
    Payment,
}

impl<'a, 'p> View<'a, 'p> {
    /// The own input, or another one that is taken for it.
    pub(in crate::heuristic) fn is_own_input(&self, term: Term) -> bool {
        self.terms.is_root(term, Root::OwnInput) || self.is_element(term, "inputs")
    }

    /// Whether the term contains the address of an input.
    fn has_input_address(&self, term: Term) -> bool {
        self.terms.parts(term).into_iter().any(|part| {
            let output = self.terms.field_of(part, "address");
            let input = output.and_then(|output| self.terms.field_of(output, "output"));
            input.is_some_and(|input| self.is_own_input(input))
        })
    }

    /// What the address of an output, or its payment part, is compared with.
    pub(in crate::heuristic) fn address_comparisons(
        &self,
        output: Term,
    ) -> Vec<(AddressPart, Term, &'a Fact)> {
        let Some(address) = self.field(output, "address") else { return Vec::new() };
        let credential = self.field(address, "payment_credential");
        let hash = credential.and_then(|credential| self.field(credential, "Script.0"));
        let mut found = Vec::new();
        for fact in self.facts() {
            for (side, other) in fact.equality(self.terms) {
                if side == address {
                    found.push((AddressPart::Whole, other, fact));
                } else if Some(side) == credential || (hash.is_some() && Some(side) == hash) {
                    found.push((AddressPart::Payment, other, fact));
                }
            }
        }
        found
    }

    /// Outputs that return to the address of an input: the next state of the script.
    pub(in crate::heuristic) fn continuing_outputs(&self) -> Vec<Term> {
        let mut outputs = self.selected_outputs();
        outputs.retain(|output| {
            let comparisons = self.address_comparisons(*output);
            comparisons.iter().any(|(_, other, _)| self.has_input_address(*other))
        });
        outputs
    }

    /// Whether a fact limits which inputs there are, beside finding the own one.
    pub(in crate::heuristic) fn limits_inputs(&self) -> bool {
        let Some(inputs) = self.transaction_field("inputs") else { return false };
        self.facts().any(|fact| match self.terms.node(fact.term) {
            Node::Length(list, _) => self.base_list(*list) == inputs,
            _ => self.terms.parts(fact.term).into_iter().any(|part| match self.terms.node(part) {
                Node::Library { arguments, .. } | Node::Opaque { arguments, .. } => {
                    arguments.iter().any(|argument| self.whole_list(*argument) == inputs)
                }
                Node::Element(list, Selector::Every(_)) => self.whole_list(*list) == inputs,
                _ => false,
            }),
        })
    }
}
