//! Which rules run, with which severity and options.

use std::{collections::BTreeMap, sync::Arc};

use probity_finding::Severity;

use crate::{
    RULES,
    rule::{OptionValue, Rule},
    shellcheck::{NAMESPACE, ShellChecker},
};

/// A rule's name, `namespace/*`, a bare name, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn matches(&self, rule: &str) -> bool {
        match self.0.strip_suffix("/*") {
            Some(namespace) => rule.split_once('/').is_some_and(|(own, _)| own == namespace),
            None => self.0 == "*" || same_rule(&self.0, rule),
        }
    }
}

/// Whether two names mean one rule: equal, or equal but for a namespace that one of them lacks.
pub(crate) fn same_rule(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let bare_in = |bare: &str, full: &str| {
        !bare.contains('/')
            && full.split_once('/').is_some_and(|(_, name)| name.eq_ignore_ascii_case(bare))
    };
    bare_in(a, b) || bare_in(b, a)
}

/// How one rule runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleChoice {
    pub severity: Severity,
    pub options: BTreeMap<String, OptionValue>,
}

/// The rules of one run. It is made once and shared by all files that the same settings hold for.
#[derive(Clone, Debug)]
pub struct RuleSet {
    /// One for each rule of the registry, in its order: how it runs, or not at all.
    choices: Vec<Option<RuleChoice>>,
    /// How a rule that is off would run if a directive asks for it.
    dormant: Vec<RuleChoice>,
    /// Names that other tools have for a part of a rule's findings, where only that part is off.
    muted: Vec<&'static str>,
    shell: ShellChoice,
}

/// What is wanted of ShellCheck's findings, which are no rules of the registry.
#[derive(Clone, Debug, Default)]
struct ShellChoice {
    is_off: bool,
    /// Who makes them, where that is not this program itself.
    checker: Option<Arc<dyn ShellChecker>>,
    /// Nothing but these, where something is selected.
    only: Option<Vec<Pattern>>,
    never: Vec<Pattern>,
    severities: BTreeMap<String, Option<Severity>>,
}

impl Default for RuleSet {
    /// Every rule as it comes.
    fn default() -> Self {
        let dormant: Vec<RuleChoice> = RULES
            .iter()
            .map(|rule| RuleChoice {
                severity: rule.metadata().severity_when_on(),
                options: BTreeMap::new(),
            })
            .collect();
        let choices = RULES
            .iter()
            .zip(&dormant)
            .map(|(rule, choice)| rule.metadata().severity.map(|_| choice.clone()))
            .collect();
        Self { choices, dormant, muted: Vec::new(), shell: ShellChoice::default() }
    }
}

impl RuleSet {
    /// Gives a rule another severity; `None` switches it off. Unknown names change nothing.
    pub fn set_severity(&mut self, rule: &str, severity: Option<Severity>) {
        if rule.starts_with(NAMESPACE) {
            self.shell.severities.insert(rule.to_ascii_lowercase(), severity);
        }
        for index in indices(rule) {
            match severity {
                None => self.choices[index] = None,
                Some(severity) => {
                    self.dormant[index].severity = severity;
                    self.choices[index] = Some(self.dormant[index].clone());
                }
            }
        }
    }

    /// Sets an option of a rule, whether or not it is on.
    pub fn set_option(&mut self, rule: &str, option: &str, value: &OptionValue) {
        for index in indices(rule) {
            self.dormant[index].options.insert(option.to_owned(), value.clone());
            if let Some(choice) = &mut self.choices[index] {
                choice.options.insert(option.to_owned(), value.clone());
            }
        }
    }

    /// Switches on what the patterns match, in addition to what is on.
    pub fn include(&mut self, patterns: &[Pattern]) {
        for (index, rule) in RULES.iter().enumerate() {
            let is_named = patterns.iter().any(|it| rule.metadata().is_called(it.as_str()));
            if self.choices[index].is_none() && (is_named || any_matches(patterns, *rule)) {
                self.choices[index] = Some(self.dormant[index].clone());
            }
        }
    }

    /// Leaves on only what the patterns match; a rule that is off is switched on only by its name, so
    /// that `--select 'buildkit/*'` does not bring back what the configuration switched off.
    pub fn select(&mut self, patterns: &[Pattern]) {
        self.shell.only = Some(patterns.to_vec());
        for (index, rule) in RULES.iter().enumerate() {
            let metadata = rule.metadata();
            if patterns.iter().any(|pattern| metadata.is_called(pattern.as_str())) {
                if !any_matches(patterns, *rule) {
                    let parts = metadata.equals.iter().filter(|part| !any_is(patterns, part));
                    self.muted.extend(parts);
                }
                self.choices[index].get_or_insert_with(|| self.dormant[index].clone());
            } else if !any_matches(patterns, *rule) {
                self.choices[index] = None;
            }
        }
    }

