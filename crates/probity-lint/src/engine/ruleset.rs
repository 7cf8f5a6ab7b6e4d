//! Which rules run, with which severity and options.

mod own;
mod pattern;

use std::{collections::BTreeMap, sync::Arc};

use probity_finding::Severity;

use self::own::OwnChoice;
pub use self::pattern::Pattern;
pub(crate) use self::pattern::same_rule;
use crate::{
    RULES,
    engine::{
        detections,
        preset::Preset,
        rule::{OptionValue, Rule},
    },
    shellcheck::{NAMESPACE, ShellChecker, memory::ShellMemory},
};

/// How one rule runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleChoice {
    pub severity: Severity,
    pub options: BTreeMap<String, OptionValue>,
}

/// The rules of one run. It is made once and shared by all files that the same settings hold for.
#[derive(Clone, Debug)]
pub struct RuleSet {
    /// One for each rule of the registry, in its order.
    states: Vec<State>,
    /// How each rule runs, or would run if a directive asks for it.
    choices: Vec<RuleChoice>,
    /// Names that other tools have for a part of a rule's findings, where only that part is off.
    muted: Vec<&'static str>,
    shell: ShellChoice,
    /// Rules of the configuration.
    own: Vec<OwnChoice>,
    manner: Manner,
}

/// Whether a rule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    On,
    /// The preset does not contain it: any choice that matches it switches it on.
    OutsidePreset,
    /// Only its own name switches it on.
    Off,
}

/// How findings that concern one thing are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Advice that excludes other advice is given alone, and a file that is not a Dockerfile is one
    /// finding.
    Own,
    /// A file that is not a Dockerfile is one finding, as it is to hadolint.
    Hadolint,
    /// Whatever is found is reported, as tally does.
    Tally,
}

/// What is wanted of ShellCheck's findings, which are no rules of the registry. The patterns and
/// severities are those of AI detections, too.
#[derive(Clone, Debug, Default)]
struct ShellChoice {
    is_off: bool,
    /// Who makes them, where that is not this program itself.
    checker: Option<Arc<dyn ShellChecker>>,
    /// What is known about the scripts of the last text.
    memory: Option<Arc<ShellMemory>>,
    /// Nothing but these, where something is selected.
    only: Option<Vec<Pattern>>,
    never: Vec<Pattern>,
    /// What is wanted however slight it is.
    also: Vec<Pattern>,
    /// What a finding has to reach unless it is wanted by name.
    least: Option<Severity>,
    severities: BTreeMap<String, Option<Severity>>,
}

impl Default for RuleSet {
    /// Every rule that is on in the tool that it comes from, reported as tally does.
    fn default() -> Self {
        Self::as_elsewhere(Manner::Tally)
    }
}

impl RuleSet {
    /// The rules of a preset.
    #[must_use]
    pub fn of(preset: Preset) -> Self {
        let state = |rule: &&dyn Rule| match rule.metadata().preset {
            Some(smallest) if smallest <= preset => State::On,
            Some(_) => State::OutsidePreset,
            None => State::Off,
        };
        let least = Some(preset.least_shell_severity());
        Self {
            states: RULES.iter().map(state).collect(),
            shell: ShellChoice { least, ..ShellChoice::default() },
            ..Self::as_elsewhere(Manner::Own)
        }
    }

    /// Every rule that is on in the tool that it comes from, reported as hadolint does.
    #[must_use]
    pub fn of_hadolint() -> Self {
        Self::as_elsewhere(Manner::Hadolint)
    }

    fn as_elsewhere(manner: Manner) -> Self {
        let choice = |rule: &&dyn Rule| RuleChoice {
            severity: rule.metadata().severity_when_on(),
            options: BTreeMap::new(),
        };
        let state = |rule: &&dyn Rule| match rule.metadata().severity {
            Some(_) => State::On,
            None => State::Off,
        };
        Self {
            states: RULES.iter().map(state).collect(),
            choices: RULES.iter().map(choice).collect(),
            muted: Vec::new(),
            shell: ShellChoice::default(),
            own: Vec::new(),
            manner,
        }
    }

    /// Gives a rule another severity; `None` switches it off. Unknown names change nothing.
    pub fn set_severity(&mut self, rule: &str, severity: Option<Severity>) {
        if rule.starts_with(NAMESPACE) || rule.starts_with(detections::NAMESPACE) {
            self.shell.severities.insert(rule.to_ascii_lowercase(), severity);
        }
        self.set_own(|name, choice| {
            if same_rule(rule, name) {
                choice.is_on = severity.is_some();
                choice.severity = severity.unwrap_or(choice.severity);
            }
        });
        for index in indices(rule) {
            self.states[index] = match severity {
                None => State::Off,
                Some(severity) => {
                    self.choices[index].severity = severity;
                    State::On
                }
            };
        }
    }

