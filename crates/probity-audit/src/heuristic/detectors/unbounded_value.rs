//! Unbounded value: anyone may add further tokens to an output that the script must spend later.

use super::Term;
use super::{Class, HandlerPaths, Hit, Project, Purpose, Risk, View, first_fact, known_continuing};

pub(super) const CLASS: Class = Class {
    name: "unbounded-value",
    title: "Further tokens in a continuing output",
    severity: Risk::High,
    summary: "The validator checks lovelace or single tokens of a continuing output and ignores all \
              others. Anyone can add so many tokens that the output cannot be spent.",
    recommendation: "Compare all tokens: \
                     `without_lovelace(next.value) == without_lovelace(own.output.value)`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        if view.has_trusted_signature() {
            continue;
        }
        for output in known_continuing(&view) {
            hits.extend(partial_check(&view, output));
        }
    }
    hits
}

/// The check of one asset, if the value is read in no other way.
fn partial_check(view: &View<'_, '_>, output: Term) -> Option<Hit> {
    let value = view.field(output, "value")?;
    let uses = view.uses(value);
    let token = uses.iter().find(|part| view.token_lookup(**part).is_some());
    let partial =
        |part: &Term| view.token_lookup(*part).is_some() || view.lovelace_of(*part).is_some();
    if !uses.iter().all(partial) {
        return None;
    }
    let shown = token.or(uses.first())?;
    Some(Hit::at(first_fact(view, *shown)))
}
