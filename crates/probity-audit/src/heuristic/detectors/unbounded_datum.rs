//! Unbounded datum: anyone may make a list in the state longer.

use super::{Class, HandlerPaths, Hit, Node, Project, Purpose, Risk, Root, Term, View};

pub(super) const CLASS: Class = Class {
    name: "unbounded-datum",
    title: "State grows without a limit",
    severity: Risk::High,
    summary: "The next datum contains a longer list than the old one, and no condition limits its \
              length. The state can become too large to spend.",
    recommendation: "Limit the length, for example `list.length(next) <= 100`, or keep each entry \
                     in an output of its own.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        if view.has_trusted_signature() || view.has_unknown_checks() {
            continue;
        }
        let measured: Vec<Term> =
            view.all_parts().into_iter().filter(|part| measures(&view, *part)).collect();
        for grown in view.all_parts() {
            let Some(old) = old_list(&view, grown) else { continue };
            let limited = measured
                .iter()
                .any(|part| view.terms.mentions(*part, old) || view.terms.mentions(*part, grown));
            if !limited && is_next_state(&view, grown) {
                hits.push(Hit::at(view.terms.origin(grown)));
            }
        }
    }
    hits
}

fn measures(view: &View<'_, '_>, part: Term) -> bool {
    match view.terms.library(part) {
        Some((name, _)) => {
            matches!(
                name,
                "list.length" | "list.count" | "dict.size" | "bytearray.length" | "list.take"
            )
        }
        None => false,
    }
}

/// The part of the state that `grown` adds to.
fn old_list(view: &View<'_, '_>, grown: Term) -> Option<Term> {
    let old = match view.terms.node(grown) {
        Node::List(items, Some(tail)) if !items.is_empty() => *tail,
        Node::Library { name, arguments, .. } => match name.as_str() {
            "list.push"
            | "list.concat"
            | "dict.insert"
            | "pairs.insert_by_ascending_key"
            | "bytearray.concat"
            | "pairs.insert_with_by_ascending_key" => {
                *arguments.iter().find(|argument| is_of_state(view, **argument))?
            }
            _ => return None,
        },
        _ => return None,
    };
    is_of_state(view, old).then_some(old)
}

fn is_of_state(view: &View<'_, '_>, term: Term) -> bool {
    match view.terms.node(term) {
        Node::Field(owner, _) => {
            view.terms.is_root(*owner, Root::State) || is_of_state(view, *owner)
        }
        _ => false,
    }
}

/// Whether a comparison makes it part of the datum of an output.
fn is_next_state(view: &View<'_, '_>, grown: Term) -> bool {
    view.facts().any(|fact| {
        fact.equality(view.terms).into_iter().any(|(side, other)| {
            let parts = view.terms.parts(side);
            let datum = parts.into_iter().any(|part| {
                let output = view.terms.field_of(part, "datum");
                output.is_some_and(|output| view.is_element(output, "outputs"))
            });
            datum && view.terms.mentions(other, grown)
        })
    })
}
