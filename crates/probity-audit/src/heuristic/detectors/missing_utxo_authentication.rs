//! Missing UTxO authentication: the datum of a reference input is trusted, although anybody can
//! create such an input.

use super::{Class, HandlerPaths, Hit, Node, Project, Risk, Term, View, first_fact};

pub(super) const CLASS: Class = Class {
    name: "missing-utxo-authentication",
    title: "Datum of a reference input trusted without a token",
    severity: Risk::Critical,
    summary: "The validator trusts the datum of a reference input without asking for a token that \
              proves its origin. Anyone can create such an output with a datum of their own.",
    recommendation: "Require a token that only the protocol can mint: \
                     `quantity_of(input.output.value, policy, name) == 1`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        for input in view.elements("reference_inputs") {
            if !view.is_every(input) && is_trusted_blindly(&view, input) {
                hits.push(Hit::at(first_fact(&view, input)));
            }
        }
    }
    hits
}

fn is_trusted_blindly(view: &View<'_, '_>, input: Term) -> bool {
    let Some(output) = view.field(input, "output") else { return false };
    let datum = view.field(output, "datum").filter(|datum| view.has_part(*datum));
    let content = datum.and_then(|datum| view.field(datum, "InlineDatum.0"));
    let used = content.is_some_and(|content| {
        let uses = view.uses(content);
        uses.iter().any(|part| !matches!(view.terms.node(*part), Node::Is(..)))
    });
    let authenticated = view.reads(output, "value") || view.reads(input, "output_reference");
    let unknown =
        view.used_whole(input) || view.used_whole(output) || view.may_be_checked_elsewhere(input);
    used && !authenticated && !unknown
}