    /// Sets an option of a rule, whether or not it is on.
    pub fn set_option(&mut self, rule: &str, option: &str, value: &OptionValue) {
        for index in indices(rule) {
            self.choices[index].options.insert(option.to_owned(), value.clone());
        }
    }

    /// Switches on what the patterns match, in addition to what is on.
    pub fn include(&mut self, patterns: &[Pattern]) {
        self.shell.also.extend_from_slice(patterns);
        for (index, rule) in RULES.iter().enumerate() {
            if is_named(patterns, *rule) || any_matches(patterns, *rule) {
                self.states[index] = State::On;
            }
        }
    }

    /// Switches on what the patterns match and only the preset leaves out.
    pub fn wake(&mut self, patterns: &[Pattern]) {
        self.shell.also.extend_from_slice(patterns);
        for (index, rule) in RULES.iter().enumerate() {
            let is_meant = is_named(patterns, *rule) || any_matches(patterns, *rule);
            if is_meant && self.states[index] == State::OutsidePreset {
                self.states[index] = State::On;
            }
        }
    }

    /// Switches on what only an agent can fix and only the preset leaves out.
    pub fn wake_for_agents(&mut self) {
        for (state, rule) in self.states.iter_mut().zip(RULES) {
            if *state == State::OutsidePreset && rule.metadata().by_agent {
                *state = State::On;
            }
        }
    }

    /// Leaves on only what the patterns match. A rule that is off is switched on only by its name, so
    /// that `--select 'buildkit/*'` does not bring back what the configuration switched off; one that
    /// is only outside the preset is switched on by any pattern.
    pub fn select(&mut self, patterns: &[Pattern]) {
        self.shell.only = Some(patterns.to_vec());
        self.set_own(|name, choice| {
            choice.is_on &= patterns.iter().any(|pattern| pattern.matches(name))
        });
        for (index, rule) in RULES.iter().enumerate() {
            let matches = any_matches(patterns, *rule);
            if is_named(patterns, *rule) {
                if !matches {
                    let parts = rule.metadata().equals.iter();
                    self.muted.extend(parts.filter(|part| !any_is(patterns, part)));
                }
                self.states[index] = State::On;
            } else if !matches {
                self.states[index] = State::Off;
            } else if self.states[index] == State::OutsidePreset {
                self.states[index] = State::On;
            }
        }
    }

