//! Insufficient staking control: only the payment part of the continuing address is compared.

use super::{AddressPart, Class, HandlerPaths, Hit, Node, Project, Risk, Term, View};

pub(super) const CLASS: Class = Class {
    name: "insufficient-staking-control",
    title: "Stake part of the address not checked",
    severity: Risk::Medium,
    summary: "The validator compares only the payment credential of a script output. The \
              transaction builder can attach a stake credential of their own and take the rewards.",
    recommendation: "Compare the whole address: `output.address == own.output.address`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        if view.has_trusted_signature() {
            continue;
        }
        let continuing = view.continuing_outputs();
        for output in view.selected_outputs() {
            let comparisons = view.address_comparisons(output);
            let whole = comparisons.iter().any(|(part, _, _)| *part == AddressPart::Whole);
            let stake = view
                .field(output, "address")
                .is_some_and(|address| view.reads(address, "stake_credential"));
            let holds = view.reads(output, "value") || view.reads(output, "datum");
            if whole
                || stake
                || !holds
                || view.used_whole(output)
                || view.may_be_checked_elsewhere(output)
            {
                continue;
            }
            let script = comparisons
                .iter()
                .find(|(_, other, _)| continuing.contains(&output) || is_script(&view, *other));
            hits.extend(script.map(|(_, _, fact)| Hit::at(fact.origin)));
        }
    }
    hits
}

fn is_script(view: &View<'_, '_>, term: Term) -> bool {
    matches!(view.terms.node(term), Node::Construct { name, .. } if name == "Script")
}
