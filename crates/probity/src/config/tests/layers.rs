//! Which layer wins, what is remembered of it, and what is printed.

use probity_autofix::SecretsPolicy;
use probity_lint::FixMode;

use super::{CATALOGUE, effective, key};
use crate::config::{
    key::{self as keys, Dialect},
    layer::Layer,
    settings::Settings,
    value::Origin,
    word::Word as _,
    words::{RuleSeverity, Sandbox},
};

fn printed(settings: &Settings) -> String {
    settings.print(&CATALOGUE, Dialect::Tally, &["check", "ai"])
}

#[test]
fn flags_beat_variables_beat_the_file_beats_defaults() {
    let file = "output.format = 'json'";
    let variable = [("TALLY_FORMAT", "sarif")];
    let flag = [("--format", "check.output.format", "gnu")];
    for (text, variables, flags, format, origin) in [
        ("", &[][..], &[][..], "text", "default"),
        (file, &[], &[], "json", "tally.toml:1"),
        (file, &variable, &[], "sarif", "TALLY_FORMAT"),
        (file, &variable, &flag, "gnu", "--format"),
        (file, &[], &flag, "gnu", "--format"),
    ] {
        let (config, _) = effective(text, variables, flags);
        assert_eq!(config.check.output.format.word(), format);
        let line = format!("format = \"{format}\"  # from {origin}\n");
        assert!(printed(&config).contains(&line), "{line}");
    }
}

#[test]
fn patterns_of_rules_add_up() {
    let (mut config, _) = effective(
        "rules.include = ['tally/*']",
        &[("TALLY_RULES_SELECT", "a,b")],
        &[("--select", "check.rules.include", "c")],
    );
    let include = std::mem::take(&mut config.check.rules.include);
    let include: Vec<String> =
        include.into_iter().map(|item| format!("{} {}", item.value, item.origin)).collect();
    assert_eq!(
        include,
        ["tally/* tally.toml:1", "a TALLY_RULES_SELECT", "b TALLY_RULES_SELECT", "c --select"]
    );
}

#[test]
fn rules_are_merged_option_by_option() {
    let text = "[rules.tally.max-lines]\nmax = 1\nskip-comments = false\nseverity = 'off'\n\
                fix = 'explicit'\nexclude.paths = ['x/**']";
    let (config, _) = effective(text, &[("TALLY_RULES_MAX_LINES_MAX", "2")], &[]);
    let settings = &config.rules["tally/max-lines"];
    assert_eq!(settings.severity, Some(RuleSeverity::Off));
    assert_eq!(settings.fix, Some(FixMode::Explicit));
    assert_eq!(settings.exclude_paths, ["x/**"]);
    let options: Vec<String> =
        settings.options.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    assert_eq!(options, ["max = 2", "skip-comments = false"]);
}

#[test]
fn the_agents_table_stands_in_for_keys_of_ai() {
    let table = "[ai.agents.mine]\ncommand = ['mine']\ntimeout = '5s'\n";
    let agent = "[ai]\nagent = 'mine'\ncommand = ['plain']\ntimeout = '7s'\n";
    let unknown = "[ai]\nagent = 'claude'\ncommand = ['plain']\n";
    for (text, variables, flags, command, name, seconds) in [
        (agent, &[][..], &[][..], "mine", None, 5),
        ("ai.command = ['plain']\n", &[("TALLY_AI_AGENT", "mine")], &[], "mine", None, 5),
        (agent, &[("TALLY_AI_TIMEOUT", "9s")], &[], "mine", None, 9),
        (agent, &[("TALLY_AI_COMMAND", "env")], &[], "env", None, 7),
        (agent, &[("TALLY_AI_COMMAND", "env")], &[("--a", "ai.agent", "mine")], "mine", None, 5),
        (agent, &[], &[("--acp-command", "ai.command", "flag")], "flag", None, 7),
        (unknown, &[], &[], "", Some("claude"), 90),
    ] {
        let (config, _) = effective(&format!("{text}{table}"), variables, flags);
        assert_eq!(
            config.ai.command.unwrap_or_default().join(" "),
            command,
            "{text} {variables:?} {flags:?}"
        );
        assert_eq!(config.ai.agent.as_deref(), name, "{text} {variables:?} {flags:?}");
        assert_eq!(config.ai.timeout.as_secs(), seconds, "{text} {variables:?} {flags:?}");
    }
}