    /// Switches off what the patterns match.
    pub fn ignore(&mut self, patterns: &[Pattern]) {
        self.shell.never.extend_from_slice(patterns);
        self.set_own(|name, choice| {
            choice.is_on &= !patterns.iter().any(|pattern| pattern.matches(name))
        });
        for (index, rule) in RULES.iter().enumerate() {
            let equals = rule.metadata().equals;
            let parts: Vec<&'static str> =
                equals.iter().copied().filter(|part| any_is(patterns, part)).collect();
            if any_matches(patterns, *rule) || (!equals.is_empty() && parts.len() == equals.len()) {
                self.states[index] = State::Off;
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

    /// Remembers the findings of scripts, for a caller that checks one text again and again.
    pub fn remember_shell_findings(&mut self) {
        self.shell.memory = Some(Arc::default());
    }

    pub(crate) fn shell_memory(&self) -> Option<&ShellMemory> {
        self.shell.memory.as_deref()
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
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        let shell = &self.shell;
        let is_wanted =
            !shell.is_off && shell.only.as_deref().is_none_or(matches) && !matches(&shell.never);
        if !is_wanted {
            return None;
        }
        if let Some(chosen) = shell.severities.get(&name.to_ascii_lowercase()) {
            return *chosen;
        }
        let is_by_name = shell.only.is_some() || matches(&shell.also);
        (is_by_name || shell.least.is_none_or(|least| default >= least)).then_some(default)
    }

    /// The severity of an AI detection; none where it is not wanted.
    #[must_use]
    pub fn detection_severity(&self, name: &str) -> Option<Severity> {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        if self.shell.only.as_deref().is_some_and(|only| !matches(only))
            || matches(&self.shell.never)
        {
            return None;
        }
        let chosen = self.shell.severities.get(name).copied();
        chosen.unwrap_or(Some(detections::DETECTION_SEVERITY))
    }

    /// Whether advice that excludes other advice is given alone.
    pub(crate) fn settles_contradictions(&self) -> bool {
        self.manner == Manner::Own
    }

    /// Whether rules judge a variable by the default of its `ARG`; hadolint and tally do not.
    pub(crate) fn reads_defaults(&self) -> bool {
        self.manner == Manner::Own
    }

    /// Whether ShellCheck's findings are weighed by what the Dockerfile knows; those that are selected
    /// by name are reported as ShellCheck does.
    pub(crate) fn weighs_shell_findings(&self) -> bool {
        self.manner == Manner::Own && self.shell.only.is_none()
    }

    /// Whether a file that is not a Dockerfile is one finding.
    pub(crate) fn recognizes_other_files(&self) -> bool {
        self.manner != Manner::Tally
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
            let is_on = self.states[index] == State::On || any_matches(experimental, *rule);
            is_on.then(|| (*rule, &self.choices[index]))
        })
    }

    /// How many rules run.
    #[must_use]
    pub fn len(&self) -> usize {
        let own = self.active_own().count();
        self.states.iter().filter(|state| **state == State::On).count() + own
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn is_named(patterns: &[Pattern], rule: &dyn Rule) -> bool {
    patterns.iter().any(|pattern| rule.metadata().is_called(pattern.as_str()))
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
    use crate::engine::harness::lint_with;

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

    fn active(rules: &RuleSet) -> Vec<&'static str> {
        rules.active(&[]).map(|(rule, _)| rule.metadata().name).collect()
    }

    #[test]
    fn a_preset_contains_the_smaller_ones_and_on_request_is_in_none() {
        let presets = [Preset::Recommended, Preset::Strict, Preset::All];
        let sets = presets.map(|preset| active(&RuleSet::of(preset)));
        for (rule, metadata) in RULES.iter().map(|rule| (rule.metadata().name, rule.metadata())) {
            let is_in = sets.each_ref().map(|set| set.contains(&rule));
            let expected = presets.map(|preset| metadata.preset.is_some_and(|own| own <= preset));
            assert_eq!(is_in, expected, "{rule}");
            assert_eq!(metadata.preset.is_none(), metadata.severity.is_none(), "{rule}");
            let is_layout = metadata.category == crate::Category::Style;
            let is_buildkits = metadata.namespace() == "buildkit";
            assert!(!is_layout || is_buildkits || !is_in[0], "{rule} is layout or taste");
        }
    }

    #[test]
    fn a_choice_wakes_what_the_preset_leaves_out_but_not_what_is_off() {
        let chosen = |choose: &dyn Fn(&mut RuleSet)| {
            let mut rules = RuleSet::of(Preset::Recommended);
            choose(&mut rules);
            active(&rules)
        };
        let (outside, on_request) = ("hadolint/DL3008", "hadolint/DL3057");
        let has = |choose: &dyn Fn(&mut RuleSet)| {
            let names = chosen(choose);
            [outside, on_request].map(|name| names.contains(&name))
        };
        assert_eq!(has(&|_| {}), [false, false]);
        assert_eq!(has(&|rules| rules.select(&patterns(&["DL3008"]))), [true, false]);
        assert_eq!(has(&|rules| rules.select(&patterns(&["hadolint/*"]))), [true, false]);
        assert_eq!(has(&|rules| rules.select(&patterns(&["*"]))), [true, false]);
        assert_eq!(has(&|rules| rules.select(&patterns(&["DL3057"]))), [false, true]);
        assert_eq!(has(&|rules| rules.include(&patterns(&["hadolint/*"]))), [true, true]);
        let severity = |rules: &mut RuleSet| rules.set_severity(outside, Some(Severity::Info));
        assert_eq!(has(&severity), [true, false]);
        let off = |rules: &mut RuleSet| {
            rules.set_severity(outside, None);
            rules.select(&patterns(&["hadolint/*"]));
        };
        assert_eq!(has(&off), [false, false], "what is switched off stays off");
    }

    #[test]
    fn a_preset_sets_how_grave_a_shell_finding_has_to_be() {
        const NAME: &str = "shellcheck/SC2086";
        let told = |preset, choose: &dyn Fn(&mut RuleSet)| {
            let mut rules = RuleSet::of(preset);
            choose(&mut rules);
            [Severity::Style, Severity::Info, Severity::Warning]
                .map(|severity| rules.shell_severity(NAME, severity).is_some())
        };
        assert_eq!(told(Preset::Recommended, &|_| {}), [false, false, true]);
        assert_eq!(told(Preset::Strict, &|_| {}), [false, true, true]);
        assert_eq!(told(Preset::All, &|_| {}), [true; 3]);
        let ways: [&dyn Fn(&mut RuleSet); 4] = [
            &|rules| rules.set_severity(NAME, Some(Severity::Error)),
            &|rules| rules.include(&patterns(&["SC2086"])),
            &|rules| rules.include(&patterns(&["shellcheck/*"])),
            &|rules| rules.select(&patterns(&["shellcheck/*"])),
        ];
        for choose in ways {
            assert_eq!(told(Preset::Recommended, choose), [true; 3]);
        }
        let ignored = |rules: &mut RuleSet| {
            rules.include(&patterns(&["SC2086"]));
            rules.ignore(&patterns(&["SC2086"]));
        };
        assert_eq!(told(Preset::All, &ignored), [false; 3]);
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
