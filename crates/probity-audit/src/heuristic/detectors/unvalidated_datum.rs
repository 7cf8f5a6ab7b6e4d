//! Unvalidated datum: the next state of a script is ignored, or only some of its fields are compared.

use super::{Class, HandlerPaths, Hit, Location, Node, Project, Purpose, Risk, Root, Term, View};
use super::{first_fact, known_continuing};

pub(super) const CLASS: Class = Class {
    name: "unvalidated-datum",
    title: "Datum of a continuing output not validated",
    severity: Risk::High,
    summary: "An output that stays at the script carries the next state, and the validator does not \
              compare all of its datum. The transaction builder chooses the rest.",
    recommendation: "Build the complete expected datum with a record update and compare it: \
                     `output.datum == InlineDatum(expected)`.",
    detect,
};

fn detect(project: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let views = handler.views();
    let paid: Vec<String> = views.iter().flat_map(paid_fields).collect();
    for view in &views {
        if signed_for_itself(project, view) {
            continue;
        }
        for output in known_continuing(view) {
            hits.extend(free_datum(project, view, output));
            hits.extend(unbacked_amount(view, output, &paid));
        }
    }
    hits
}

/// Fields of the state that an output has to contain as lovelace.
fn paid_fields(view: &View<'_, '_>) -> Vec<String> {
    let mut found = Vec::new();
    for part in view.all_parts() {
        let Node::Binary(_, left, right) = view.terms.node(part) else { continue };
        for (value, amount) in [(*left, *right), (*right, *left)] {
            let is_paid = view.lovelace_of(value).is_some_and(|value| {
                let output = view.terms.field_of(value, "value");
                output.is_some_and(|output| view.is_element(output, "outputs"))
            });
            if let (true, Node::Field(owner, name)) = (is_paid, view.terms.node(amount))
                && view.terms.is_root(*owner, Root::State)
            {
                found.push(name.clone());
            }
        }
    }
    found
}

/// An amount of the next state that a later step pays out, and that the output need not contain.
fn unbacked_amount(view: &View<'_, '_>, output: Term, paid: &[String]) -> Option<Hit> {
    let datum = view.field(output, "datum")?;
    let content = view.field(datum, "InlineDatum.0")?;
    let value = view.field(output, "value")?;
    let state = view.terms.find(&Node::Root(Root::State))?;
    paid.iter().find_map(|name| {
        let amount = view.field(content, name).filter(|amount| view.has_part(*amount))?;
        let facts = view.facts_about(amount);
        let is_backed = facts.iter().any(|fact| {
            let is_fixed = fact
                .equality(view.terms)
                .iter()
                .any(|(side, other)| *side == amount && view.terms.mentions(*other, state));
            // Tokens beside the lovelace say nothing about the amount.
            is_fixed || view.terms.mentions(fact.term, value)
        });
        let detail = format!("The output need not contain the amount in `{name}`.");
        let hit = facts.first().map(|fact| Hit { at: fact.origin, detail: Some(detail) });
        if is_backed { None } else { hit }
    })
}

fn free_datum(project: &Project<'_>, view: &View<'_, '_>, output: Term) -> Option<Hit> {
    let ignored = || view.reads(output, "value").then(|| Hit::at(value_fact(view, output)));
    let Some(datum) = view.field(output, "datum").filter(|datum| view.has_part(*datum)) else {
        return ignored();
    };
    if view.used_whole(datum) {
        return None;
    }
    let Some(content) = view.field(datum, "InlineDatum.0").filter(|part| view.has_part(*part))
    else {
        let only_inline = view.uses(datum).iter().all(|part| is_inline(view, *part));
        return if only_inline { Some(Hit::at(first_fact(view, datum))) } else { None };
    };
    if view.used_whole(content) {
        return None;
    }
    let record = project.program.record(view.terms.type_of(content)?)?;
    let labels = record.fields.iter().filter_map(|(label, _)| label.as_deref());
    let free: Vec<&str> = labels.filter(|label| !view.reads(content, label)).collect();
    if free.is_empty() {
        return None;
    }
    let detail = Some(format!("Fields without a condition: `{}`.", free.join("`, `")));
    Some(Hit { at: first_fact(view, content), detail })
}

fn is_inline(view: &View<'_, '_>, term: Term) -> bool {
    matches!(view.terms.node(term), Node::Is(_, name) if name == "InlineDatum")
}

fn value_fact(view: &View<'_, '_>, output: Term) -> Location {
    let value = view.field(output, "value");
    value.map_or(view.terms.origin(output), |value| first_fact(view, value))
}

/// Whether the only party that the state names signs, or one whom a parameter names.
fn signed_for_itself(project: &Project<'_>, view: &View<'_, '_>) -> bool {
    let signatures = view.signatures();
    if signatures.iter().any(|fact| view.terms.mentions_parameter(fact.term)) {
        return true;
    }
    let by_state = signatures.iter().any(|fact| view.terms.mentions_root(fact.term, Root::State));
    let state = view.terms.find(&Node::Root(Root::State));
    let record = state
        .and_then(|state| view.terms.type_of(state))
        .and_then(|name| project.program.record(name));
    let parties = record.map_or(0, |record| {
        let named = record.fields.iter().filter(|(_, kind)| {
            matches!(
                kind.name.as_str(),
                "VerificationKeyHash"
                    | "Address"
                    | "Credential"
                    | "ScriptHash"
                    | "PubKeyHash"
                    | "ByteArray"
                    | "Hash"
            )
        });
        named.count()
    });
    by_state && parties < 2
}
