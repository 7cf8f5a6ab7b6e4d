//! Missing address validation: an output is chosen by value or datum, and may go anywhere.

use super::{Class, HandlerPaths, Hit, Project, Risk, first_fact};

pub(super) const CLASS: Class = Class {
    name: "missing-address-validation",
    title: "Output chosen without checking its address",
    severity: Risk::High,
    summary: "The validator checks an output's value or datum but never its address. The \
              transaction builder can send this output to an address of their own.",
    recommendation: "Compare the output's whole address with the own input's address or with an \
                     address from a trusted datum or parameter.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        let outputs = view.elements("outputs");
        // A condition on the addresses of all outputs covers each of them.
        if outputs.iter().any(|output| view.is_every(*output) && view.reads(*output, "address")) {
            continue;
        }
        for output in view.selected_outputs() {
            let checked = view.reads(output, "value") || view.reads(output, "datum");
            let free = !view.reads(output, "address")
                && !view.used_whole(output)
                && !view.may_be_checked_elsewhere(output);
            if checked && free {
                hits.push(Hit::at(first_fact(&view, output)));
            }
        }
    }
    hits
}
