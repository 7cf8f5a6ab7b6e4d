//! Which rules of the configuration run, beside those of the registry.

use std::sync::Arc;

use probity_finding::Severity;

use super::{RuleSet, same_rule};
use crate::engine::own_rule::OwnRule;

/// How a rule of the configuration runs.
#[derive(Clone, Debug)]
pub(super) struct OwnChoice {
    pub(super) rule: Arc<OwnRule>,
    pub(super) severity: Severity,
    pub(super) is_on: bool,
}

impl RuleSet {
    /// Adds rules of the configuration, before anything else is said about rules.
    pub fn add_own(&mut self, rules: impl IntoIterator<Item = Arc<OwnRule>>) {
        let choice =
            |rule: Arc<OwnRule>| OwnChoice { severity: rule.severity(), rule, is_on: true };
        self.own.extend(rules.into_iter().map(choice));
    }

    /// The rules of the configuration that run, each with its severity.
    pub(crate) fn active_own(&self) -> impl Iterator<Item = (&OwnRule, Severity)> {
        let active = self.own.iter().filter(|choice| choice.is_on);
        active.map(|choice| (choice.rule.as_ref(), choice.severity))
    }

    /// Whether the configuration has a rule of this name, on or off.
    #[must_use]
    pub fn has_own(&self, name: &str) -> bool {
        self.own.iter().any(|choice| same_rule(name, choice.rule.name()))
    }

    /// Whether a rule of the configuration runs.
    #[must_use]
    pub fn has_active_own(&self, name: &str) -> bool {
        self.active_own().any(|(rule, _)| rule.name() == name)
    }

    pub(super) fn set_own(&mut self, change: impl Fn(&str, &mut OwnChoice)) {
        for choice in &mut self.own {
            let rule = Arc::clone(&choice.rule);
            change(rule.name(), choice);
        }
    }
}
