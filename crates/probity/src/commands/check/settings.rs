//! From flags to a configuration layer, and from a configuration to the rules that run.

use std::{
    collections::BTreeMap,
    io::Write as _,
    sync::{Arc, LazyLock},
};

use anyhow::Context as _;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use probity_finding::{Finding, Severity};
use probity_lint::{
    ELSEWHERE, FixMode, OptionKind, OptionValue, Pattern, RULES, RuleSet, shell_codes,
};
use probity_secrets::Detector;

use super::shellcheck::ShellcheckProgram;
use crate::{
    cli::check::CheckArgs,
    commands::rules,
    config::{
        self, Catalogue, CheckConfig, ConfigError, Kind, Layer, Oddity, OptionSchema, Origin,
        RuleSchema, ShellcheckMode, Sourced, Value,
    },
    exit::Exit,
    failure::Failure,
    name::Name,
};

/// Flags of the design whose work this version cannot do yet; doing nothing would be a lie.
pub(super) fn refuse_unbuilt(args: &CheckArgs) -> anyhow::Result<()> {
    let unbuilt = [(args.rules.slow_checks.as_deref() == Some("on"), "--slow-checks=on")];
    match unbuilt.into_iter().find(|(given, _)| *given) {
        Some((_, flag)) => Err(Failure::not_built(flag).into()),
        None => Ok(()),
    }
}

