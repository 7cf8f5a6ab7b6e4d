//! Locked value: every way to spend ends at a deadline.

use super::{Class, Fact, HandlerPaths, Hit, Node, Project, Purpose, Risk, Term, View};

pub(super) const CLASS: Class = Class {
    name: "locked-value",
    title: "No way to spend after a deadline",
    severity: Risk::High,
    summary: "Every path of the spend handler requires a time before a deadline. After the deadline \
              nobody can spend the locked value.",
    recommendation: "Add a path that returns the value after the deadline, with its owner's signature.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let views = handler.views();
    if handler.purpose != Purpose::Spend || views.is_empty() {
        return Vec::new();
    }
    let limits: Option<Vec<&Fact>> = views.iter().map(deadline).collect();
    // A path that continues may move the deadline.
    if views.iter().any(|view| !view.continuing_outputs().is_empty()) {
        return Vec::new();
    }
    limits.unwrap_or_default().first().map(|fact| Hit::at(fact.origin)).into_iter().collect()
}

/// The condition that the whole range is before a time which the builder does not choose.
fn deadline<'a>(view: &View<'a, '_>) -> Option<&'a Fact> {
    view.facts().find(|fact| {
        if let Some(("interval.is_entirely_before", [range, time])) = view.terms.library(fact.term)
        {
            let of_transaction = view.terms.is_transaction_field(*range, "validity_range");
            return fact.truth && of_transaction && is_fixed(view, *time);
        }
        fact.ordering(view.terms).is_some_and(|(smaller, larger)| {
            is_upper_bound(view, smaller) && is_fixed(view, larger)
        })
    })
}

/// A time of the state or of a parameter; one from a reference input is a matter of freshness.
fn is_fixed(view: &View<'_, '_>, time: Term) -> bool {
    let parts = view.terms.parts(time);
    view.is_trusted(time)
        && !parts.into_iter().any(|part| view.is_element(part, "reference_inputs"))
}

fn is_upper_bound(view: &View<'_, '_>, term: Term) -> bool {
    let bound = match view.terms.node(term) {
        Node::Field(bound, name) if name == "Finite.0" => *bound,
        _ => return false,
    };
    let owner = view.terms.field_of(bound, "bound_type");
    let range = owner.and_then(|owner| view.terms.field_of(owner, "upper_bound"));
    range.is_some_and(|range| view.terms.is_transaction_field(range, "validity_range"))
}
