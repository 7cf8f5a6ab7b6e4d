//! Oracle freshness: a number from a reference input is used, and its age is not checked.

use super::{Class, HandlerPaths, Hit, Node, Operator, Project, Risk, Term, View};

pub(super) const CLASS: Class = Class {
    name: "oracle-freshness",
    title: "Age of oracle data not checked",
    severity: Risk::High,
    summary: "The validator calculates with a number from a reference input and never compares its \
              age with the validity range. An attacker uses an old value.",
    recommendation: "Require a finite upper bound and compare it: `latest <= price.published + max_age`.",
    detect,
};

fn detect(project: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        for input in view.elements("reference_inputs") {
            let Some(content) = content(&view, input) else { continue };
            if view.may_be_checked_elsewhere(input) || view.used_whole(content) {
                continue;
            }
            let used = view.all_parts().into_iter().find(|part| is_factor(&view, *part, content));
            if let Some(used) = used
                && has_unused_number(project, &view, content)
                && !is_compared_with_time(&view, content)
            {
                hits.push(Hit::at(view.terms.origin(used)));
            }
        }
    }
    hits
}

fn content(view: &View<'_, '_>, input: Term) -> Option<Term> {
    let output = view.field(input, "output")?;
    let datum = view.field(output, "datum")?;
    view.field(datum, "InlineDatum.0").filter(|content| view.has_part(*content))
}

/// A product or quotient with a field of the datum.
fn is_factor(view: &View<'_, '_>, part: Term, content: Term) -> bool {
    match view.terms.node(part) {
        Node::Binary(Operator::Multiply | Operator::Divide, left, right) => {
            [left, right].into_iter().any(|side| view.terms.mentions(*side, content))
        }
        _ => false,
    }
}

/// Whether the datum contains a number that no handler of the project reads: its time.
fn has_unused_number(project: &Project<'_>, view: &View<'_, '_>, content: Term) -> bool {
    let Some(name) = view.terms.type_of(content) else { return false };
    let Some(record) = project.program.record(name) else { return false };
    let numbers = record.fields.iter().filter(|(_, kind)| kind.name == "Int");
    let mut labels = numbers.filter_map(|(label, _)| label.as_deref());
    labels.any(|label| {
        !project
            .handlers
            .iter()
            .flat_map(HandlerPaths::views)
            .any(|other| reads_label(&other, name, label))
    })
}

fn reads_label(view: &View<'_, '_>, type_name: &str, label: &str) -> bool {
    view.all_parts().into_iter().any(|part| {
        let owner = view.terms.field_of(part, label);
        owner.is_some_and(|owner| view.terms.type_of(owner) == Some(type_name))
    })
}

fn is_compared_with_time(view: &View<'_, '_>, content: Term) -> bool {
    let Some(range) = view.transaction_field("validity_range") else { return false };
    view.facts().any(|fact| {
        view.terms.mentions(fact.term, range) && view.terms.mentions(fact.term, content)
    })
}
