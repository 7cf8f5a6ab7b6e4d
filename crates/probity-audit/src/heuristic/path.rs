//! One way through a handler that ends with `True`, as the facts that it requires.

use super::{
    term::{Location, Node, Term, Terms},
    tree::Operator,
};

#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    pub(super) facts: Vec<Fact>,
}

#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) term: Term,
    /// Comparisons are always true: their operator is turned around instead.
    pub(super) truth: bool,
    pub(super) origin: Location,
    pub(super) source: FactSource,
}

/// Whether the transaction fails without the fact, or takes another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FactSource {
    Required,
    Branch,
}

impl Path {
    /// Adds a fact; `None` if it contradicts what the path already knows.
    pub(super) fn with(mut self, terms: &Terms<'_>, fact: Fact) -> Option<Self> {
        let contradicts = |known: &Fact| match (terms.node(known.term), terms.node(fact.term)) {
            _ if known.term == fact.term => known.truth != fact.truth,
            (Node::Is(one, a), Node::Is(other, b)) => {
                one == other && a != b && known.truth && fact.truth
            }
            (Node::Length(one, a), Node::Length(other, b)) => {
                one == other && a != b && known.truth && fact.truth
            }
            _ => false,
        };
        if self.facts.iter().any(contradicts) {
            return None;
        }
        self.facts.push(fact);
        Some(self)
    }
}

impl Fact {
    /// The sides of a comparison.
    pub(super) fn comparison(&self, terms: &Terms<'_>) -> Option<(Operator, Term, Term)> {
        match terms.node(self.term) {
            Node::Binary(operator, left, right) => Some((*operator, *left, *right)),
            _ => None,
        }
    }

    /// The sides of `==`, in both orders.
    pub(super) fn equality(&self, terms: &Terms<'_>) -> Vec<(Term, Term)> {
        match self.comparison(terms) {
            Some((Operator::Equal, left, right)) => vec![(left, right), (right, left)],
            _ => Vec::new(),
        }
    }

    /// `smaller < larger` or `smaller <= larger`, whichever way it is written.
    pub(super) fn ordering(&self, terms: &Terms<'_>) -> Option<(Term, Term)> {
        let (operator, left, right) = self.comparison(terms)?;
        match operator {
            Operator::Less | Operator::LessEqual => Some((left, right)),
            Operator::Greater | Operator::GreaterEqual => Some((right, left)),
            _ => None,
        }
    }
}
