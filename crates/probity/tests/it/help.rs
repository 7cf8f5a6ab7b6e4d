//! What a newcomer reads first.

use crate::binary::{named, probity};

#[test]
fn the_help_page_is_worth_reading() {
    let output = probity().run().code(0);
    for line in [
        "AI agents check and fix your code, and nothing they say counts until it is proven",
        "Usage: probity <COMMAND> [OPTIONS]",
        "Check and fix",
        "  check         Lint Dockerfiles and fix them; ask an agent for fixes that no rule can make",
        "Put agents to work",
        "Try",
    ] {
        assert!(output.stdout.lines().any(|shown| shown == line), "{line}\n{}", output.stdout);
    }
    assert!(output.stdout.lines().count() < 40, "it fits a screen");
    assert_eq!(output.stderr, "");
    assert_eq!(probity().args(["--help"]).run().code(0).stdout, output.stdout);
}

#[test]
fn every_command_explains_itself_with_an_example_or_says_that_it_is_not_built() {
    for command in [
        "check",
        "rules",
        "explain",
        "names",
        "config",
        "completions",
        "man",
        "agent",
        "audit",
        "exec",
        "doctor",
        "acp",
        "review",
        "demo",
        "lsp",
    ] {
        let help = probity().args([command, "--help"]).run().code(0).stdout;
        assert!(help.contains("Examples:"), "{command}:\n{help}");
    }
}

#[test]
fn wrong_flags_commands_and_values_suggest_the_nearest() {
    for (args, hint) in [
        (&["chek"][..], "'check'"),
        (&["check", "--formt", "json"], "'--format'"),
        (&["check", "--format", "jsn"], "'json'"),
        (&["check", "--fail-level", "warnin"], "'warning'"),
        (&["explain", "buildkit/StageNameCasin"], "buildkit/StageNameCasing"),
    ] {
        let output = probity().args(args).run().code(2);
        assert!(output.stderr.contains(hint), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn codes_of_shellcheck_are_explained_too() {
    for name in ["SC2086", "shellcheck/SC2086", "sc2154"] {
        let page = probity().args(["explain", name]).run().code(0).stdout;
        assert!(page.starts_with("# shellcheck/SC2"), "{page}");
        assert!(page.contains("https://www.shellcheck.net/wiki/SC2"), "{page}");
    }
    probity().args(["explain", "SC9999"]).run().code(2);
}

#[test]
fn defaults_are_told_with_the_flags() {
    let help = probity().args(["check", "--help"]).run().code(0).stdout;
    for default in ["text", "warning", "recommended", "native", "1m30s"] {
        assert!(help.contains(&format!("[default: {default}]")), "{default}\n{help}");
    }
    let tally = named("tally").args(["lint", "--help"]).run().code(0).stdout;
    assert!(tally.contains("[default: style]") && !tally.contains("--preset"), "{tally}");
}

#[test]
fn other_names_speak_their_own_language() {
    for (name, words) in [
        ("tally", &["tally lint", "lsp", "version"][..]),
        ("hadolint", &["--failure-threshold", "--trusted-registry", "hadolint Dockerfile"]),
        ("trix", &["init"]),
        ("cai", &["--acp", "exec", "doctor", "trust"]),
        ("acp-proxy", &["[AGENT]"]),
        ("ci-agent-review", &["gate", "SCORE_THRESHOLD"]),
    ] {
        let help = named(name).args(["--help"]).run().code(0).stdout;
        for word in words {
            assert!(help.contains(word), "{name} --help lacks {word}:\n{help}");
        }
    }
    assert!(!named("trix").args(["--help"]).run().stdout.contains("audit"), "the audit is hidden");
    let help = named("trix").args(["audit", "--help"]).run().code(0).stdout;
    assert!(help.contains("vulnerability") && help.contains("provider"), "{help}");
}

#[test]
fn what_a_name_does_not_offer_is_said() {
    for (name, args, says, code) in [
        ("tally", &["register-docker-plugin", "--dry-run"][..], "not offered", 2),
        ("trix", &["invoke", "x", "--y"], "not offered", 2),
        ("cai", &["shell"], "not offered", 2),
        ("cai", &[], "not offered", 2),
        ("tally", &["lint", "--no-such-flag"], "unexpected argument", 1),
        ("tally", &["nosuch"], "unrecognized subcommand", 1),
        ("tally", &["lint", "--max-lines", "abc"], "invalid value", 1),
        ("tally", &["lint", "--fix=maybe"], "invalid value", 1),
        ("tally", &["lint", "--format"], "a value is required", 1),
        ("tally", &["lint", "--format", "jsn"], "invalid value", 2),
        ("tally", &["lint", "--fail-level", "foo"], "invalid value", 2),
        ("probity", &["check", "--no-such-flag"], "unexpected argument", 2),
        ("hadolint", &["--no-such-flag"], "unexpected argument", 1),
        ("cai", &["exec"], "required", 1),
    ] {
        let output = named(name).args(args).run().code(code);
        assert!(output.stderr.contains(says), "{name} {args:?}: {}", output.stderr);
    }
}

#[test]
fn versions_completions_and_manuals_come_out() {
    assert!(probity().args(["--version"]).run().code(0).stdout.starts_with("probity 0."));
    let more = probity().args(["--version", "--verbose"]).run().code(0).stdout;
    let names: Vec<&str> =
        more.lines().filter_map(|line| line.split_once(':')).map(|it| it.0).collect();
    assert_eq!(names, ["commit", "features", "profile", "target"], "{more}");
    assert!(more.contains("linux"), "{more}");
    assert!(named("tally").args(["-v"]).run().code(0).stdout.starts_with("tally 0."));
    let json = named("tally").args(["version", "--json"]).run().code(0).stdout;
    assert!(
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["platform"]["os"].is_string()
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = probity().args(["completions", shell]).run().code(0).stdout;
        assert!(script.contains("explain"), "{shell}");
    }
    assert!(probity().args(["man"]).run().code(0).stdout.contains(".TH"));
    let dir = tempfile::tempdir().unwrap();
    probity().args(["man", "--dir"]).args([dir.path()]).run().code(0);
    for page in ["probity.1", "probity-check.1", "probity-names-list.1", "probity-agent-ask.1"] {
        assert!(dir.path().join(page).exists(), "{page}");
    }
    for page in std::fs::read_dir(dir.path()).unwrap() {
        let text = std::fs::read_to_string(page.unwrap().path()).unwrap().replace('\\', "");
        let named = text.lines().filter_map(|line| line.split_once("(1)")).map(|it| it.0);
        for name in named.filter(|name| name.starts_with("probity")) {
            assert!(dir.path().join(format!("{name}.1")).exists(), "{name}(1) is not written");
        }
    }
}
