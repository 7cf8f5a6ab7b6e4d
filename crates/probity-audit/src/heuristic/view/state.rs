//! The state of a script: what the next datum is made of, and what grows in it.

use super::View;
use crate::heuristic::term::{Node, Root, Term};

impl View<'_, '_> {
    /// Whether a comparison makes the term part of the datum of an output.
    pub(in crate::heuristic) fn is_in_next_state(&self, term: Term) -> bool {
        self.facts().any(|fact| {
            fact.equality(self.terms).into_iter().any(|(side, other)| {
                self.has_output_datum(side) && self.terms.mentions(other, term)
            })
        })
    }

    pub(in crate::heuristic) fn has_output_datum(&self, term: Term) -> bool {
        self.terms.parts(term).into_iter().any(|part| {
            let output = self.terms.field_of(part, "datum");
            output.is_some_and(|output| self.is_element(output, "outputs"))
        })
    }

    /// The part of the state that `grown` adds an element to.
    pub(in crate::heuristic) fn grown_list(&self, grown: Term) -> Option<Term> {
        let old = match self.terms.node(grown) {
            Node::List(items, Some(tail)) if !items.is_empty() => *tail,
            Node::Library { name, arguments, .. } => match name.as_str() {
                "list.push"
                | "list.concat"
                | "dict.insert"
                | "pairs.insert_by_ascending_key"
                | "bytearray.concat"
                | "pairs.insert_with_by_ascending_key" => {
                    *arguments.iter().find(|argument| self.is_of_state(**argument))?
                }
                _ => return None,
            },
            _ => return None,
        };
        self.is_of_state(old).then_some(old)
    }

    pub(in crate::heuristic) fn is_of_state(&self, term: Term) -> bool {
        match self.terms.node(term) {
            Node::Field(owner, _) => {
                self.terms.is_root(*owner, Root::State) || self.is_of_state(*owner)
            }
            _ => false,
        }
    }

    /// Calls that measure a list or a text that contains the term.
    pub(in crate::heuristic) fn is_measured(&self, term: Term) -> bool {
        self.all_parts().into_iter().any(|part| {
            let measures = self.terms.library(part).is_some_and(|(name, _)| {
                matches!(
                    name,
                    "list.length" | "list.count" | "dict.size" | "bytearray.length" | "list.take"
                )
            });
            measures && self.terms.mentions(part, term)
        })
    }
}
