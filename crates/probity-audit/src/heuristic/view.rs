//! Questions about one path that several detectors ask.

use std::collections::HashSet;

use super::{
    evaluate::HandlerPaths,
    path::{Fact, Path},
    term::{Node, Root, Selector, Term, Terms},
};

pub(super) struct View<'a, 'p> {
    pub(super) terms: &'a Terms<'p>,
    pub(super) path: &'a Path,
    /// Everything that the facts are made of.
    parts: HashSet<Term>,
}

impl<'p> HandlerPaths<'p> {
    /// The accepting paths; none if the handler was too complex, since absence then proves nothing.
    pub(super) fn views(&self) -> Vec<View<'_, 'p>> {
        if self.exhausted {
            return Vec::new();
        }
        let views = self.paths.iter().map(|path| {
            let mut parts = HashSet::new();
            for fact in &path.facts {
                parts.extend(self.terms.parts(fact.term));
            }
            View { terms: &self.terms, path, parts }
        });
        views.collect()
    }
}

impl<'a, 'p> View<'a, 'p> {
    pub(super) fn facts(&self) -> impl Iterator<Item = &'a Fact> + use<'a, 'p> {
        self.path.facts.iter()
    }

    pub(super) fn has_part(&self, term: Term) -> bool {
        self.parts.contains(&term)
    }

    pub(super) fn field(&self, owner: Term, name: &str) -> Option<Term> {
        self.terms.find(&Node::Field(owner, name.to_owned()))
    }

    /// Whether a fact reads this field of `owner`.
    pub(super) fn reads(&self, owner: Term, name: &str) -> bool {
        self.field(owner, name).is_some_and(|field| self.has_part(field))
    }

    pub(super) fn transaction_field(&self, name: &str) -> Option<Term> {
        let transaction = self.terms.find(&Node::Root(Root::Transaction))?;
        self.field(transaction, name)
    }

    /// Whether a fact looks at this field of the transaction.
    pub(super) fn looks_at(&self, name: &str) -> bool {
        self.transaction_field(name).is_some_and(|field| self.has_part(field))
    }

    /// The list without `rest` patterns around it.
    pub(super) fn whole_list(&self, list: Term) -> Term {
        match self.terms.node(list) {
            Node::Tail(inner) => self.whole_list(*inner),
            _ => list,
        }
    }

    /// The list that this one was made of.
    pub(super) fn base_list(&self, list: Term) -> Term {
        match self.terms.node(list) {
            Node::Tail(inner) => self.base_list(*inner),
            Node::Library { name, arguments, .. }
                if matches!(name.as_str(), "list.filter" | "list.map" | "list.filter_map") =>
            {
                arguments.first().map_or(list, |inner| self.base_list(*inner))
            }
            _ => list,
        }
    }

    /// Elements of a list of the transaction that a fact is about, in the order of the source.
    pub(super) fn elements(&self, list: &str) -> Vec<Term> {
        let mut found: Vec<Term> =
            self.parts.iter().copied().filter(|term| self.is_element(*term, list)).collect();
        found.sort();
        found
    }

    pub(super) fn is_element(&self, term: Term, list: &str) -> bool {
        match self.terms.node(term) {
            Node::Element(from, _) => self.terms.is_transaction_field(self.whole_list(*from), list),
            _ => false,
        }
    }

    pub(super) fn is_every(&self, element: Term) -> bool {
        matches!(self.terms.node(element), Node::Element(_, Selector::Every(_)))
    }

    /// Outputs that the path selects, without those of "for all outputs".
    pub(super) fn selected_outputs(&self) -> Vec<Term> {
        let mut found = self.elements("outputs");
        found.retain(|element| !self.is_every(*element));
        found
    }

    pub(super) fn facts_about(&self, term: Term) -> Vec<&'a Fact> {
        self.facts().filter(|fact| self.terms.mentions(fact.term, term)).collect()
    }

    /// What the term is used in, as far as facts are concerned.
    pub(super) fn uses(&self, term: Term) -> Vec<Term> {
        let used = |part: &Term| self.terms.children(*part).contains(&term);
        let mut found: Vec<Term> = self.parts.iter().copied().filter(used).collect();
        found.sort();
        found
    }

    /// Everything that facts are made of, in the order in which it was made.
    pub(super) fn all_parts(&self) -> Vec<Term> {
        let mut found: Vec<Term> = self.parts.iter().copied().collect();
        found.sort();
        found
    }

    /// Whether something else than its fields is used: a comparison as a whole, or unknown code.
    pub(super) fn used_whole(&self, term: Term) -> bool {
        let by_part =
            |part: &Term| matches!(self.terms.node(*part), Node::Field(..) | Node::Is(..));
        self.uses(term).iter().any(|part| !by_part(part))
    }

    /// Whether code that was not followed may check this element, its list or the transaction.
    pub(super) fn may_be_checked_elsewhere(&self, element: Term) -> bool {
        let list = match self.terms.node(element) {
            Node::Element(list, _) => Some(self.whole_list(*list)),
            _ => None,
        };
        let transaction = self.terms.find(&Node::Root(Root::Transaction));
        let opaque = self.parts.iter().filter(|part| {
            matches!(self.terms.node(**part), Node::Opaque { .. } | Node::Unknown(_))
        });
        opaque.flat_map(|part| self.direct_parts(*part)).any(|part| {
            part == element || Some(part) == transaction || Some(self.whole_list(part)) == list
        })
    }

    /// Whether the path depends on code that was not followed and that saw the transaction.
    pub(super) fn has_unknown_checks(&self) -> bool {
        let transaction = self.terms.find(&Node::Root(Root::Transaction));
        self.facts().any(|fact| {
            self.terms.any_part(fact.term, |node| matches!(node, Node::Opaque { .. }))
                && transaction.is_some_and(|root| self.terms.mentions(fact.term, root))
        })
    }

    /// Parts of a term without what elements and fields of the transaction are made of.
    fn direct_parts(&self, term: Term) -> HashSet<Term> {
        let mut seen = HashSet::new();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            let stops = match self.terms.node(next) {
                Node::Element(..) => true,
                Node::Field(owner, _) => self.terms.is_root(*owner, Root::Transaction),
                _ => false,
            };
            if !stops {
                open.extend(self.terms.children(next));
            }
        }
        seen
    }

    /// Facts that require a signature.
    pub(super) fn signatures(&self) -> Vec<&'a Fact> {
        let Some(signatories) = self.transaction_field("extra_signatories") else {
            return Vec::new();
        };
        self.facts_about(signatories)
    }

    /// Whether someone must sign whom the state, a parameter or a constant names.
    pub(super) fn has_trusted_signature(&self) -> bool {
        self.signatures().into_iter().any(|fact| self.is_trusted(fact.term))
    }

    /// Whether the term depends on something that the transaction's builder does not choose freely.
    pub(super) fn is_trusted(&self, term: Term) -> bool {
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

    /// The own input, or another one that is taken for it.
    pub(super) fn is_own_input(&self, term: Term) -> bool {
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
    pub(super) fn address_comparisons(&self, output: Term) -> Vec<(AddressPart, Term, &'a Fact)> {
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
    pub(super) fn continuing_outputs(&self) -> Vec<Term> {
        let mut outputs = self.selected_outputs();
        outputs.retain(|output| {
            let comparisons = self.address_comparisons(*output);
            comparisons.iter().any(|(_, other, _)| self.has_input_address(*other))
        });
        outputs
    }

    /// Whether a fact limits which inputs there are, beside finding the own one.
    pub(super) fn limits_inputs(&self) -> bool {
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

impl View<'_, '_> {
    /// `quantity_of` and the like, applied to this value: the policy and name of one token.
    pub(super) fn token_lookup(&self, term: Term) -> Option<(Term, Term, Term)> {
        match self.terms.library(term)? {
            ("assets.quantity_of", [value, policy, name]) if !self.is_ada(*policy) => {
                Some((*value, *policy, *name))
            }
            _ => None,
        }
    }

    /// The value whose lovelace this is.
    pub(super) fn lovelace_of(&self, term: Term) -> Option<Term> {
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
    pub(super) fn checks_token_in(&self, output: Term) -> bool {
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
    pub(super) fn own_outputs(&self) -> Vec<Term> {
        let own = self.terms.find(&Node::Root(Root::OwnInput));
        let inputs = own.into_iter().chain(self.elements("inputs"));
        inputs.filter_map(|input| self.field(input, "output")).collect()
    }

    /// Whether the term contains the value of an input.
    pub(super) fn has_input_value(&self, term: Term) -> bool {
        let values =
            self.own_outputs().into_iter().filter_map(|output| self.field(output, "value"));
        let parts = self.terms.parts(term);
        values.into_iter().any(|value| parts.contains(&value))
    }

    pub(super) fn mentions_own_reference(&self, term: Term) -> bool {
        self.terms.mentions_root(term, Root::OwnReference)
            || self.terms.parts(term).into_iter().any(|part| {
                let input = self.terms.field_of(part, "output_reference");
                input.is_some_and(|input| self.is_own_input(input))
            })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressPart {
    Whole,
    Payment,
}
