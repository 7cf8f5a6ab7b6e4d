//! Unvalidated index: the redeemer lists positions, and the same position may occur twice.

use super::{
    Class, HandlerPaths, Hit, Node, Project, Risk, Root, Selector, Term, View, first_fact,
};

pub(super) const CLASS: Class = Class {
    name: "unvalidated-index",
    title: "Positions from the redeemer may repeat",
    severity: Risk::High,
    summary: "The redeemer lists positions of outputs, and no condition makes them distinct. The \
              caller points two inputs at the same output.",
    recommendation: "Require strictly increasing positions, or tag each output with the output \
                     reference of the input that it pays.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        for output in view.elements("outputs") {
            let Node::Element(_, Selector::At(index)) = view.terms.node(output) else { continue };
            if !is_listed(&view, *index) || is_distinct(&view, *index) {
                continue;
            }
            let tagged =
                view.facts_about(output).iter().any(|fact| has_reference(&view, fact.term));
            if !tagged && !view.used_whole(output) {
                hits.push(Hit::at(first_fact(&view, output)));
            }
        }
    }
    hits
}

/// An element of a list that the redeemer contains.
fn is_listed(view: &View<'_, '_>, index: Term) -> bool {
    view.terms.parts(index).into_iter().any(|part| match view.terms.node(part) {
        Node::Element(list, _) => view.terms.mentions_root(*list, Root::Redeemer),
        _ => false,
    })
}

/// Whether positions are put into an order, or repetitions are removed.
fn is_distinct(view: &View<'_, '_>, index: Term) -> bool {
    let ordered = view.facts().any(|fact| {
        fact.ordering(view.terms)
            .is_some_and(|(smaller, larger)| smaller == index || larger == index)
    });
    let unique = view.all_parts().into_iter().any(|part| {
        view.terms
            .library(part)
            .is_some_and(|(name, _)| matches!(name, "list.unique" | "list.has" | "list.difference"))
            && view.terms.mentions_root(part, Root::Redeemer)
    });
    ordered || unique
}

fn has_reference(view: &View<'_, '_>, term: Term) -> bool {
    view.terms.parts(term).into_iter().any(|part| {
        view.terms.field_of(part, "output_reference").is_some()
            || view.terms.is_root(part, Root::OwnReference)
    })
}
