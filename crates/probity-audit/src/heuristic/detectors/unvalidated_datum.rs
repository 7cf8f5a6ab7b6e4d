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
    for view in handler.views() {
        if signed_for_itself(project, &view) {
            continue;
        }
        for output in known_continuing(&view) {
            hits.extend(free_datum(project, &view, output));
        }
    }
    hits
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
