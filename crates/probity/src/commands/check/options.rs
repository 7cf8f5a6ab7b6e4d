//! From settings to what files are checked with.

use std::path::Path;

use probity_check::{
    AiOptions, CheckOptions, FixChoice, RuleOptions, RuleStart, SingleRule, SlowCheckOptions,
};
use probity_finding::Applicability;
use probity_lint::{DirectiveOptions, OptionValue};

use super::Options;
use crate::{
    config::{
        Choice, Configs, Layer, Origin, RuleSettings, Settings, Sourced, Sources, Value, key,
        secret_mounts, table,
        words::{AiContext, Proof},
    },
    name::Name,
};

pub(super) fn configs(options: &Options, directory: &Path) -> anyhow::Result<Configs<'static>> {
    configs_of(options.name, options.choice.clone(), options.flags.clone(), directory)
}

/// What holds for the files below a directory.
pub(crate) fn configs_of(
    name: Name,
    choice: Choice,
    flags: Layer,
    directory: &Path,
) -> anyhow::Result<Configs<'static>> {
    let mut defaults = Layer::default();
    for key in table::keys() {
        if let Some(text) = key.default_under(name) {
            defaults.parse(key, text, Origin::Default)?;
        }
    }
    let here = Sources::here(name, &["check", "ai"], directory, flags);
    Ok(Configs::new(Sources { choice, defaults, ..here })?)
}

/// What the settings of a file say about checking it.
pub(crate) fn check_options(name: Name, config: &Settings) -> CheckOptions {
    let check = &config.check;
    let directives = &check.inline_directives;
    let slow = &check.slow_checks;
    CheckOptions {
        rules: rule_options(name, config),
        directives: DirectiveOptions {
            enabled: directives.enabled,
            validate_rules: directives.validate_rules,
            warn_unused: directives.warn_unused,
            require_reason: directives.require_reason,
        },
        max_file_size: check.file_validation.max_file_size,
        context: check.context.clone(),
        fail_from: check.output.fail_level.severity(),
        slow_checks: SlowCheckOptions {
            mode: slow.mode,
            timeout: slow.timeout,
            fail_fast: slow.fail_fast,
            mirrors: slow.mirrors.clone(),
            insecure_registries: slow.insecure_registries.clone(),
        },
        fixes: FixChoice { ceiling: ceiling(config), only: check.fix_rule.clone() },
        ai: ai_options(config),
    }
}

/// The least safe fixes that a run applies.
fn ceiling(config: &Settings) -> Applicability {
    let by_switch = match config.check.unsafe_fixes {
        Some(true) => Applicability::Unsafe,
        Some(false) | None => Applicability::Safe,
    };
    config.check.fix_level.unwrap_or(by_switch)
}

fn ai_options(config: &Settings) -> AiOptions {
    let ai = &config.ai;
    // Most runs of `--fix-unsafe` should not build an image, so that `auto` is for agents alone.
    let is_asked_for = *config.merged.origin(&key::ai::proof.key) != Origin::Default;
    AiOptions {
        is_enabled: ai.enabled,
        sees_context: ai.context != AiContext::None,
        proves_rules: is_asked_for && ai.proof != Proof::Static,
        session: probity_autofix::Settings {
            expect: ai.autofix_output,
            secrets: ai.secrets_policy,
            timeout: ai.timeout,
            max_input_bytes: ai.max_input_bytes,
            max_rounds: ai.max_rounds,
        },
    }
}

fn rule_options(name: Name, config: &Settings) -> RuleOptions {
    let check = &config.check;
    let (selected, included) = by_flag(&check.rules.include);
    let (ignored, excluded) = by_flag(&check.rules.exclude);
    RuleOptions {
        start: match name {
            Name::Tally => RuleStart::Tally,
            _ => RuleStart::Preset(check.preset),
        },
        own: check.rule.read(),
        shellcheck: check.shellcheck.mode,
        shellcheck_timeout: check.shellcheck.timeout,
        included,
        selected,
        excluded,
        ignored,
        single: config.rules.iter().map(|(rule, said)| (rule.clone(), single_rule(said))).collect(),
        allowed_secrets: allowed_secrets(config, |_| true),
        sendable_secrets: allowed_secrets(config, |origin| !origin.is_repository()),
    }
}

/// What the command line says, and what others say.
fn by_flag(items: &[Sourced<String>]) -> (Vec<String>, Vec<String>) {
    let (flags, others): (Vec<_>, Vec<_>) =
        items.iter().partition(|item| matches!(item.origin, Origin::Flag { .. }));
    let names = |items: Vec<&Sourced<String>>| -> Vec<String> {
        items.into_iter().map(|item| item.value.clone()).collect()
    };
    (names(flags), names(others))
}

fn single_rule(said: &RuleSettings) -> SingleRule {
    let options = said.options.iter().map(|(name, value)| (name.clone(), option_value(value)));
    SingleRule {
        severity: said.severity,
        fix: said.fix,
        exclude_paths: said.exclude_paths.clone(),
        options: options.collect(),
    }
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
