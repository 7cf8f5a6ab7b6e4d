//! Every kind of secret, one family a file.
//!
//! Written from what the vendors publish about their own tokens: prefix, alphabet, length,
//! checksum. Lengths are ranges where the vendor asks not to rely on one. Of two rules that find
//! the same, the earlier one names it.

mod cloud;
mod hosting;
mod infrastructure;
mod keys;
mod ledgers;
mod messaging;
mod models;
mod observability;
mod payments;
mod platforms;
mod registries;
mod workplace;

use std::collections::BTreeSet;

use crate::{SecretKind, rule::Rule};

const FAMILIES: &[&[Rule]] = &[
    hosting::RULES,
    registries::RULES,
    cloud::RULES,
    platforms::RULES,
    infrastructure::RULES,
    messaging::RULES,
    payments::RULES,
    models::RULES,
    observability::RULES,
    workplace::RULES,
    ledgers::RULES,
    keys::RULES,
];

pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten()
}

/// Every kind that a detector can report, each once, in the order of the table.
pub fn kinds() -> impl Iterator<Item = SecretKind> {
    let mut seen = BTreeSet::new();
    rules()
        .filter(move |rule| seen.insert(rule.id))
        .map(|rule| SecretKind { id: rule.id, name: rule.name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kebab_case_and_rules_of_one_kind_agree_on_its_name() {
        for rule in rules() {
            let kebab = rule.id.split('-').all(|word| {
                !word.is_empty()
                    && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            });
            assert!(kebab, "{}", rule.id);
            assert!(rules().all(|other| other.id != rule.id || other.name == rule.name));
        }
    }

    #[test]
    fn every_rule_can_be_reached_by_a_keyword() {
        for rule in rules() {
            assert!(!rule.keywords.is_empty(), "{}", rule.id);
            assert!(rule.keywords.iter().all(|keyword| keyword.len() >= 2), "{}", rule.id);
        }
    }
}
