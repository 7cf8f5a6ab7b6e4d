//! Strict value equality: an output must contain exactly an amount that only needs a minimum.

use super::{Class, HandlerPaths, Hit, Node, Project, Risk, Term, View};

pub(super) const CLASS: Class = Class {
    name: "strict-value-equality",
    title: "Output value compared with `==`",
    severity: Risk::High,
    summary: "The validator accepts an output only if its lovelace or whole value equals an exact \
              amount. The ledger's minimum lovelace, or a surplus, makes an honest transaction fail.",
    recommendation: "Compare lovelace with a minimum (`lovelace_of(output.value) >= amount`), and \
                     compare tokens separately with `without_lovelace`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        let grows = view
            .all_parts()
            .into_iter()
            .any(|part| view.grown_list(part).is_some() && view.is_in_next_state(part));
        for fact in view.facts() {
            let strict = fact.equality(view.terms).into_iter().any(|(side, other)| {
                // An output that keeps the value of an input is a rule of its own, unless its datum
                // grows, and with it the minimum of lovelace.
                let keeps = is_output_value(&view, side) && is_input_value(&view, other);
                (grows && keeps) || (!view.has_input_value(other) && is_strict(&view, side, other))
            });
            if strict {
                hits.push(Hit::at(fact.origin));
            }
        }
    }
    hits
}

fn is_strict(view: &View<'_, '_>, side: Term, other: Term) -> bool {
    if is_output_value(view, side) {
        return is_made_of_lovelace(view, other);
    }
    if let Some(value) = view.lovelace_of(side) {
        return has_output_value(view, value);
    }
    is_sum(view, side)
}

fn is_output_value(view: &View<'_, '_>, term: Term) -> bool {
    let output = view.terms.field_of(term, "value");
    output.is_some_and(|output| view.is_element(output, "outputs"))
}

fn is_input_value(view: &View<'_, '_>, term: Term) -> bool {
    let output = view.terms.field_of(term, "value");
    output.is_some_and(|output| view.own_outputs().contains(&output))
}

fn has_output_value(view: &View<'_, '_>, term: Term) -> bool {
    view.terms.parts(term).into_iter().any(|part| is_output_value(view, part))
}

/// The lovelace of several outputs, added up by a fold.
fn is_sum(view: &View<'_, '_>, term: Term) -> bool {
    match view.terms.node(term) {
        Node::Library { name, parts, .. } if name.starts_with("list.") => {
            let parts = parts.iter().flat_map(|part| view.terms.parts(*part));
            let mut lovelace = parts.filter_map(|part| view.lovelace_of(part));
            lovelace.any(|value| has_output_value(view, value))
        }
        _ => false,
    }
}

fn is_made_of_lovelace(view: &View<'_, '_>, term: Term) -> bool {
    view.terms.any_part(term, |node| match node {
        Node::Library { name, .. } => {
            matches!(name.as_str(), "assets.from_lovelace" | "assets.from_asset" | "assets.add")
        }
        _ => false,
    })
}
