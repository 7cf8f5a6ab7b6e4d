//! Arbitrary datum: a token is minted to a script, whose first datum nobody checks.

use super::{Class, HandlerPaths, Hit, Node, Project, Purpose, Risk, Root, Term, View, first_fact};

pub(super) const CLASS: Class = Class {
    name: "arbitrary-datum",
    title: "First datum of a script output not checked",
    severity: Risk::High,
    summary: "The mint handler requires its token at a script and accepts any datum there. Scripts \
              that trust the token then trust a state that its creator invented.",
    recommendation: "Compare the datum with the expected first state: \
                     `output.datum == InlineDatum(expected)`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Mint {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        for output in view.selected_outputs() {
            let unknown = view.used_whole(output) || view.may_be_checked_elsewhere(output);
            if unknown || !is_at_script(&view, output) || !has_own_token(&view, output) {
                continue;
            }
            match view.field(output, "datum").filter(|datum| view.has_part(*datum)) {
                None => hits.push(Hit::at(first_fact(&view, output))),
                Some(datum) if is_ignored(&view, datum) => {
                    hits.push(Hit::at(first_fact(&view, datum)));
                }
                Some(_) => {}
            }
        }
    }
    hits
}

fn is_ignored(view: &View<'_, '_>, datum: Term) -> bool {
    view.uses(datum).iter().all(|part| matches!(view.terms.node(*part), Node::Is(..)))
}

fn is_at_script(view: &View<'_, '_>, output: Term) -> bool {
    view.address_comparisons(output).iter().any(|(_, other, _)| {
        view.terms.any_part(*other, |node| match node {
            Node::Construct { name, .. } => name == "Script",
            Node::Library { name, .. } => name == "address.from_script",
            _ => false,
        })
    })
}

fn has_own_token(view: &View<'_, '_>, output: Term) -> bool {
    let Some(value) = view.field(output, "value") else { return false };
    view.facts_about(value).iter().any(|fact| view.terms.mentions_root(fact.term, Root::PolicyId))
}
