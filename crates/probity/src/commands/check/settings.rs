//! From settings to the rules that run, and what is refused before that.

use std::{borrow::Cow, collections::BTreeMap, io::Write as _, sync::Arc};

use anyhow::Context as _;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use probity_finding::{Finding, Severity};
use probity_lint::{FixMode, Metadata, OWN_NAMESPACE, OptionValue, Pattern, RULES, RuleSet};
use probity_secrets::Detector;

use super::{Options, job::Job, shellcheck::ShellcheckProgram};
use crate::{
    config::{
        Catalogue, Oddity, Origin, Settings, Sourced, Value, key, secret_mounts,
        words::ShellcheckMode,
    },
    exit::Exit,
    failure::Failure,
    name::Name,
    streams,
};

/// Rules that are silent if no registry was asked.
const NEED_A_REGISTRY: [&str; 4] = [
    "buildkit/InvalidBaseImagePlatform",
    "probity/nonexistent-image",
    "probity/outdated-digest",
    "tally/platform-mismatch",
];

/// Refuses what can only be a mistake, before anything is read or written.
pub(super) fn refuse_nonsense(options: &Options) -> anyhow::Result<()> {
    let has_stdin = options.paths.iter().any(|path| path.as_os_str() == "-");
    if options.stdin_filename.is_some() && !has_stdin {
        return Err(Failure::new(
            "--stdin-filename names standard input, but no path is `-`",
            "add `-` to the paths",
        )
        .into());
    }
    if options.watch && has_stdin {
        return Err(Failure::new(
            "--watch cannot watch standard input",
            "pass the file instead of `-`, or remove --watch",
        )
        .into());
    }
    let given = |path: &str| options.flags.settings.get(path).map(|said| said.value.plain());
    let level = given(key::check::fix_level.key.path).filter(|level| level != "unsafe");
    let is_unsafe = given(key::check::unsafe_fixes.key.path).is_some_and(|said| said == "true");
    if let (Some(level), true) = (level, is_unsafe) {
        let what = format!("--fix-level {level} and --fix-unsafe cannot be used together");
        return Err(Failure::new(what, "use one of them").into());
    }
    Ok(())
}

/// Refuses names on the command line that no rule has, neither one of ours nor one of the
/// configurations. A rule of a configuration may go without its namespace.
pub(super) fn refuse_unknown_rules<'c>(
    options: &Options,
    configs: impl Iterator<Item = &'c Settings> + Clone,
) -> anyhow::Result<()> {
    let is_own = |text: &str| {
        let pattern = Pattern::new(text);
        let mut own = configs.clone().flat_map(|config| config.check.rule.read());
        own.any(|rule| pattern.matches(rule.name()))
    };
    for key in [&key::check::rules::include.key, &key::check::rules::exclude.key] {
        let Some(Sourced { value: Value::List(patterns), origin: flag }) =
            options.flags.settings.get(key.path)
        else {
            continue;
        };
        for pattern in patterns {
            match Catalogue::shipped().oddity(pattern) {
                Some(Oddity::Unknown(_) | Oddity::Unassigned(_)) if is_own(pattern) => {}
                Some(Oddity::Unknown(what) | Oddity::Unassigned(what)) => {
                    let way_out = "`probity rules` lists the rules";
                    return Err(Failure::new(format!("{flag}: {what}"), way_out).into());
                }
                Some(Oddity::Idle(what)) => tracing::warn!("{flag}: {what}"),
                None => {}
            }
        }
    }
    Ok(())
}

/// Refuses detection if no configuration names an agent.
pub(super) fn refuse_detection_by_nobody(jobs: &[Job]) -> anyhow::Result<()> {
    let names_one = |job: &Job| {
        let ai = &job.config.ai;
        ai.command.is_some() || ai.agent.is_some() || ai.provider.is_some()
    };
    if jobs.iter().any(names_one) {
        return Ok(());
    }
    let way_out =
        "name one with --acp-command or --ai-provider, or set `ai.agent` in your configuration";
    Err(Failure::new("--ai-detect needs an agent, and none is named", way_out).into())
}

