//! Own-input confusion: another input of the script is taken for the one that is validated.

use super::{Class, HandlerPaths, Hit, Node, Project, Purpose, Risk, Selector, Term, View};

pub(super) const CLASS: Class = Class {
    name: "own-input-confusion",
    title: "Own input not found by its reference",
    severity: Risk::High,
    summary: "The spend handler takes an input for its own without comparing the output reference. \
              An attacker places another input there, and the conditions apply to that one.",
    recommendation: "Find the own input with `find_input(self.inputs, own_ref)`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        let knows_own = view
            .facts()
            .any(|fact| view.terms.mentions_root(fact.term, super::Root::OwnReference))
            || view.all_parts().iter().any(|part| view.terms.is_root(*part, super::Root::OwnInput));
        if knows_own || view.has_unknown_checks() {
            continue;
        }
        for input in view.elements("inputs") {
            if is_taken_for_own(&view, input) && !is_only_one(&view, input) {
                hits.push(Hit::at(view.terms.origin(input)));
            }
        }
    }
    hits
}

/// Whether there is one candidate only. A limit that is measured by the candidate proves nothing.
fn is_only_one(view: &View<'_, '_>, input: Term) -> bool {
    let Some(inputs) = view.transaction_field("inputs") else { return false };
    view.facts().any(|fact| {
        let limits = match view.terms.node(fact.term) {
            Node::Length(list, _) => view.base_list(*list) == inputs,
            _ => view.terms.parts(fact.term).into_iter().any(|part| {
                view.terms.library(part).is_some_and(|(_, arguments)| {
                    arguments.first().is_some_and(|list| view.base_list(*list) == inputs)
                })
            }),
        };
        limits && !view.terms.mentions(fact.term, input)
    })
}

/// Its address or value decides about an output, and nothing identifies it.
fn is_taken_for_own(view: &View<'_, '_>, input: Term) -> bool {
    let by_reference = matches!(view.terms.node(input), Node::Element(_, Selector::Every(_)));
    let Some(output) = view.field(input, "output") else { return false };
    if by_reference || view.checks_token_in(output) || view.reads(input, "output_reference") {
        return false;
    }
    let Some(outputs) = view.transaction_field("outputs") else { return false };
    let fields = ["address", "value"].into_iter().filter_map(|name| view.field(output, name));
    fields.into_iter().any(|field| {
        view.facts_about(field).into_iter().any(|fact| {
            fact.comparison(view.terms).is_some() && view.terms.mentions(fact.term, outputs)
        })
    })
}