    /// Switches off what the patterns match.
    pub fn ignore(&mut self, patterns: &[Pattern]) {
        self.shell.never.extend_from_slice(patterns);
        for (index, rule) in RULES.iter().enumerate() {
            let equals = rule.metadata().equals;
            let parts: Vec<&'static str> =
                equals.iter().copied().filter(|part| any_is(patterns, part)).collect();
            if any_matches(patterns, *rule) || (!equals.is_empty() && parts.len() == equals.len()) {
                self.choices[index] = None;
            }
            self.muted.extend(parts);
        }
    }

    /// Switches ShellCheck's findings off altogether.
    pub fn without_shell_findings(&mut self) {
        self.shell.is_off = true;
    }

    /// Lets somebody else make ShellCheck's findings.
    pub fn with_shell_findings_of(&mut self, checker: Arc<dyn ShellChecker>) {
        self.shell.checker = Some(checker);
    }

    pub(crate) fn shell_checker(&self) -> Option<&dyn ShellChecker> {
        self.shell.checker.as_deref()
    }

    /// Whether any of ShellCheck's findings can be wanted.
    pub(crate) fn checks_shell(&self) -> bool {
        let is_shell = |pattern: &Pattern| {
            let name = pattern.as_str();
            name == "*"
                || name.starts_with(NAMESPACE)
                || name.to_ascii_uppercase().starts_with("SC")
        };
        let only = self.shell.only.as_ref();
        !self.shell.is_off && only.is_none_or(|patterns| patterns.iter().any(is_shell))
    }

    /// The severity of one of ShellCheck's findings; none where it is not wanted.
    #[must_use]
    pub fn shell_severity(&self, name: &str, default: Severity) -> Option<Severity> {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|it| it.matches(name));
        let is_wanted = !self.shell.is_off
            && self.shell.only.as_deref().is_none_or(matches)
            && !matches(&self.shell.never);
        let chosen = self.shell.severities.get(&name.to_ascii_lowercase());
        is_wanted.then(|| chosen.copied().unwrap_or(Some(default))).flatten()
    }

    /// Whether only this part of a rule's findings is off.
    pub(crate) fn is_muted(&self, alias: &str) -> bool {
        self.muted.contains(&alias)
    }

    /// The rules that run, and how. `experimental` are patterns of rules that a directive switches on.
    pub fn active<'a>(
        &'a self,
        experimental: &'a [Pattern],
    ) -> impl Iterator<Item = (&'static dyn Rule, &'a RuleChoice)> {
        RULES.iter().enumerate().filter_map(move |(index, rule)| {
            let woken = || any_matches(experimental, *rule).then(|| &self.dormant[index]);
            let choice = self.choices[index].as_ref().or_else(woken)?;
            Some((*rule, choice))
        })
    }

    /// How many rules run.
    #[must_use]
    pub fn len(&self) -> usize {
        self.choices.iter().flatten().count()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn any_matches(patterns: &[Pattern], rule: &dyn Rule) -> bool {
    patterns.iter().any(|pattern| pattern.matches(rule.metadata().name))
}

fn any_is(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| same_rule(pattern.as_str(), name))
}

fn indices(name: &str) -> impl Iterator<Item = usize> {
    RULES
        .iter()
        .enumerate()
        .filter(move |(_, rule)| rule.metadata().is_called(name))
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::lint_with;

    const TEXT: &str =
        "FROM a\nMAINTAINER b\nCMD a\nCMD b\nENTRYPOINT [\"a\"]\nENTRYPOINT [\"b\"]\n";

    /// The aliases of what is found, or the names where there is none.
    fn found(choose: impl Fn(&mut RuleSet)) -> Vec<String> {
        let mut rules = RuleSet::default();
        choose(&mut rules);
        let findings = lint_with(TEXT, &rules);
        let named =
            |it: probity_finding::Finding| it.alias.map_or(it.rule, Into::into).into_owned();
        findings.into_iter().map(named).filter(|name| name.starts_with("hadolint/DL4")).collect()
    }

    fn patterns(names: &[&str]) -> Vec<Pattern> {
        names.iter().copied().map(Pattern::new).collect()
    }

    #[test]
    fn a_rule_goes_by_the_name_that_it_has_elsewhere_too() {
        let all = ["hadolint/DL4000", "hadolint/DL4003", "hadolint/DL4004"];
        assert_eq!(found(|_| {}), all);
        assert_eq!(found(|rules| rules.ignore(&patterns(&["DL4000"]))), all[1..]);
        assert_eq!(found(|rules| rules.select(&patterns(&["hadolint/DL4000"]))), all[..1]);
        assert_eq!(found(|rules| rules.set_severity("hadolint/DL4000", None)), all[1..]);
    }

    #[test]
    fn a_rule_that_is_several_elsewhere_is_chosen_in_part() {
        let some = ["hadolint/DL4000", "hadolint/DL4004"];
        assert_eq!(found(|rules| rules.ignore(&patterns(&["DL4003"]))), some);
        assert_eq!(found(|rules| rules.select(&patterns(&["DL4004"]))), some[1..]);
        let both = ["hadolint/DL4003", "hadolint/DL4004"];
        assert_eq!(
            found(|rules| rules.select(&patterns(&["MultipleInstructionsDisallowed"]))),
            both
        );
    }
}