/// The rules that one configuration leaves in force, and the paths that each of them passes over.
pub(super) struct FileRules {
    pub(super) set: RuleSet,
    pub(super) secrets: Detector,
    /// The same without what the repository allows: it must not decide what is sent to an agent.
    /// None where the repository allows nothing.
    gate: Option<Detector>,
    /// When the fixes of single rules may be applied.
    pub(super) modes: BTreeMap<String, FixMode>,
    /// The program that ShellCheck's findings come from, where they do.
    pub(super) shellcheck: Option<Arc<ShellcheckProgram>>,
    excluded: Vec<(String, GlobSet)>,
}

impl FileRules {
    /// `shellcheck` is asked for the program where the configuration wants it.
    pub(super) fn new(
        name: Name,
        config: &Settings,
        shellcheck: impl FnOnce() -> anyhow::Result<Arc<ShellcheckProgram>>,
    ) -> anyhow::Result<Self> {
        let mut set = match name {
            Name::Tally => RuleSet::default(),
            _ => RuleSet::of(config.check.preset),
        };
        set.add_own(config.check.rule.read());
        let chosen = config.check.rules.include.iter().chain(&config.check.rules.exclude);
        for pattern in chosen.map(|item| item.value.as_str()) {
            let is_own = pattern.starts_with(OWN_NAMESPACE) && !pattern.ends_with('*');
            if is_own && !set.has_own(pattern) {
                tracing::warn!("no [[check.rule]] has the name of `{pattern}`");
            }
        }
        let mut program = None;
        match config.check.shellcheck.mode {
            ShellcheckMode::Native => {}
            ShellcheckMode::Binary => {
                let found = shellcheck()?;
                set.with_shell_findings_of(Arc::<ShellcheckProgram>::clone(&found));
                program = Some(found);
            }
            ShellcheckMode::Off => set.without_shell_findings(),
        }
        if name == Name::Tally {
            // There these are on from the start.
            set.set_severity("tally/max-lines", Some(Severity::Error));
            set.set_severity("hadolint/DL3057", Some(Severity::Info));
        }
        let (selected, included): (Vec<_>, Vec<_>) = config
            .check
            .rules
            .include
            .iter()
            .partition(|item| matches!(item.origin, Origin::Flag { .. }));
        let patterns = |items: Vec<&Sourced<String>>| -> Vec<Pattern> {
            items.into_iter().map(|item| Pattern::new(item.value.as_str())).collect()
        };
        let mut excluded = Vec::new();
        let mut modes = BTreeMap::new();
        set.include(&patterns(included));
        if config.ai.enabled {
            set.wake_for_agents();
        }
        // Whoever asks for a rule's fixes wants the rule.
        let fixed = config.check.fix_rule.iter().map(|rule| Pattern::new(rule.as_str()));
        set.wake(&fixed.collect::<Vec<_>>());
        for (rule, settings) in &config.rules {
            for (option, value) in &settings.options {
                set.set_option(rule, option, &option_value(value));
            }
            match settings.severity {
                Some(severity) => set.set_severity(rule, severity.severity()),
                // A rule that is off by itself and is given options is meant to run.
                None if !settings.options.is_empty() => set.include(&[Pattern::new(rule.as_str())]),
                None => {}
            }
            modes.extend(settings.fix.map(|mode| (rule.clone(), mode)));
            if !settings.exclude_paths.is_empty() {
                excluded.push((rule.clone(), globs(&settings.exclude_paths)?));
            }
        }
        let selected = patterns(selected);
        if !selected.is_empty() {
            set.select(&selected);
        }
        let (ignored, excluded_rules): (Vec<_>, Vec<_>) = config
            .check
            .rules
            .exclude
            .iter()
            .partition(|item| matches!(item.origin, Origin::Flag { .. }));
        let mut excluded_rules = patterns(excluded_rules);
        let mut ignored = patterns(ignored);
        if name == Name::Tally {
            let wanted = patterns(config.check.rules.include.iter().collect());
            excluded_rules = spare(&excluded_rules, &wanted);
            // `--ignore '*' --select RULE` runs one rule there.
            ignored = spare(&ignored, &selected);
        }
        set.ignore(&excluded_rules);
        set.ignore(&ignored);
        let (allowed, by_user) =
            (allowed_secrets(config, |_| true), allowed_secrets(config, is_users));
        let secrets = detector(&allowed)?;
        let gate = if by_user == allowed { None } else { Some(detector(&by_user)?) };
        Ok(Self { set, secrets, gate, modes, shellcheck: program, excluded })
    }

