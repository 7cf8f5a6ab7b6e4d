//! Missing signatory: anyone may take the funds, or name the next owner.

use super::{Class, HandlerPaths, Hit, Location, Node, Project, Purpose, Risk, Root, Term, View};

pub(super) const CLASS: Class = Class {
    name: "missing-signatory",
    title: "No signature required",
    severity: Risk::Critical,
    summary: "The spend handler accepts a transaction without the signature of anyone whom the \
              state or a parameter names. Anyone can build this transaction.",
    recommendation: "Require the responsible key: \
                     `list.has(self.extra_signatories, datum.owner)`.",
    detect,
};

/// What a transaction can be checked by; without any of these, funds go where the builder likes.
const GUARDS: &[&str] =
    &["outputs", "inputs", "mint", "withdrawals", "reference_inputs", "redeemers", "certificates"];

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Spend {
        return Vec::new();
    }
    let views = handler.views();
    // A script without a single guarded path is public on purpose.
    if !views.iter().any(View::has_trusted_signature) && !views.iter().any(names_own_signer) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in &views {
        if view.has_trusted_signature() || view.has_unknown_checks() || proves_knowledge(view) {
            continue;
        }
        if !GUARDS.iter().any(|guard| guards(view, guard)) {
            hits.push(Hit::at(shown(view, handler)));
        } else {
            hits.extend(new_owner(view, &views));
        }
    }
    hits
}

/// Finding the own input by its reference does not count as a condition.
fn guards(view: &View<'_, '_>, list: &str) -> bool {
    let Some(field) = view.transaction_field(list) else { return false };
    view.has_part(field)
}

/// The signer comes from the redeemer, so the caller names themselves.
fn names_own_signer(view: &View<'_, '_>) -> bool {
    let mut signatures = view.signatures().into_iter();
    signatures.any(|fact| view.terms.mentions_root(fact.term, Root::Redeemer))
}

/// Conditions that join the redeemer with the state: a secret, a signature, a choice.
fn proves_knowledge(view: &View<'_, '_>) -> bool {
    view.facts().any(|fact| {
        view.terms.mentions_root(fact.term, Root::Redeemer)
            && view.is_trusted(fact.term)
            && !matches!(view.terms.node(fact.term), Node::Is(..))
            && !reads_outputs(view, fact.term)
            && !is_public_list(view, fact.term)
    })
}

/// Membership in a list of the state: everybody can read the list, and name its elements.
fn is_public_list(view: &View<'_, '_>, term: Term) -> bool {
    let sides = match view.terms.node(term) {
        Node::Binary(_, left, right) => vec![*left, *right],
        _ => vec![term],
    };
    let names_members = |side: &Term| {
        view.terms.mentions_root(*side, Root::Redeemer)
            && view.terms.library(*side).is_some_and(|(name, _)| {
                matches!(name, "list.has" | "list.count" | "list.any" | "list.all" | "list.length")
            })
    };
    let is_hashed = view.terms.any_part(term, |node| match node {
        Node::Library { name, .. } => name.starts_with("crypto.") || name.starts_with("builtin."),
        Node::Opaque { .. } => true,
        _ => false,
    });
    !is_hashed && sides.iter().any(names_members)
}

fn reads_outputs(view: &View<'_, '_>, term: Term) -> bool {
    view.transaction_field("outputs").is_some_and(|outputs| view.terms.mentions(term, outputs))
}

/// The last condition of the path, which is where the signature is missing.
fn shown(view: &View<'_, '_>, handler: &HandlerPaths<'_>) -> Location {
    let own = Location { file: handler.file, span: handler.span };
    view.signatures().first().or(view.path.facts.last().as_ref()).map_or(own, |fact| fact.origin)
}

/// The whole state moves to a new owner, whom the redeemer or another field of the state names, and
/// nothing is paid for it. A change that waits for its time needs nobody's signature.
fn new_owner(view: &View<'_, '_>, all: &[View<'_, '_>]) -> Option<Hit> {
    let outputs = view.continuing_outputs();
    let keeps_value = outputs.iter().any(|output| {
        let Some(value) = view.field(*output, "value") else { return false };
        let uses = view.uses(value);
        !uses.is_empty() && uses.iter().all(|part| is_kept(view, *part))
    });
    if !keeps_value {
        return None;
    }
    let redeemer = view.terms.find(&Node::Root(Root::Redeemer));
    for part in view.all_parts() {
        let Node::Construct { fields, base: Some(base), .. } = view.terms.node(part) else {
            continue;
        };
        if !view.terms.is_root(*base, Root::State) {
            continue;
        }
        let is_new = |name: &str, value: Term| match view.terms.node(value) {
            Node::Field(owner, field) if view.terms.is_root(*owner, Root::State) => {
                field != name && !view.looks_at("validity_range")
            }
            // A list of the state without one element names nobody new.
            _ => {
                redeemer.is_some_and(|redeemer| view.terms.mentions(value, redeemer))
                    && !view.terms.mentions_root(value, Root::State)
            }
        };
        let owner = fields.iter().find(|(name, value)| {
            is_new(name, *value) && all.iter().any(|other| is_signer(other, name))
        });
        if owner.is_some() {
            return Some(Hit::at(view.terms.origin(part)));
        }
    }
    None
}

/// The value, its tokens or its lovelace are those of an input, without anything added.
fn is_kept(view: &View<'_, '_>, part: Term) -> bool {
    let lovelace = view.lovelace_of(part).is_some();
    let tokens = matches!(view.terms.library(part), Some(("assets.without_lovelace", _)));
    if !lovelace && !tokens {
        return compares_input_value(view, part);
    }
    view.uses(part).into_iter().all(|comparison| compares_input_value(view, comparison))
}

/// A comparison with the value of an input, or with a part of it.
fn compares_input_value(view: &View<'_, '_>, term: Term) -> bool {
    let Node::Binary(_, left, right) = view.terms.node(term) else { return false };
    let values = view.own_outputs().into_iter().filter_map(|output| view.field(output, "value"));
    values.into_iter().any(|value| {
        [*left, *right].into_iter().any(|side| {
            let whole = side == value || view.lovelace_of(side) == Some(value);
            let tokens = view.terms.library(side).is_some_and(|(name, arguments)| {
                name == "assets.without_lovelace" && arguments == [value]
            });
            whole || tokens
        })
    })
}

/// Whether a path requires the signature of this field of the state.
fn is_signer(view: &View<'_, '_>, field: &str) -> bool {
    let Some(state) = view.terms.find(&Node::Root(Root::State)) else { return false };
    let Some(key) = view.field(state, field) else { return false };
    view.signatures().into_iter().any(|fact| view.terms.mentions(fact.term, key))
}
