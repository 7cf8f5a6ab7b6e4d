//! Duplicate signatories: approvals are counted in a list that the caller writes.

use super::{Class, HandlerPaths, Hit, Node, Project, Risk, Root, Term, View};

pub(super) const CLASS: Class = Class {
    name: "duplicate-signatories",
    title: "Approvals counted more than once",
    severity: Risk::Critical,
    summary: "The validator counts signatures in a list from the redeemer, which may contain the \
              same key several times. One signer reaches the threshold alone.",
    recommendation: "Count distinct keys (`list.unique(signers)`), or count the transaction's \
                     signatories that are in the owner list.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        let Some(signatories) = view.transaction_field("extra_signatories") else { continue };
        let signed = view.signatures().into_iter().any(|fact| is_every_signed(&view, fact.term));
        for fact in view.facts() {
            let Some((_, left, right)) = fact.comparison(view.terms) else { continue };
            let counted = [left, right].into_iter().find(|side| {
                let counts = counts_redeemer_list(&view, *side);
                counts && (signed || view.terms.mentions(*side, signatories))
            });
            if let Some(counted) = counted
                && !removes_duplicates(&view)
            {
                hits.push(Hit::at(view.terms.origin(counted)));
            }
        }
    }
    hits
}

fn counts_redeemer_list(view: &View<'_, '_>, term: Term) -> bool {
    match view.terms.library(term) {
        Some((
            "list.length" | "list.count" | "list.foldl" | "list.foldr" | "list.reduce",
            arguments,
        )) => arguments.first().is_some_and(|list| is_of_redeemer(view, *list)),
        _ => false,
    }
}

/// A list of the redeemer, filtered or not.
fn is_of_redeemer(view: &View<'_, '_>, list: Term) -> bool {
    match view.terms.node(list) {
        Node::Root(Root::Redeemer) => true,
        Node::Field(owner, _) => is_of_redeemer(view, *owner),
        Node::Library { name, arguments, .. }
            if matches!(name.as_str(), "list.filter" | "list.map") =>
        {
            arguments.first().is_some_and(|inner| is_of_redeemer(view, *inner))
        }
        _ => false,
    }
}

/// `list.all(redeemer.signers, fn(key) { list.has(self.extra_signatories, key) })`.
fn is_every_signed(view: &View<'_, '_>, term: Term) -> bool {
    match view.terms.library(term) {
        Some(("list.has", [_, key])) => match view.terms.node(*key) {
            Node::Element(list, _) => is_of_redeemer(view, *list),
            _ => false,
        },
        _ => false,
    }
}

fn removes_duplicates(view: &View<'_, '_>) -> bool {
    view.all_parts().into_iter().any(|part| {
        let unique = view.terms.library(part);
        unique.is_some_and(|(name, _)| matches!(name, "list.unique" | "dict.from_pairs"))
            && view.terms.mentions_root(part, Root::Redeemer)
    })
}
