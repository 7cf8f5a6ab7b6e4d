//! What the whole of a configuration looks like, printed and typed.

use super::{CATALOGUE, effective, file, own_file};
use crate::config::{key::Dialect, table::SECTIONS};

#[test]
fn the_printed_configuration_lists_everything_with_its_origin() {
    let text = "unsafe-fixes = true\n[rules.tally.'labels/prefer-grouped']\nmin-labels = 5\n\
                [rules.hadolint.DL9999]\nseverity = 'off'\n[output]\npath = 'a\"b'";
    let flags = [("--select", "check.rules.include", "tally/*"), ("--fix", "check.fix", "true")];
    let (config, _) = effective(
        text,
        &[
            ("TALLY_RULES_SELECT", "x"),
            ("TALLY_AI_TIMEOUT", "2m"),
            ("TALLY_AI_REDACT_SECRETS", "0"),
        ],
        &flags,
    );
    let printed = config.print(&CATALOGUE, Dialect::Tally, &["check", "ai"]);
    file(&printed).expect("what is printed is a file again");
    insta::assert_snapshot!(printed, @r###"
# no configuration file
unsafe-fixes = true  # from tally.toml:1

[output]
format = "text"  # from default
path = 'a"b'  # from tally.toml:7
show-source = true  # from default
fail-level = "warning"  # from default

[rules]
include = ["x", "tally/*"]  # from TALLY_RULES_SELECT, --select
exclude = []  # from default

[inline-directives]
enabled = true  # from default
validate-rules = false  # from default
warn-unused = false  # from default
require-reason = false  # from default

[file-validation]
max-file-size = 0  # from default

[slow-checks]
mode = "auto"  # from default
timeout = "20s"  # from default
fail-fast = true  # from default

[shellcheck]
mode = "native"  # from default
timeout = "1m"  # from default

[ai]
enabled = false  # from default
# command is not set
# agent is not set
# provider is not set
# endpoint is not set
# model is not set
# api-key-env is not set
timeout = "2m"  # from TALLY_AI_TIMEOUT
max-input-bytes = 262144  # from default
secrets-policy = "allow"  # from TALLY_AI_REDACT_SECRETS
autofix-output = "patch"  # from default
redact-secrets = false  # from TALLY_AI_REDACT_SECRETS
max-rounds = 2  # from default
sandbox = "auto"  # from default
context = "none"  # from default

[rules.hadolint.DL3026]
trusted-registries = []  # from default

[rules.hadolint.DL4001]
fix-preference = "auto"  # from default

[rules.hadolint.DL9999]
severity = "off"  # from tally.toml:5

[rules.tally."labels/prefer-grouped"]
min-labels = 5  # from tally.toml:3

[rules.tally.max-lines]
max = 50  # from default
skip-blank-lines = true  # from default
skip-comments = true  # from default

# set by flags and variables only
# check.fix-level is not set
# check.fix = true  # from --fix
# check.fix-rule = []  # from default
# check.exclude = []  # from default
# check.context is not set
"###);
}

#[test]
fn what_is_printed_is_a_file_of_ours_again() {
    let text = "[ai.agents.'a b']\ncommand = ['x']\n[rules.tally.'labels/prefer-grouped']\n\
                min-labels = 5";
    let (settings, _) = effective(
        text,
        &[
            ("PROBITY_REVIEW__DATABASE_URL", "postgres://me:pass@host/x"),
            ("PROBITY_REVIEW__BUDGET", "2"),
        ],
        &[("--jobs", "audit.jobs", "3")],
    );
    let page = settings.print(&CATALOGUE, Dialect::Probity, SECTIONS);
    let (layer, _) = own_file(&page).unwrap_or_else(|error| panic!("{error}\n{page}"));
    assert_eq!(layer.settings["audit.jobs"].value.plain(), "3");
    assert!(!page.contains("pass") && page.contains("[ai.agents.\"a b\"]"), "{page}");
    assert!(page.contains("budget = 2.0  # from PROBITY_REVIEW__BUDGET"), "{page}");
    let json = settings.to_json(&CATALOGUE, SECTIONS);
    assert_eq!(json["settings"]["audit.jobs"]["origin"], "--jobs");
    assert_eq!(json["settings"]["review.database-url"]["value"], "***");
    assert_eq!(json["settings"]["ai.agents.a b.command"]["value"][0], "x");
    for key in crate::config::table::keys() {
        assert!(json["settings"].get(key.path).is_some(), "{} is not shown", key.path);
    }
}

#[test]
fn every_typed_value_follows_its_key() {
    let (config, _) = effective(
        "unsafe-fixes = true\nfile-validation.max-file-size = 9\n[output]\nformat = 'junit'\n\
         path = 'p'\nshow-source = false\nfail-level = 'none'\n[inline-directives]\n\
         enabled = false\nvalidate-rules = true\nwarn-unused = true\nrequire-reason = true\n[ai]\n\
         enabled = true\ncommand = ['c']\ntimeout = '1s'\nmax-input-bytes = 1\n\
         secrets-policy = 'allow'\nautofix-output = 'dockerfile'\nmax-rounds = 4\n\
         sandbox = 'podman'\ncontext = 'snapshot'\n[slow-checks]\nmode = 'on'\ntimeout = '3s'\n\
         fail-fast = false\n[shellcheck]\nmode = 'off'\ntimeout = '2s'",
        &[
            ("TALLY_FIX", "1"),
            ("TALLY_FIX_RULE", "r"),
            ("TALLY_EXCLUDE", "e"),
            ("TALLY_CONTEXT", "d"),
        ],
        &[],
    );
    insta::assert_debug_snapshot!((config.check, config.ai), @r###"
(
    Check {
        preset: Recommended,
        unsafe_fixes: Some(
            true,
        ),
        fix_level: None,
        fix: true,
        fix_rule: [
            "r",
        ],
        exclude: [
            "e",
        ],
        context: Some(
            "d",
        ),
        baseline: None,
        rule: OwnRules(
            [],
        ),
        output: Output {
            format: Junit,
            path: "p",
            show_source: false,
            fail_level: None,
        },
        rules: RuleChoice {
            include: [],
            exclude: [],
        },
        inline_directives: InlineDirectives {
            enabled: false,
            validate_rules: true,
            warn_unused: true,
            require_reason: true,
        },
        file_validation: FileValidation {
            max_file_size: 9,
        },
        slow_checks: SlowChecks {
            mode: On,
            timeout: 3s,
            fail_fast: false,
            mirrors: [],
            insecure_registries: [],
        },
        shellcheck: Shellcheck {
            mode: Off,
            timeout: 2s,
        },
    },
    Ai {
        enabled: true,
        command: Some(
            [
                "c",
            ],
        ),
        agent: None,
        provider: None,
        endpoint: None,
        model: None,
        api_key_env: None,
        timeout: 1s,
        max_input_bytes: 1,
        secrets_policy: Allow,
        autofix_output: Dockerfile,
        redact_secrets: None,
        max_rounds: 4,
        sandbox: Podman,
        context: Snapshot,
        context_ignored: false,
        proof: Auto,
        proof_required: Static,
        proof_pull: false,
        proof_network: false,
        proof_timeout: 600s,
        proof_seconds: 5,
        proof_command: None,
        proof_build_args: [],
        proof_target: None,
        proof_platform: None,
        proof_disk: Bytes(
            21474836480,
        ),
    },
)
"###);
}