    /// Knows what may not leave the machine.
    pub(super) fn gate(&self) -> &Detector {
        self.gate.as_ref().unwrap_or(&self.secrets)
    }

    /// The rules that the configuration excludes for this path.
    pub(super) fn excluded_in(&self, path: &str) -> Vec<&str> {
        let here = self.excluded.iter().filter(|(_, globs)| globs.is_match(path));
        here.map(|(rule, _)| rule.as_str()).collect()
    }

    /// The rules without those that the configuration excludes for this path: what they would find
    /// must not keep another rule from speaking.
    pub(super) fn for_path(&self, path: &str) -> Cow<'_, RuleSet> {
        let excluded: Vec<Pattern> = self.excluded_in(path).into_iter().map(Pattern::new).collect();
        if excluded.is_empty() {
            return Cow::Borrowed(&self.set);
        }
        let mut set = self.set.clone();
        set.ignore(&excluded);
        Cow::Owned(set)
    }

    /// Whether a run would have found what a rule looks for in this file.
    pub(super) fn looks_for(&self, path: &str, rule: &str, job: &Job) -> bool {
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
    pub(super) fn keep_wanted(&self, path: &str, findings: &mut Vec<Finding>) {
        let excluded = self.excluded_in(path);
        findings.retain(|finding| !excluded.contains(&finding.rule.as_ref()));
    }
}

/// What is excluded as tally sees it: `*` and `namespace/*` spare what is included, however widely;
/// a rule's own name spares nothing.
fn spare(excluded: &[Pattern], included: &[Pattern]) -> Vec<Pattern> {
    let (wide, exact): (Vec<&Pattern>, Vec<&Pattern>) =
        excluded.iter().partition(|pattern| pattern.as_str().ends_with('*'));
    let matches = |patterns: &[&Pattern], rule: &str| patterns.iter().any(|p| p.matches(rule));
    let caught =
        RULES.iter().map(|rule| rule.metadata()).filter(|metadata| matches(&wide, metadata.name));
    // ShellCheck's findings are no rules of the registry.
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

fn is_users(origin: &Origin) -> bool {
    !origin.is_repository()
}

/// The secrets that the configuration allows, as far as it counts.
fn allowed_secrets(config: &Settings, counts: fn(&Origin) -> bool) -> probity_secrets::Options {
    let settings = config.merged.rules.get("tally/secrets-in-code");
    let list = |name: &str| match settings.and_then(|settings| settings.get(name)) {
        Some(Sourced { value: Value::List(items), origin }) if counts(origin) => items.clone(),
        _ => Vec::new(),
    };
    probity_secrets::Options {
        allowed_values: list("allowed-values"),
        allowed_patterns: list("allowed-patterns"),
        allowed_kinds: list("allowed-kinds"),
    }
}

fn detector(allowed: &probity_secrets::Options) -> anyhow::Result<Detector> {
    Detector::new(allowed).context("rules.tally.secrets-in-code")
}

fn option_value(value: &Value) -> OptionValue {
    match value {
        Value::Int(number) => OptionValue::Integer(*number),
        Value::Bool(switch) => OptionValue::Boolean(*switch),
        Value::List(items) => OptionValue::TextList(items.clone()),
        Value::Text(text) => OptionValue::Text(text.clone()),
        Value::Table(programs) => OptionValue::SecretMounts(secret_mounts::read(programs)),
        other => OptionValue::Text(other.to_string()),
    }
}

/// Globs that match anywhere below, as a `.gitignore` line without a slash would.
fn globs(patterns: &[String]) -> anyhow::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let anywhere = if pattern.starts_with('/') || pattern.starts_with("**/") {
            pattern.trim_start_matches('/').to_owned()
        } else {
            format!("**/{pattern}")
        };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        set.add(glob.with_context(|| format!("`{pattern}` is not a valid pattern"))?);
    }
    Ok(set.build()?)
}

/// `--list-rules`: what would run here, and as what.
pub(super) fn list_rules(name: Name, config: &Settings) -> anyhow::Result<Exit> {
    let rules = FileRules::new(name, config, || ShellcheckProgram::find(config))?;
    let mut out = streams::stdout().lock();
    for (rule, choice) in rules.set.active(&[]) {
        writeln!(out, "{:<44} {}", rule.metadata().name, choice.severity)?;
    }
    Ok(Exit::Clean)
}
