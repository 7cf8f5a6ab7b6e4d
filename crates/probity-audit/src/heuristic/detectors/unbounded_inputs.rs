//! Unbounded inputs: a step must handle as many inputs or outputs as the state says, and the state only
//! grows.

use super::{
    Class, HandlerPaths, Hit, Node, Operator, Project, Purpose, Risk, Root, Selector, Term, View,
};

pub(super) const CLASS: Class = Class {
    name: "unbounded-inputs",
    title: "Unlimited number of inputs to collect",
    severity: Risk::Medium,
    summary: "A path must spend as many inputs as the state counts, and another path raises this \
              count without a limit. At some count the inputs no longer fit into one transaction.",
    recommendation: "Limit the count in the path that raises it, or let several transactions \
                     collect the inputs.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let views = handler.views();
    let counters: Vec<Term> = views.iter().flat_map(collected).collect();
    let mut hits = Vec::new();
    let lists: Vec<Term> = views.iter().flat_map(handled_at_once).collect();
    for view in &views {
        for part in view.all_parts() {
            if let Some(old) = view.grown_list(part)
                && lists.contains(&old)
                && view.is_in_next_state(part)
                && !view.has_trusted_signature()
                && !view.is_measured(old)
                && !view.is_measured(part)
            {
                hits.push(Hit::at(view.terms.origin(part)));
            }
            let Node::Binary(Operator::Add, left, right) = view.terms.node(part) else { continue };
            let counter = [*left, *right].into_iter().find(|side| counters.contains(side));
            if counter.is_some_and(|counter| !is_limited(view, counter)) {
                hits.push(Hit::at(view.terms.origin(part)));
            }
        }
    }
    hits
}

/// Lists of the state for each of whose elements the path wants an input or an output.
fn handled_at_once(view: &View<'_, '_>) -> Vec<Term> {
    let ledger = ["inputs", "outputs"].map(|list| view.transaction_field(list));
    let mut found = Vec::new();
    for fact in view.facts() {
        let parts = view.terms.parts(fact.term);
        if !ledger.iter().flatten().any(|list| parts.contains(list)) {
            continue;
        }
        found.extend(parts.into_iter().filter_map(|part| match view.terms.node(part) {
            Node::Element(list, Selector::Every(_)) if view.is_of_state(*list) => Some(*list),
            _ => None,
        }));
    }
    found
}

/// Fields of the state that the number of inputs must equal.
fn collected(view: &View<'_, '_>) -> Vec<Term> {
    let sides = view.facts().flat_map(|fact| fact.equality(view.terms));
    let counted = sides.filter(|(count, counter)| {
        let over_inputs = view.terms.library(*count).is_some_and(|(name, arguments)| {
            let inputs = arguments.first().map(|list| view.whole_list(*list));
            matches!(name, "list.count" | "list.length")
                && inputs.is_some_and(|list| view.terms.is_transaction_field(list, "inputs"))
        });
        let of_state = matches!(view.terms.node(*counter), Node::Field(owner, _) if view.terms.is_root(*owner, Root::State));
        over_inputs && of_state
    });
    counted.map(|(_, counter)| counter).collect()
}

fn is_limited(view: &View<'_, '_>, counter: Term) -> bool {
    view.has_trusted_signature()
        || view.facts().any(|fact| {
            fact.ordering(view.terms)
                .is_some_and(|(smaller, _)| view.terms.mentions(smaller, counter))
        })
}
