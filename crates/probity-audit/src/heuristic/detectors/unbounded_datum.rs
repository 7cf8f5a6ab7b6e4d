//! Unbounded datum: anyone may make a list in the state longer, or store a text of any length.

use super::{
    Class, HandlerPaths, Hit, Node, Project, Purpose, Risk, Root, Term, View, first_fact,
    known_continuing,
};

pub(super) const CLASS: Class = Class {
    name: "unbounded-datum",
    title: "State grows without a limit",
    severity: Risk::High,
    summary: "The next datum contains a value that the transaction builder can make as long as they \
              like. The state can become too large to spend.",
    recommendation: "Limit the length, for example `list.length(next) <= 100`, or keep each entry \
                     in an output of its own.",
    detect,
};

fn detect(project: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        if view.has_trusted_signature() || view.has_unknown_checks() {
            continue;
        }
        for part in view.all_parts() {
            if let Some(old) = view.grown_list(part)
                && !view.is_measured(old)
                && !view.is_measured(part)
                && view.is_in_next_state(part)
            {
                hits.push(Hit::at(view.terms.origin(part)));
            }
            hits.extend(free_choice(project, &view, part));
        }
        for output in known_continuing(&view) {
            hits.extend(free_field(project, &view, output));
        }
    }
    hits
}

/// Types whose values can be of any size.
const UNLIMITED: &[&str] = &["ByteArray", "String", "Data", "List", "Pairs", "Dict"];

/// A value of the redeemer that can be of any size and goes into the next datum, unless another
/// condition is about it.
fn free_choice(project: &Project<'_>, view: &View<'_, '_>, part: Term) -> Option<Hit> {
    let Node::Field(owner, label) = view.terms.node(part) else { return None };
    if !view.terms.is_root(*owner, Root::Redeemer) {
        return None;
    }
    let kind = project.program.field_type(view.terms.type_of(*owner)?, label)?;
    let facts = view.facts_about(part);
    let only_stored = facts.iter().all(|fact| view.has_output_datum(fact.term));
    if !UNLIMITED.contains(&kind) || !only_stored || view.is_measured(part) {
        return None;
    }
    let stored = facts.first()?;
    if view.is_in_next_state(part) { Some(Hit::at(stored.origin)) } else { None }
}

/// A field of the next datum that can be of any size, and that no condition reads.
fn free_field(project: &Project<'_>, view: &View<'_, '_>, output: Term) -> Option<Hit> {
    let datum = view.field(output, "datum")?;
    let content = view.field(datum, "InlineDatum.0").filter(|part| view.has_part(*part))?;
    if view.used_whole(content) || view.is_measured(datum) {
        return None;
    }
    let record = project.program.record(view.terms.type_of(content)?)?;
    let mut free = record.fields.iter().filter_map(|(label, kind)| {
        let label = label.as_deref().filter(|label| !view.reads(content, label))?;
        UNLIMITED.contains(&kind.name.as_str()).then_some(label)
    });
    let detail = Some(format!("Field without a limit: `{}`.", free.next()?));
    Some(Hit { at: first_fact(view, content), detail })
}
