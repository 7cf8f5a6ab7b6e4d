//! Other token name: the policy checks one name and leaves the others free.

use super::{Class, HandlerPaths, Hit, Node, Project, Purpose, Risk, Root, Selector, Term, View};

pub(super) const CLASS: Class = Class {
    name: "other-token-name",
    title: "Other token names under the same policy",
    severity: Risk::Critical,
    summary: "The mint handler checks the quantity of one token name only. The same transaction can \
              mint any quantity of other names under this policy.",
    recommendation: "Match all tokens of the policy: \
                     `expect [Pair(name, quantity)] = dict.to_pairs(tokens(self.mint, policy_id))`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose != Purpose::Mint {
        return Vec::new();
    }
    handler.views().iter().filter_map(partial_lookup).collect()
}

/// A lookup of one name, if the path reads the minted value in no other way.
fn partial_lookup(view: &View<'_, '_>) -> Option<Hit> {
    let mint = view.transaction_field("mint")?;
    let mut lookups = Vec::new();
    for part in view.uses(mint) {
        match view.terms.library(part)? {
            ("assets.quantity_of", [_, policy, _]) => {
                if !view.terms.is_root(*policy, Root::PolicyId) {
                    return None;
                }
                lookups.push(part);
            }
            ("assets.tokens", [_, policy]) if view.terms.is_root(*policy, Root::PolicyId) => {
                lookups.extend(single_names(view, part)?);
            }
            _ => return None,
        }
    }
    lookups.first().map(|part| Hit::at(view.terms.origin(*part)))
}

/// How the tokens of the policy are read, if no use covers all of them.
fn single_names(view: &View<'_, '_>, tokens: Term) -> Option<Vec<Term>> {
    let mut found = Vec::new();
    for part in view.uses(tokens) {
        match view.terms.node(part) {
            Node::Library { name, .. } if matches!(name.as_str(), "dict.get" | "dict.has_key") => {
                found.push(part);
            }
            Node::Library { name, .. } if name == "dict.to_pairs" => {
                for user in view.uses(part) {
                    match view.terms.node(user) {
                        Node::Element(_, Selector::Match(..) | Selector::Position(_)) => {
                            found.push(user);
                        }
                        Node::Library { name, .. } if name == "list.has" => found.push(user),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
    }
    Some(found)
}
