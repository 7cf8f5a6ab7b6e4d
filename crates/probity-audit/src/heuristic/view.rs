//! Questions about one path that several detectors ask.

mod address;
mod state;
mod token;
mod trust;

use std::collections::HashSet;

pub(super) use self::address::AddressPart;
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
}