/// Refuses what can only be a mistake, before anything is read or written.
pub(super) fn refuse_nonsense(args: &CheckArgs) -> anyhow::Result<()> {
    let has_stdin = args.paths.iter().any(|path| path.as_os_str() == "-");
    if args.files.stdin_filename.is_some() && !has_stdin {
        return Err(Failure::new(
            "--stdin-filename is given, but standard input is not checked",
            "add `-` to the paths",
        )
        .into());
    }
    for (flag, patterns) in [("--select", &args.rules.select), ("--ignore", &args.rules.ignore)] {
        for pattern in patterns {
            match catalogue().oddity(pattern) {
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

/// What the flags say about the configuration.
pub(super) fn layer(args: &CheckArgs) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    let (rules, output, ai) = (&args.rules, &args.output, &args.ai);
    layer.flag_list("--select", "rules.include", &rules.select)?;
    layer.flag_list("--ignore", "rules.exclude", &rules.ignore)?;
    layer.flag_list("--exclude", "exclude", &args.files.exclude)?;
    layer.flag_list("--fix-rule", "fix-rule", &args.fixes.fix_rule)?;
    let said = |id, given| args.said(id, given).map(|is_on| is_on.to_string());
    let denies = |id, given| args.said(id, given).map(|is_on| (!is_on).to_string());
    let values = [
        ("--format", "output.format", output.format.map(|format| format.as_str().to_owned())),
        ("--output", "output.path", output.output.clone()),
        ("--show-source", "output.show-source", said("show_source", output.show_source)),
        (
            "--hide-source",
            "output.show-source",
            // Not hiding is no wish to show.
            output.hide_source.then(|| "false".to_owned()),
        ),
        ("--fail-level", "output.fail-level", output.fail_level.clone()),
        (
            "--no-inline-directives",
            "inline-directives.enabled",
            denies("no_inline_directives", rules.no_inline_directives),
        ),
        (
            "--warn-unused-directives",
            "inline-directives.warn-unused",
            said("warn_unused_directives", rules.warn_unused_directives),
        ),
        (
            "--require-reason",
            "inline-directives.require-reason",
            said("require_reason", rules.require_reason),
        ),
        ("--fix", "fix", said("fix", args.fixes.fix)),
        ("--fix-unsafe", "unsafe-fixes", said("fix_unsafe", args.fixes.fix_unsafe)),
        ("--shellcheck", "shellcheck.mode", rules.shellcheck.clone()),
        ("--slow-checks", "slow-checks.mode", rules.slow_checks.clone()),
        ("--slow-checks-timeout", "slow-checks.timeout", rules.slow_checks_timeout.clone()),
        (
            "--acp-command",
            "ai.enabled",
            // Whoever names an agent wants it asked, unless the same command line says no.
            (ai.acp_command.is_some()).then(|| "true".to_owned()),
        ),
        ("--ai", "ai.enabled", said("ai", ai.ai)),
        ("--acp-command", "ai.command", ai.acp_command.clone()),
        ("--ai-timeout", "ai.timeout", ai.ai_timeout.clone()),
        (
            "--ai-max-input-bytes",
            "ai.max-input-bytes",
            ai.ai_max_input_bytes.map(|bytes| bytes.to_string()),
        ),
        (
            "--ai-redact-secrets",
            "ai.redact-secrets",
            ai.ai_redact_secrets.map(|redact| redact.to_string()),
        ),
        ("--ai-sandbox", "ai.sandbox", ai.ai_sandbox.clone()),
        (
            "--context",
            "context",
            args.files.context.as_ref().map(|dir| dir.to_string_lossy().into_owned()),
        ),
    ];
    for (flag, key, value) in values {
        if let Some(value) = value {
            layer.flag(flag, key, &value)?;
        }
    }
    let max_lines = [
        ("--max-lines", "max", rules.max_lines.map(|lines| lines.to_string())),
        (
            "--skip-blank-lines",
            "skip-blank-lines",
            said("skip_blank_lines", rules.skip_blank_lines),
        ),
        ("--skip-comments", "skip-comments", said("skip_comments", rules.skip_comments)),
    ];
    for (flag, option, value) in max_lines {
        if let Some(value) = value {
            layer.flag_rule(&catalogue(), flag, ("tally/max-lines", option), &value)?;
        }
    }
    Ok(layer)
}

/// The rules that one configuration leaves in force, and the paths that each of them passes over.
pub(super) struct FileRules {
    pub(super) set: RuleSet,
    pub(super) secrets: Detector,
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
        config: &CheckConfig,
        shellcheck: impl FnOnce() -> anyhow::Result<Arc<ShellcheckProgram>>,
    ) -> anyhow::Result<Self> {
        let mut set = RuleSet::default();
        let mut program = None;
        match config.shellcheck.mode {
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
        for (rule, settings) in &config.rules.settings {
            for (option, value) in &settings.options {
                set.set_option(rule, option, &option_value(value));
            }
            match settings.severity {
                Some(severity) => set.set_severity(rule, severity.severity()),
                // A rule that is off by itself and is given options is meant to run.
                None if !settings.options.is_empty() => set.include(&[Pattern::new(rule.as_str())]),
                None => {}
            }
            modes.extend(settings.fix.map(|mode| (rule.clone(), fix_mode(mode))));
            if !settings.exclude_paths.is_empty() {
                excluded.push((rule.clone(), globs(&settings.exclude_paths)?));
            }
        }
        let selected = patterns(selected);
        if !selected.is_empty() {
            set.select(&selected);
        }
        let (ignored, excluded_rules): (Vec<_>, Vec<_>) = config
            .rules
            .exclude
            .iter()
            .partition(|item| matches!(item.origin, Origin::Flag { .. }));
        let mut excluded_rules = patterns(excluded_rules);
        if name == Name::Tally {
            let wanted = patterns(config.rules.include.iter().collect());
            excluded_rules = spare(&excluded_rules, &wanted);
        }
        set.ignore(&excluded_rules);
        set.ignore(&patterns(ignored));
        Ok(Self { set, secrets: detector(config)?, modes, shellcheck: program, excluded })
    }

    /// The rules that the configuration excludes for this path.
    pub(super) fn excluded_in(&self, path: &str) -> Vec<&str> {
        let here = self.excluded.iter().filter(|(_, globs)| globs.is_match(path));
        here.map(|(rule, _)| rule.as_str()).collect()
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
    let names = RULES.iter().map(|rule| rule.metadata().name);
    let caught = names.filter(|rule| matches(&wide, rule));
    // ShellCheck's findings are no rules of the registry.
    let shell = Pattern::new("shellcheck/*");
    let is_shell = |pattern: &Pattern| pattern.as_str() == "*" || *pattern == shell;
    let no_shell = wide.iter().copied().any(is_shell) && !included.iter().any(is_shell);
    let not_spared = caught.filter(|rule| !included.iter().any(|pattern| pattern.matches(rule)));
    let not_spared = not_spared.map(Pattern::new).chain(exact.into_iter().cloned());
    not_spared.chain(no_shell.then(|| shell.clone())).collect()
}

fn fix_mode(word: config::FixMode) -> FixMode {
    match word {
        config::FixMode::Never => FixMode::Never,
        config::FixMode::Explicit => FixMode::Explicit,
        config::FixMode::Always => FixMode::Always,
        config::FixMode::UnsafeOnly => FixMode::UnsafeOnly,
    }
}

/// What knows secrets, but for those that the configuration allows.
fn detector(config: &CheckConfig) -> anyhow::Result<Detector> {
    let settings = config.rules.settings.get("tally/secrets-in-code");
    let list = |name: &str| match settings.and_then(|settings| settings.options.get(name)) {
        Some(Value::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let options = probity_secrets::Options {
        allowed_values: list("allowed-values"),
        allowed_patterns: list("allowed-patterns"),
        allowed_kinds: list("allowed-kinds"),
    };
    Detector::new(&options).context("rules.tally.secrets-in-code")
}

fn option_value(value: &Value) -> OptionValue {
    match value {
        Value::Int(number) => OptionValue::Integer(*number),
        Value::Bool(switch) => OptionValue::Boolean(*switch),
        Value::List(items) => OptionValue::TextList(items.clone()),
        Value::Text(text) => OptionValue::Text(text.clone()),
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

/// The rules as the configuration needs to know them.
pub(crate) fn catalogue() -> Catalogue<'static> {
    // Made once for the whole run, and as static as the rules themselves.
    static RULES_KNOWN: LazyLock<Vec<RuleSchema>> = LazyLock::new(|| {
        RULES
            .iter()
            .map(|rule| {
                let metadata = rule.metadata();
                let options: Vec<OptionSchema> = metadata
                    .options
                    .iter()
                    .map(|option| OptionSchema {
                        name: option.name,
                        kind: match option.kind {
                            OptionKind::Integer => Kind::Int,
                            OptionKind::Boolean => Kind::Bool,
                            OptionKind::Text => Kind::String,
                            OptionKind::TextList => Kind::StringList,
                            OptionKind::OneOf(words) => Kind::OneOf(words),
                        },
                        doc: option.about,
                        default: option.default,
                    })
                    .collect();
                RuleSchema { name: metadata.name, equals: metadata.equals, options: options.leak() }
            })
            .chain(shell_codes().map(|code| RuleSchema {
                name: format!("shellcheck/SC{code:04}").leak(),
                equals: &[],
                options: &[],
            }))
            .collect()
    });
    static ALWAYS_ON: LazyLock<Vec<&str>> =
        LazyLock::new(|| rules::built_in().map(|(name, ..)| name).collect());
    Catalogue { rules: &RULES_KNOWN, elsewhere: ELSEWHERE, always_on: &ALWAYS_ON }
}

/// `--list-rules`: what would run here, and as what.
pub(super) fn list_rules(name: Name, config: &CheckConfig) -> anyhow::Result<Exit> {
    let rules = FileRules::new(name, config, || ShellcheckProgram::find(config))?;
    let mut out = std::io::stdout().lock();
    for (rule, choice) in rules.set.active(&[]) {
        writeln!(out, "{:<44} {}", rule.metadata().name, choice.severity)?;
    }
    Ok(Exit::Clean)
}
