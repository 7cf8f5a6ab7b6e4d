//! The configuration that holds for one file, typed, with every value's origin kept for printing.

mod merge;

use std::{collections::BTreeMap, path::Path, path::PathBuf, sync::Arc, time::Duration};

use probity_seat::Sandbox;

use self::merge::Merged;
use super::{
    layer::Layer,
    value::{Origin, Sourced, Value},
    words::{
        AiContext, AutofixOutput, FailLevel, FixMode, RuleSeverity, SecretsPolicy, ShellcheckMode,
        SlowChecksMode,
    },
};

/// Everything that `check` is told about one file.
#[derive(Clone, Debug)]
pub(crate) struct CheckConfig {
    /// The configuration file that was used, as messages show it.
    pub(crate) file: Option<Arc<Path>>,
    pub(crate) output: Output,
    pub(crate) rules: Rules,
    pub(crate) inline_directives: InlineDirectives,
    pub(crate) ai: Ai,
    /// None when nobody said anything.
    pub(crate) unsafe_fixes: Option<bool>,
    /// None when there is no limit.
    pub(crate) max_file_size: Option<u64>,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by registry look-ups, which are not built yet")
    )]
    pub(crate) slow_checks: SlowChecks,
    pub(crate) shellcheck: Shellcheck,
    pub(crate) run: Run,
    pub(super) merged: Merged,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    /// One of the names in the table of keys.
    pub(crate) format: String,
    /// `stdout`, `stderr` or a path.
    pub(crate) path: String,
    pub(crate) show_source: bool,
    pub(crate) fail_level: FailLevel,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rules {
    /// From the weakest source to the strongest. The origin tells patterns of the command line,
    /// which restrict, from those of a file, which add.
    pub(crate) include: Vec<Sourced<String>>,
    pub(crate) exclude: Vec<Sourced<String>>,
    /// By full name; rules that nobody spoke of are absent.
    pub(crate) settings: BTreeMap<String, RuleSettings>,
}

