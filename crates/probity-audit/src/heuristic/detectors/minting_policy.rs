//! Minting policy: a path mints without authority, or its seed is only looked at.

use super::{
    Class, HandlerPaths, Hit, Location, Node, Operator, Project, Purpose, Risk, Root, Term, View,
};

pub(super) const CLASS: Class = Class {
    name: "minting-policy",
    title: "Minting policy too permissive",
    severity: Risk::Critical,
    summary: "A path of the mint handler lets anyone mint: it does not limit the quantity, or it \
              does not spend the output that makes it unique.",
    recommendation: "Limit the quantity in every path (`quantity < 0` to burn, an exact one to \
                     mint), and require the seed among `self.inputs`.",
    detect,
};

/// What can authorize a mint.
const AUTHORITIES: &[&str] = &[
    "inputs",
    "outputs",
    "extra_signatories",
    "reference_inputs",
    "withdrawals",
    "redeemers",
    "certificates",
    "votes",
];

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Mint {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        if view.has_unknown_checks() {
            continue;
        }
        hits.extend(seed_only_referenced(&view));
        hits.extend(unused_seed(&view));
        let authorized = AUTHORITIES.iter().any(|list| view.looks_at(list));
        if !authorized && !limits_quantity(&view) {
            let body = Location { file: handler.file, span: handler.body };
            hits.push(Hit::at(view.path.facts.last().map_or(body, |fact| fact.origin)));
        }
    }
    hits
}

/// A reference input can be shown again and again, so it makes nothing unique.
fn seed_only_referenced(view: &View<'_, '_>) -> Option<Hit> {
    let compared = view.facts().find(|fact| {
        fact.equality(view.terms).into_iter().any(|(side, other)| {
            let input = view.terms.field_of(side, "output_reference");
            let referenced = input.is_some_and(|input| view.is_element(input, "reference_inputs"));
            referenced && view.terms.mentions_parameter(other)
        })
    })?;
    Some(Hit::at(compared.origin))
}

/// The policy has a seed as a parameter, and a path that mints does not ask for it.
fn unused_seed(view: &View<'_, '_>) -> Option<Hit> {
    let has_unused = (0..MOST_PARAMETERS).any(|position| {
        let parameter = view.terms.find(&Node::Root(Root::Parameter(position)));
        parameter.is_some_and(|parameter| {
            view.terms.type_of(parameter) == Some("OutputReference") && !view.has_part(parameter)
        })
    });
    let is_guarded = view.has_trusted_signature()
        || ["inputs", "withdrawals", "redeemers"].iter().any(|list| view.looks_at(list));
    if !has_unused || is_guarded || only_burns(view) {
        return None;
    }
    let mint = view.transaction_field("mint")?;
    view.facts_about(mint).last().map(|fact| Hit::at(fact.origin))
}

const MOST_PARAMETERS: usize = 16;

/// A minted quantity has to be below zero, or what is minted has to equal something negative.
fn only_burns(view: &View<'_, '_>) -> bool {
    let Some(mint) = view.transaction_field("mint") else { return false };
    let is_negative = |limit: Term| {
        view.terms.any_part(limit, |node| match node {
            Node::Negate(_) => true,
            Node::Literal(text) => text.starts_with('-'),
            _ => false,
        })
    };
    let is_zero =
        |limit: Term| matches!(view.terms.node(limit), Node::Literal(text) if text == "0");
    view.all_parts().into_iter().any(|part| match view.terms.node(part) {
        Node::Binary(Operator::Less, quantity, limit) => {
            is_zero(*limit) && view.terms.mentions(*quantity, mint)
        }
        Node::Binary(Operator::LessEqual | Operator::Equal, left, right) => {
            [(*left, *right), (*right, *left)]
                .into_iter()
                .any(|(quantity, limit)| view.terms.mentions(quantity, mint) && is_negative(limit))
        }
        _ => false,
    })
}

/// Whether a minted quantity is compared from above.
fn limits_quantity(view: &View<'_, '_>) -> bool {
    let Some(mint) = view.transaction_field("mint") else { return false };
    view.facts_about(mint).into_iter().any(|fact| {
        if !fact.equality(view.terms).is_empty() {
            return true;
        }
        match fact.ordering(view.terms) {
            Some((smaller, _)) => is_quantity(view, smaller, mint),
            None => !is_weak(view, fact.term),
        }
    })
}

fn is_quantity(view: &View<'_, '_>, term: Term, mint: Term) -> bool {
    let counted = view.terms.library(term).is_some_and(|(name, _)| name == "list.length");
    !counted && view.terms.mentions(term, mint)
}

/// Facts that say only that something is minted.
fn is_weak(view: &View<'_, '_>, term: Term) -> bool {
    match view.terms.node(term) {
        Node::Length(..) | Node::Is(..) | Node::Binary(Operator::NotEqual, ..) => true,
        Node::Library { name, .. } => {
            matches!(
                name.as_str(),
                "dict.is_empty" | "dict.has_key" | "list.has" | "assets.is_zero"
            )
        }
        _ => false,
    }
}
