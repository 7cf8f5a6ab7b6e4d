//! From options to the rules that run.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use probity_autofix::SharedDetector;
use probity_finding::{Finding, Severity};
use probity_lint::{FixMode, Metadata, OWN_NAMESPACE, Pattern, RULES, RuleSet};
use probity_secrets::{Detector, FindSecrets, Secret};

use crate::{
    CheckError, CheckOptions, RuleOptions, RuleStart, ShellcheckMode, job::Job,
    shellcheck::ShellcheckProgram,
};

/// Rules that are silent if no registry was asked.
const NEED_A_REGISTRY: [&str; 4] = [
    "buildkit/InvalidBaseImagePlatform",
    "probity/nonexistent-image",
    "probity/outdated-digest",
    "tally/platform-mismatch",
];

/// The rules that one configuration leaves in force, and the paths that each of them passes over.
#[derive(Debug)]
pub struct FileRules {
    pub set: RuleSet,
    pub secrets: Detector,
    /// The same without what the repository allows: it must not decide what is sent to an agent.
    /// None where the repository allows nothing.
    gate: Option<Detector>,
    /// When the fixes of single rules may be applied.
    pub modes: BTreeMap<String, FixMode>,
    /// The program that ShellCheck's findings come from, where they do.
    pub shellcheck: Option<Arc<ShellcheckProgram>>,
    excluded: Vec<(String, GlobSet)>,
}

impl FileRules {
    /// `shellcheck` is asked for the program where the options want it.
    ///
    /// # Errors
    ///
    /// Fails if a pattern or what is allowed as a secret is malformed, or without the program.
    pub fn new(
        options: &CheckOptions,
        shellcheck: impl FnOnce() -> Result<Arc<ShellcheckProgram>, CheckError>,
    ) -> Result<Self, CheckError> {
        let rules = &options.rules;
        let mut set = match rules.start {
            RuleStart::Tally => RuleSet::default(),
            RuleStart::Preset(preset) => RuleSet::of(preset),
        };
        set.add_own(rules.own.clone());
        warn_about_missing_own(rules, &set);
        let program = match rules.shellcheck {
            ShellcheckMode::Native | ShellcheckMode::Off => None,
            ShellcheckMode::Binary => Some(shellcheck()?),
        };
        match &program {
            Some(program) => set.with_shell_findings_of(Arc::<ShellcheckProgram>::clone(program)),
            None if rules.shellcheck == ShellcheckMode::Off => set.without_shell_findings(),
            None => {}
        }
        if rules.start == RuleStart::Tally {
            // There these are on from the start.
            set.set_severity("tally/max-lines", Some(Severity::Error));
            set.set_severity("hadolint/DL3057", Some(Severity::Info));
        }
        set.include(&patterns(&rules.included));
        if options.ai.is_enabled {
            set.wake_for_agents();
        }
        // Whoever asks for a rule's fixes wants the rule.
        set.wake(&patterns(&options.fixes.only));
        let (modes, excluded) = apply_single_rules(rules, &mut set)?;
        choose(rules, &mut set);
        let secrets = detector(&rules.allowed_secrets)?;
        let gate = if rules.sendable_secrets == rules.allowed_secrets {
            None
        } else {
            Some(detector(&rules.sendable_secrets)?)
        };
        Ok(Self { set, secrets, gate, modes, shellcheck: program, excluded })
    }

    /// Knows what may not leave the machine.
    pub fn gate(&self) -> &Detector {
        self.gate.as_ref().unwrap_or(&self.secrets)
    }

    /// The same for as long as an agent may read.
    #[must_use]
    pub fn shared_gate(self: &Arc<Self>) -> SharedDetector {
        Arc::new(Gate(Arc::clone(self)))
    }

    /// The rules that the configuration excludes for this path.
    pub fn excluded_in(&self, path: &str) -> Vec<&str> {
        let here = self.excluded.iter().filter(|(_, globs)| globs.is_match(path));
        here.map(|(rule, _)| rule.as_str()).collect()
    }

    /// The rules without those that the configuration excludes for this path: what they would find
    /// must not keep another rule from speaking.
    pub fn for_path(&self, path: &str) -> Cow<'_, RuleSet> {
        let excluded: Vec<Pattern> = self.excluded_in(path).into_iter().map(Pattern::new).collect();
        if excluded.is_empty() {
            return Cow::Borrowed(&self.set);
        }
        let mut set = self.set.clone();
        set.ignore(&excluded);
        Cow::Owned(set)
    }

    /// Whether a run would have found what a rule looks for in this file.
    pub fn looks_for(&self, path: &str, rule: &str, job: &Job) -> bool {
        if NEED_A_REGISTRY.contains(&rule) && job.base_images().is_none() {
            return false;
        }
        let rules = self.for_path(path);
        match rule.split_once('/') {
            Some(("shellcheck", _)) => rules.shell_severity(rule, Severity::Info).is_some(),
            Some(("own", _)) => rules.has_active_own(rule),
            // Nobody but an agent would find it.
            Some(("ai", _)) => false,
            _ if RULES.iter().any(|known| known.metadata().name == rule) => {
                rules.active(&[]).any(|(active, _)| active.metadata().name == rule)
            }
            _ => true,
        }
    }

    /// Takes out what the configuration excludes for this path, and syntax stays.
    pub fn keep_wanted(&self, path: &str, findings: &mut Vec<Finding>) {
        let excluded = self.excluded_in(path);
        findings.retain(|finding| !excluded.contains(&finding.rule.as_ref()));
    }
}