/// What was said about one rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RuleSettings {
    pub(crate) severity: Option<RuleSeverity>,
    pub(crate) fix: Option<FixMode>,
    /// Globs, all of them valid.
    pub(crate) exclude_paths: Vec<String>,
    /// Only what was set; defaults are the rule's own business.
    pub(crate) options: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InlineDirectives {
    pub(crate) enabled: bool,
    pub(crate) validate_rules: bool,
    pub(crate) warn_unused: bool,
    pub(crate) require_reason: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ai {
    pub(crate) enabled: bool,
    /// Empty when none is set; that of the chosen agent's table where there is one.
    pub(crate) command: Vec<String>,
    /// An agent chosen by name that has no table here; whoever knows agents knows its command.
    pub(crate) agent: Option<String>,
    /// Whether a file, and neither a flag nor a variable, says who is asked.
    pub(crate) is_from_file: bool,
    pub(crate) timeout: Duration,
    pub(crate) max_input_bytes: u64,
    pub(crate) secrets_policy: SecretsPolicy,
    pub(crate) autofix_output: AutofixOutput,
    pub(crate) max_rounds: u64,
    pub(crate) sandbox: Sandbox,
    pub(crate) context: AiContext,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlowChecks {
    pub(crate) mode: SlowChecksMode,
    pub(crate) timeout: Duration,
    pub(crate) fail_fast: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shellcheck {
    pub(crate) mode: ShellcheckMode,
    pub(crate) timeout: Duration,
}

/// What only a flag or a variable can say, since it is about the run and not about a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) fix: bool,
    pub(crate) fix_rules: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) context: Option<PathBuf>,
}

/// Lays the layers over the defaults, the last one on top.
pub(crate) fn resolve(layers: &[&Layer], file: Option<Arc<Path>>) -> (CheckConfig, Vec<String>) {
    let mut merged = Merged::new(layers);
    let mut warnings = Vec::new();
    let agent = merged.take_agent().map(|name| beside_its_file(&merged, name));
    apply_deprecated_policy(&mut merged, &mut warnings);
    let ai = Ai {
        enabled: merged.bool("ai.enabled"),
        command: merged.list("ai.command"),
        is_from_file: {
            let key = if agent.is_some() { "ai.agent" } else { "ai.command" };
            matches!(merged.origin(key), Origin::File { .. })
        },
        agent,
        timeout: merged.duration("ai.timeout"),
        max_input_bytes: merged.int("ai.max-input-bytes"),
        secrets_policy: merged
            .word("ai.secrets-policy", SecretsPolicy::from_word)
            .unwrap_or(SecretsPolicy::Deny),
        autofix_output: merged
            .word("ai.autofix-output", AutofixOutput::from_word)
            .unwrap_or(AutofixOutput::Patch),
        max_rounds: merged.int("ai.max-rounds"),
        sandbox: merged.word("ai.sandbox", |word| word.parse().ok()).unwrap_or(Sandbox::Auto),
        context: merged.word("ai.context", AiContext::from_word).unwrap_or(AiContext::None),
    };
    if ai.enabled && ai.command.is_empty() && ai.agent.is_none() {
        let origin = merged.origin("ai.enabled");
        warnings.push(format!(
            "{origin}: AI fixes are enabled, but neither `ai.command` nor `ai.agent` is set; they \
             will be skipped"
        ));
    }
    let config = CheckConfig {
        file,
        output: Output {
            format: merged.text("output.format").unwrap_or_default(),
            path: merged.text("output.path").unwrap_or_default(),
            show_source: merged.bool("output.show-source"),
            fail_level: merged
                .word("output.fail-level", FailLevel::from_word)
                .unwrap_or(FailLevel::Style),
        },
        rules: Rules {
            include: merged.appended("rules.include"),
            exclude: merged.appended("rules.exclude"),
            settings: merged.rule_settings(),
        },
        inline_directives: InlineDirectives {
            enabled: merged.bool("inline-directives.enabled"),
            validate_rules: merged.bool("inline-directives.validate-rules"),
            warn_unused: merged.bool("inline-directives.warn-unused"),
            require_reason: merged.bool("inline-directives.require-reason"),
        },
        ai,
        unsafe_fixes: merged.setting("unsafe-fixes").map(|_| merged.bool("unsafe-fixes")),
        max_file_size: Some(merged.int("file-validation.max-file-size")).filter(|&size| size > 0),
        slow_checks: SlowChecks {
            mode: merged
                .word("slow-checks.mode", SlowChecksMode::from_word)
                .unwrap_or(SlowChecksMode::Auto),
            timeout: merged.duration("slow-checks.timeout"),
            fail_fast: merged.bool("slow-checks.fail-fast"),
        },
        shellcheck: Shellcheck {
            mode: merged
                .word("shellcheck.mode", ShellcheckMode::from_word)
                .unwrap_or(ShellcheckMode::Native),
            timeout: merged.duration("shellcheck.timeout"),
        },
        run: Run {
            fix: merged.bool("fix"),
            fix_rules: merged.list("fix-rule"),
            exclude: merged.list("exclude"),
            context: merged.text("context").map(PathBuf::from),
        },
        merged,
    };
    (config, warnings)
}

/// A recording that a file names lies where the file lies.
fn beside_its_file(merged: &Merged, name: String) -> String {
    let Origin::File { path, .. } = merged.origin("ai.agent") else { return name };
    match (name.strip_prefix("replay:").map(Path::new), path.parent()) {
        (Some(recording), Some(directory)) => {
            format!("replay:{}", directory.join(recording.as_os_str()).display())
        }
        _ => name,
    }
}

/// Lets the deprecated key mean what it meant, unless the policy itself was set.
fn apply_deprecated_policy(merged: &mut Merged, warnings: &mut Vec<String>) {
    let Some(Sourced { value, origin }) = merged.setting("ai.redact-secrets").cloned() else {
        return;
    };
    let meant = if value == Value::Bool(false) { "allow" } else { "deny" };
    let is_overruled = *merged.origin("ai.secrets-policy") != Origin::Default;
    let effect = if is_overruled { " and has no effect beside `ai.secrets-policy`" } else { "" };
    warnings.push(format!(
        "{origin}: `ai.redact-secrets` is deprecated{effect}; use `ai.secrets-policy = \"{meant}\"`"
    ));
    if !is_overruled {
        merged.imply("ai.secrets-policy", Value::Text(meant.to_owned()), origin);
    }
}
