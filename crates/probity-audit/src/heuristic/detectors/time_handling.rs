//! Time handling: the wrong end of the validity range is taken for the current time.

use super::{
    Class, Fact, FactSource, HandlerPaths, Hit, Node, Operator, Project, Risk, Term, View,
};

pub(super) const CLASS: Class = Class {
    name: "time-handling",
    title: "Validity range compared at the wrong end",
    severity: Risk::High,
    summary: "A time condition uses the end of the validity range that the transaction builder can \
              move freely. The condition passes although the time has not come or has passed.",
    recommendation: "Compare a finite lower bound for \"after\" and a finite upper bound for \
                     \"before\", or use `is_entirely_after` and `is_entirely_before`.",
    detect,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Lower,
    Upper,
}

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let views = handler.views();
    for view in &views {
        let limited = view.facts().any(|fact| {
            mentions(view, fact.term, End::Lower) && mentions(view, fact.term, End::Upper)
        });
        if !limited {
            hits.extend(
                view.facts().filter(|fact| is_wrong(view, fact)).map(|fact| Hit::at(fact.origin)),
            );
        }
        hits.extend(open_end(view, &views));
        hits.extend(stored_end(view));
    }
    hits
}

/// One end of the range is stored as the current time, and nothing limits how far the end may be
/// from it.
fn stored_end(view: &View<'_, '_>) -> Option<Hit> {
    let is_limited = |end: End| {
        let other = if end == End::Lower { End::Upper } else { End::Lower };
        view.facts().any(|fact| {
            mentions(view, fact.term, other)
                || (fact.ordering(view.terms).is_some() && mentions(view, fact.term, end))
        })
    };
    let stored = view.all_parts().into_iter().find_map(|part| {
        let bound = view.terms.field_of(part, "Finite.0")?;
        let end = bound_end(view, bound)?;
        let is_free = !is_limited(end) && view.is_in_next_state(part);
        is_free.then_some((bound, part))
    });
    let (bound, part) = stored?;
    let required = view
        .facts()
        .find(|fact| matches!(view.terms.node(fact.term), Node::Is(value, _) if *value == bound));
    Some(Hit::at(required.map_or(view.terms.origin(part), |fact| fact.origin)))
}

fn is_wrong(view: &View<'_, '_>, fact: &Fact) -> bool {
    if let Some(("interval.contains", [range, time])) = view.terms.library(fact.term) {
        let of_transaction = view.terms.is_transaction_field(*range, "validity_range");
        return fact.truth && of_transaction && view.is_trusted(*time);
    }
    let Some((smaller, larger)) = fact.ordering(view.terms) else { return false };
    let trusted = |term: Term| {
        let from_reference = view
            .terms
            .parts(term)
            .into_iter()
            .any(|part| view.is_element(part, "reference_inputs"));
        view.is_trusted(term) && !from_reference
    };
    // "After" with the upper end: the range may begin long before.
    if is_time(view, larger, End::Upper) {
        return trusted(smaller);
    }
    // "Before" with the lower end; a mere distinction of cases may take it, to be cautious.
    is_time(view, smaller, End::Lower) && trusted(larger) && fact.source == FactSource::Required
}

/// The time of one end, with something added or not.
fn is_time(view: &View<'_, '_>, term: Term, end: End) -> bool {
    match view.terms.node(term) {
        Node::Binary(Operator::Add | Operator::Subtract, left, right) => {
            is_time(view, *left, end) || is_time(view, *right, end)
        }
        Node::Field(bound, name) => name == "Finite.0" && bound_end(view, *bound) == Some(end),
        _ => false,
    }
}

/// Whether the time of one end is used: `validity_range.upper_bound.bound_type` as `Finite(time)`.
fn mentions(view: &View<'_, '_>, term: Term, end: End) -> bool {
    view.terms.parts(term).into_iter().any(|part| {
        view.terms
            .field_of(part, "Finite.0")
            .is_some_and(|bound| bound_end(view, bound) == Some(end))
    })
}

fn bound_end(view: &View<'_, '_>, bound: Term) -> Option<End> {
    let owner = view.terms.field_of(bound, "bound_type")?;
    let lower = view.terms.field_of(owner, "lower_bound").map(|range| (range, End::Lower));
    let upper = view.terms.field_of(owner, "upper_bound").map(|range| (range, End::Upper));
    let (range, end) = lower.or(upper)?;
    view.terms.is_transaction_field(range, "validity_range").then_some(end)
}

/// A path that accepts an open end, beside one that compares the finite one.
fn open_end(view: &View<'_, '_>, all: &[View<'_, '_>]) -> Option<Hit> {
    let open = view.facts().find(|fact| match view.terms.node(fact.term) {
        Node::Is(bound, name) => {
            bound_end(view, *bound).is_some() && fact.truth != (name == "Finite")
        }
        _ => false,
    })?;
    let Node::Is(bound, _) = view.terms.node(open.term) else { return None };
    let end = bound_end(view, *bound)?;
    let compares = |other: &View<'_, '_>| {
        other
            .facts()
            .any(|fact| fact.ordering(other.terms).is_some() && mentions(other, fact.term, end))
    };
    let other_time = view.facts().any(|fact| {
        fact.ordering(view.terms).is_some()
            && (mentions(view, fact.term, End::Lower) || mentions(view, fact.term, End::Upper))
    });
    (!other_time && all.iter().any(compares)).then(|| Hit::at(open.origin))
}
