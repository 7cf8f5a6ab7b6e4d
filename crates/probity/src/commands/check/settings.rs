//! From flags to a configuration layer, and from a configuration to the rules that run.

use std::{collections::BTreeMap, io::Write as _, sync::LazyLock};

use anyhow::Context as _;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use probity_finding::{Finding, Severity};
use probity_lint::{ELSEWHERE, FixMode, OptionKind, OptionValue, Pattern, RULES, RuleSet};
use probity_secrets::Detector;

use crate::{
    cli::check::CheckArgs,
    config::{
        self, Catalogue, CheckConfig, ConfigError, Kind, Layer, OptionSchema, Origin, RuleSchema,
        Sourced, Value,
    },
    exit::Exit,
    failure::Failure,
    name::Name,
};

/// Flags of the design whose work this version cannot do yet; doing nothing would be a lie.
pub(super) fn refuse_unbuilt(args: &CheckArgs) -> anyhow::Result<()> {
    let unbuilt = [
        (args.fixes.fix_ai, "--fix-ai"),
        (args.ai.ai, "--ai"),
        (args.ai.acp_command.is_some(), "--acp-command"),
        (args.rules.slow_checks.as_deref() == Some("on"), "--slow-checks=on"),
    ];
    match unbuilt.into_iter().find(|(given, _)| *given) {
        Some((_, flag)) => Err(Failure::not_built(flag).into()),
        None => Ok(()),
    }
}

/// What the flags say about the configuration.
pub(super) fn layer(args: &CheckArgs) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    let (rules, output, ai) = (&args.rules, &args.output, &args.ai);
    layer.flag_list("--select", "rules.include", &rules.select)?;
    layer.flag_list("--ignore", "rules.exclude", &rules.ignore)?;
    layer.flag_list("--exclude", "exclude", &args.files.exclude)?;
    layer.flag_list("--fix-rule", "fix-rule", &args.fixes.fix_rule)?;
    let on = |given: bool, word: &'static str| given.then(|| word.to_owned());
    let values = [
        ("--format", "output.format", output.format.map(|format| format.as_str().to_owned())),
        ("--output", "output.path", output.output.clone()),
        ("--show-source", "output.show-source", on(output.show_source, "true")),
        ("--hide-source", "output.show-source", on(output.hide_source, "false")),
        ("--fail-level", "output.fail-level", output.fail_level.clone()),
        (
            "--no-inline-directives",
            "inline-directives.enabled",
            on(rules.no_inline_directives, "false"),
        ),
        (
            "--warn-unused-directives",
            "inline-directives.warn-unused",
            on(rules.warn_unused_directives, "true"),
        ),
        ("--require-reason", "inline-directives.require-reason", on(rules.require_reason, "true")),
        ("--fix", "fix", on(args.fixes.fix, "true")),
        ("--fix-unsafe", "unsafe-fixes", on(args.fixes.fix_unsafe, "true")),
        ("--slow-checks", "slow-checks.mode", rules.slow_checks.clone()),
        ("--slow-checks-timeout", "slow-checks.timeout", rules.slow_checks_timeout.clone()),
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
        ("--skip-blank-lines", "skip-blank-lines", on(rules.skip_blank_lines, "true")),
        ("--skip-comments", "skip-comments", on(rules.skip_comments, "true")),
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
    excluded: Vec<(String, GlobSet)>,
}

impl FileRules {
    pub(super) fn new(name: Name, config: &CheckConfig) -> anyhow::Result<Self> {
        let mut set = RuleSet::default();
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
            for pattern in selected.iter().filter(|pattern| !is_of_any_rule(pattern)) {
                tracing::warn!("--select {}: no rule here has that name", pattern.as_str());
            }
            set.select(&selected);
        }
        set.ignore(&patterns(config.rules.exclude.iter().collect()));
        Ok(Self { set, secrets: detector(config)?, modes, excluded })
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

fn is_of_any_rule(pattern: &Pattern) -> bool {
    RULES.iter().any(|rule| pattern.matches(rule.metadata().name))
}

fn option_value(value: &Value) -> OptionValue {
    match value {
        Value::Int(number) => OptionValue::Integer(*number),
        Value::Bool(switch) => OptionValue::Boolean(*switch),
        Value::List(items) => OptionValue::TextList(items.clone()),
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
                RuleSchema { name: metadata.name, options: options.leak() }
            })
            .collect()
    });
    Catalogue { rules: &RULES_KNOWN, elsewhere: ELSEWHERE }
}

/// `--list-rules`: what would run here, and as what.
pub(super) fn list_rules(name: Name, config: &CheckConfig) -> anyhow::Result<Exit> {
    let rules = FileRules::new(name, config)?;
    let mut out = std::io::stdout().lock();
    for (rule, choice) in rules.set.active(&[]) {
        writeln!(out, "{:<44} {}", rule.metadata().name, choice.severity)?;
    }
    Ok(Exit::Clean)
}