#[test]
fn ai_warns_about_what_will_not_work() {
    for (text, variables, expected) in [
        ("", &[][..], &[][..]),
        ("ai.enabled = true\nai.command = ['x']", &[], &[]),
        ("ai.enabled = true\nai.agent = 'claude'", &[], &[]),
        ("ai.enabled = true\nai.provider = 'ollama'", &[], &[]),
        (
            "\nai.enabled = true",
            &[],
            &["tally.toml:2: AI fixes are enabled, but none of `ai.provider`, `ai.command` and \
               `ai.agent` is set, so probity skips them; `--ai-provider NAME` or `--acp-command \
               COMMAND` sets one"],
        ),
        (
            "",
            &[("TALLY_AI_REDACT_SECRETS", "0")],
            &["TALLY_AI_REDACT_SECRETS: `ai.redact-secrets` is deprecated; use \
               `ai.secrets-policy = \"allow\"`"],
        ),
        (
            "ai.redact-secrets = true\nai.secrets-policy = 'tokenize'",
            &[],
            &["tally.toml:1: `ai.redact-secrets` is deprecated and has no effect beside \
               `ai.secrets-policy`; use `ai.secrets-policy = \"deny\"`"],
        ),
    ] {
        let (_, warnings) = effective(text, variables, &[]);
        assert_eq!(warnings, expected, "{text}");
    }
}

#[test]
fn the_deprecated_key_means_a_policy() {
    for (text, policy) in [
        ("", SecretsPolicy::Deny),
        ("ai.redact-secrets = true", SecretsPolicy::Deny),
        ("ai.redact-secrets = false", SecretsPolicy::Allow),
        ("ai.redact-secrets = false\nai.secrets-policy = 'deny'", SecretsPolicy::Deny),
        ("ai.secrets-policy = 'tokenize'", SecretsPolicy::Tokenize),
    ] {
        assert_eq!(effective(text, &[], &[]).0.ai.secrets_policy, policy, "{text}");
    }
}

#[test]
fn only_a_flag_or_a_variable_takes_the_sandbox_away() {
    let text = "ai.sandbox = 'none'";
    let flag = [("--ai-sandbox", "ai.sandbox", "none")];
    for (variables, flags, sandbox) in [
        (&[][..], &[][..], Sandbox::Auto),
        (&[("TALLY_AI_SANDBOX", "none")], &[], Sandbox::None),
        (&[], &flag, Sandbox::None),
    ] {
        assert_eq!(effective(text, variables, flags).0.ai.sandbox, sandbox);
    }
}

#[test]
fn flags_are_checked_like_variables() {
    let mut flags = Layer::default();
    let origin = |name: &str| Origin::Flag { name: name.to_owned() };
    for (result, expected) in [
        (
            flags.parse(key("check.output.format"), "x", origin("--format")),
            "--format: `x` is not a valid value",
        ),
        (
            flags.flag_rule(&CATALOGUE, "--max-lines", ("tally/max-lines", "max"), "-1"),
            "--max-lines: -1 is not a whole number from zero on",
        ),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn other_defaults_are_still_defaults() {
    let mut tally = Layer::default();
    tally.set(&keys::check::file_validation::max_file_size, &102_400, Origin::Default);
    let (config, _) = crate::config::resolve(&[&tally], Vec::new());
    assert_eq!(config.check.file_validation.max_file_size, 102_400);
    assert!(printed(&config).contains("max-file-size = 102400  # from default"));
}
