//! Double satisfaction: one output is the payment that several script inputs ask for.

use super::{Class, Fact, HandlerPaths, Hit, Node, Project, Purpose, Risk, Root, Term, View};

pub(super) const CLASS: Class = Class {
    name: "double-satisfaction",
    title: "One payment satisfies several inputs",
    severity: Risk::Critical,
    summary: "The spend handler looks for a payment that nothing ties to its own input. An attacker \
              spends several inputs in one transaction and pays once.",
    recommendation: "Tag the payment with the own output reference \
                     (`output.datum == InlineDatum(own_ref)`), or allow one input of the script.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        let by_token = view.own_outputs().into_iter().any(|output| view.checks_token_in(output));
        if view.limits_inputs() || by_token || view.looks_at("mint") || view.looks_at("withdrawals")
        {
            continue;
        }
        let continuing = view.continuing_outputs();
        for output in view.selected_outputs() {
            let own_funds = continuing.contains(&output) && view.has_trusted_signature();
            if !own_funds && is_shared(&view, output) {
                hits.extend(payment_fact(&view, output).map(|fact| Hit::at(fact.origin)));
            }
        }
        hits.extend(shared_sums(&view));
    }
    hits
}

/// Whether an output is checked by address and amount, and by nothing that two inputs differ in.
fn is_shared(view: &View<'_, '_>, output: Term) -> bool {
    let about = view.facts_about(output);
    let receivers = view.address_comparisons(output);
    let paid = view.reads(output, "value") && !receivers.is_empty();
    let tied = about.iter().any(|fact| view.mentions_own_reference(fact.term))
        || (view.checks_token_in(output) && !is_amount_of_token(view, output))
        || view.used_whole(output)
        || view.may_be_checked_elsewhere(output);
    let receiver_signs = receivers.iter().any(|(_, receiver, _)| signs(view, *receiver));
    paid && !tied && !receiver_signs
}

/// Whether the token in the output is a means of payment: at least an amount that the state names.
fn is_amount_of_token(view: &View<'_, '_>, output: Term) -> bool {
    view.facts_about(output).iter().any(|fact| {
        fact.ordering(view.terms).is_some_and(|(least, paid)| {
            view.token_lookup(paid).is_some()
                && view.terms.mentions(paid, output)
                && view.terms.mentions_root(least, Root::State)
        })
    })
}

/// Whether a key that the term contains must sign.
fn signs(view: &View<'_, '_>, term: Term) -> bool {
    let parts = view.terms.parts(term);
    view.signatures().into_iter().any(|fact| match view.terms.library(fact.term) {
        Some(("list.has", [_, key])) => parts.contains(key),
        _ => false,
    })
}

fn payment_fact<'a>(view: &View<'a, '_>, output: Term) -> Option<&'a Fact> {
    let value = view.field(output, "value")?;
    view.facts_about(value).into_iter().next()
}

/// Sums over the outputs of one receiver.
fn shared_sums(view: &View<'_, '_>) -> Vec<Hit> {
    let sums = view.facts().filter(|fact| {
        let Some((_, left, right)) = fact.comparison(view.terms) else { return false };
        let sum = [left, right].into_iter().any(|side| is_sum(view, side));
        sum && !view.mentions_own_reference(fact.term) && !view.has_input_value(fact.term)
    });
    sums.map(|fact| Hit::at(fact.origin)).collect()
}

fn is_sum(view: &View<'_, '_>, term: Term) -> bool {
    let Node::Library { name, arguments, parts } = view.terms.node(term) else { return false };
    let over_outputs = arguments
        .first()
        .is_some_and(|list| view.terms.is_transaction_field(view.whole_list(*list), "outputs"));
    if !over_outputs || !matches!(name.as_str(), "list.foldl" | "list.foldr" | "list.reduce") {
        return false;
    }
    let parts: Vec<Term> = parts.iter().flat_map(|part| view.terms.parts(*part)).collect();
    let adds = parts.iter().any(|part| view.lovelace_of(*part).is_some());
    let by_address = parts.iter().any(|part| view.terms.field_of(*part, "address").is_some());
    adds && by_address
}
