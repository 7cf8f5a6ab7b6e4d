//! Negative amount: the redeemer names what is added, and it may be less than zero.

use super::{Class, HandlerPaths, Hit, Node, Operator, Project, Purpose, Risk, Root, Term, View};

pub(super) const CLASS: Class = Class {
    name: "negative-amount",
    title: "Amount from the redeemer may be negative",
    severity: Risk::Critical,
    summary: "The redeemer supplies an amount that is added to a balance, and no condition requires \
              it to be positive. A negative deposit is a withdrawal without its checks.",
    recommendation: "Check the sign in the same path: `amount > 0`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        if view.has_trusted_signature() || view.has_unknown_checks() {
            continue;
        }
        for fact in view.facts() {
            let Some((_, left, right)) = fact.comparison(view.terms) else { continue };
            let amounts = [left, right].into_iter().flat_map(|side| added_amounts(&view, side));
            let free = amounts.into_iter().any(|amount| !has_minimum(&view, amount));
            if free {
                hits.push(Hit::at(fact.origin));
            }
        }
    }
    hits
}

/// Amounts of the redeemer that are added to the value of an input.
fn added_amounts(view: &View<'_, '_>, side: Term) -> Vec<Term> {
    let Node::Binary(Operator::Add, left, right) = view.terms.node(side) else {
        return Vec::new();
    };
    let pairs = [(*left, *right), (*right, *left)].into_iter();
    let added = pairs.filter(|(balance, amount)| {
        view.has_input_value(*balance) && is_of_redeemer(view, *amount)
    });
    added.map(|(_, amount)| amount).collect()
}

fn is_of_redeemer(view: &View<'_, '_>, term: Term) -> bool {
    match view.terms.node(term) {
        Node::Root(Root::Redeemer) => true,
        Node::Field(owner, _) => is_of_redeemer(view, *owner),
        _ => false,
    }
}

/// Whether a condition compares the amount itself.
fn has_minimum(view: &View<'_, '_>, amount: Term) -> bool {
    view.facts().any(|fact| {
        let equal = fact.equality(view.terms).into_iter().any(|(side, _)| side == amount);
        let larger = fact.ordering(view.terms).is_some_and(|(smaller, larger)| {
            larger == amount && !view.terms.mentions(smaller, amount)
        });
        equal || larger
    })
}
