//! Unvalidated reference script: anyone may attach a script of any size to the next state.

use super::{Class, HandlerPaths, Hit, Project, Purpose, Risk, known_continuing};

pub(super) const CLASS: Class = Class {
    name: "unvalidated-reference-script",
    title: "Reference script of a continuing output not checked",
    severity: Risk::Medium,
    summary: "The validator checks the fields of a continuing output except `reference_script`. \
              Anyone can attach a large script, which makes the output expensive to spend.",
    recommendation: "Require `output.reference_script == None`, or the own input's reference script.",
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
            let held = view.reads(output, "value") || view.reads(output, "datum");
            if held && !view.reads(output, "reference_script") {
                hits.push(Hit::at(view.terms.origin(output)));
            }
        }
    }
    hits
}