/// Knows what may not leave the machine.
struct Gate(Arc<FileRules>);

impl FindSecrets for Gate {
    fn find(&self, text: &str) -> Vec<Secret> {
        self.0.gate().find(text)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Gate")
    }
}

fn patterns(names: &[String]) -> Vec<Pattern> {
    names.iter().map(|name| Pattern::new(name.as_str())).collect()
}

fn warn_about_missing_own(rules: &RuleOptions, set: &RuleSet) {
    let named = [&rules.included, &rules.selected, &rules.excluded, &rules.ignored];
    for pattern in named.into_iter().flatten() {
        let is_own = pattern.starts_with(OWN_NAMESPACE) && !pattern.ends_with('*');
        if is_own && !set.has_own(pattern) {
            tracing::warn!("no [[check.rule]] has the name of `{pattern}`");
        }
    }
}

type Modes = BTreeMap<String, FixMode>;

/// Applies the settings of single rules. Returns when their fixes may be applied, and the paths that
/// they skip.
fn apply_single_rules(
    rules: &RuleOptions,
    set: &mut RuleSet,
) -> Result<(Modes, Vec<(String, GlobSet)>), CheckError> {
    let (mut modes, mut excluded) = (BTreeMap::new(), Vec::new());
    for (rule, said) in &rules.single {
        for (option, value) in &said.options {
            set.set_option(rule, option, value);
        }
        match said.severity {
            Some(severity) => set.set_severity(rule, severity.severity()),
            // A rule that is off by itself and is given options is meant to run.
            None if !said.options.is_empty() => set.include(&[Pattern::new(rule.as_str())]),
            None => {}
        }
        modes.extend(said.fix.map(|mode| (rule.clone(), mode)));
        if !said.exclude_paths.is_empty() {
            excluded.push((rule.clone(), globs(&said.exclude_paths)?));
        }
    }
    Ok((modes, excluded))
}

/// Selects and leaves out, the command line last.
fn choose(rules: &RuleOptions, set: &mut RuleSet) {
    let selected = patterns(&rules.selected);
    if !selected.is_empty() {
        set.select(&selected);
    }
    let (mut excluded, mut ignored) = (patterns(&rules.excluded), patterns(&rules.ignored));
    if rules.start == RuleStart::Tally {
        let wanted = [patterns(&rules.included), selected.clone()].concat();
        excluded = spare(&excluded, &wanted);
        // `--ignore '*' --select RULE` runs one rule there.
        ignored = spare(&ignored, &selected);
    }
    set.ignore(&excluded);
    set.ignore(&ignored);
}

fn detector(allowed: &probity_secrets::Options) -> Result<Detector, CheckError> {
    Detector::new(allowed).map_err(CheckError::Secrets)
}

/// What is excluded as tally sees it: `*` and `namespace/*` spare what is included, however widely;
/// a rule's own name spares nothing.
fn spare(excluded: &[Pattern], included: &[Pattern]) -> Vec<Pattern> {
    let (wide, exact): (Vec<&Pattern>, Vec<&Pattern>) =
        excluded.iter().partition(|pattern| pattern.as_str().ends_with('*'));
    let matches = |patterns: &[&Pattern], rule: &str| patterns.iter().any(|p| p.matches(rule));
    let caught =
        RULES.iter().map(|rule| rule.metadata()).filter(|metadata| matches(&wide, metadata.name));
    // The registry has no rules for ShellCheck's findings.
    let shell = Pattern::new("shellcheck/*");
    let is_shell = |pattern: &Pattern| pattern.as_str() == "*" || *pattern == shell;
    let no_shell = wide.iter().copied().any(is_shell) && !included.iter().any(is_shell);
    let is_spared = |rule: &Metadata| {
        let mut names = std::iter::once(rule.name).chain(rule.equals.iter().copied());
        names.any(|name| included.iter().any(|pattern| pattern.matches(name)))
    };
    let not_spared = caught.filter(|rule| !is_spared(rule)).map(|rule| Pattern::new(rule.name));
    let not_spared = not_spared.chain(exact.into_iter().cloned());
    not_spared.chain(no_shell.then(|| shell.clone())).collect()
}

/// Globs that match anywhere below, as a `.gitignore` line without a slash would.
fn globs(patterns: &[String]) -> Result<GlobSet, CheckError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let anywhere = if pattern.starts_with('/') || pattern.starts_with("**/") {
            pattern.trim_start_matches('/').to_owned()
        } else {
            format!("**/{pattern}")
        };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        let bad = |source| CheckError::Pattern { pattern: pattern.clone(), source };
        set.add(glob.map_err(bad)?);
    }
    Ok(set.build()?)
}
