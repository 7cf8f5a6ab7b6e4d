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
    let answers = [
        &["chek"][..],
        &["check", "--formt", "json"],
        &["check", "--format", "jsn"],
        &["check", "--fail-level", "warnin"],
        &["explain", "buildkit/StageNameCasin"],
    ]
    .map(|args| format!("{args:?}\n{}", probity().args(args).run().code(2).stderr));
    insta::assert_snapshot!(answers.join("\n"), @r#"
    ["chek"]
    error: unrecognized subcommand 'chek'

      tip: a similar subcommand exists: 'check'

    Usage: probity [OPTIONS] [COMMAND]

    For more information, try 'probity --help'.

    ["check", "--formt", "json"]
    error: unexpected argument '--formt' found

      tip: a similar argument exists: '--format'

    Usage: probity check [OPTIONS] [PATH]...

    For more information, try 'probity check --help'.

    ["check", "--format", "jsn"]
    error: invalid value 'jsn' for '--format <FORMAT>'
      [possible values: text, json, sarif, github-actions, markdown, checkstyle, codeclimate, gitlab, junit, gnu, sonarqube]

      tip: a similar value exists: 'json'

    For more information, try 'probity check --help'.

    ["check", "--fail-level", "warnin"]
    error: invalid value 'warnin' for '--fail-level <LEVEL>'
      [possible values: error, warning, info, style, none]

      tip: a similar value exists: 'warning'

    For more information, try 'probity check --help'.

    ["explain", "buildkit/StageNameCasin"]
    error: unknown rule `buildkit/StageNameCasin`
      help: did you mean `buildkit/StageNameCasing`? `probity rules` lists them all
    "#);
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
    let answers = [
        ("tally", &["register-docker-plugin", "--dry-run"][..], 2),
        ("trix", &["invoke", "x", "--y"], 2),
        ("cai", &["shell"], 2),
        ("cai", &[], 2),
        ("tally", &["lint", "--no-such-flag"], 1),
        ("tally", &["nosuch"], 1),
        ("tally", &["lint", "--max-lines", "abc"], 1),
        ("tally", &["lint", "--fix=maybe"], 1),
        ("tally", &["lint", "--format"], 1),
        ("tally", &["lint", "--format", "jsn"], 2),
        ("tally", &["lint", "--fail-level", "foo"], 2),
        ("probity", &["check", "--no-such-flag"], 2),
        ("hadolint", &["--no-such-flag"], 1),
        ("cai", &["exec"], 1),
    ]
    .map(|(name, args, code)| {
        let output = named(name).args(args).run().code(code);
        format!("$ {name} {}\n{}", args.join(" "), output.stderr)
    });
    insta::assert_snapshot!(answers.join("\n"), @"
    $ tally register-docker-plugin --dry-run
    error: `tally register-docker-plugin` is not offered by probity
      help: `tally --help` lists what is; for the rest, keep the original tally

    $ trix invoke x --y
    error: `trix invoke` is not offered by probity
      help: `trix --help` lists what is; for the rest, keep the original trix

    $ cai shell
    error: `cai shell` is not offered by probity
      help: `cai --help` lists what is; for the rest, keep the original cai

    $ cai 
    error: `cai` alone, which opens a shell in the original, is not offered by probity
      help: `cai --help` lists what is; `cai exec -- sh` runs a shell in the workspace's container

    $ tally lint --no-such-flag
    error: unexpected argument '--no-such-flag' found

      tip: a similar argument exists: '--no-config'

    Usage: tally lint --no-config[=<BOOL>] [PATH]...

    For more information, try '--help'.

    $ tally nosuch
    error: unrecognized subcommand 'nosuch'

    Usage: tally [COMMAND]

    For more information, try '--help'.

    $ tally lint --max-lines abc
    error: invalid value 'abc' for '--max-lines <N>': not a whole number from 0 on, or too large

    For more information, try '--help'.

    $ tally lint --fix=maybe
    error: invalid value 'maybe' for '--fix[=<BOOL>]': neither `true` nor `false`

    For more information, try '--help'.

    $ tally lint --format
    error: a value is required for '--format <FORMAT>' but none was supplied
      [possible values: text, json, sarif, github-actions, markdown, checkstyle, codeclimate, gitlab, junit, gnu, sonarqube]

    For more information, try '--help'.

    $ tally lint --format jsn
    error: invalid value 'jsn' for '--format <FORMAT>'
      [possible values: text, json, sarif, github-actions, markdown, checkstyle, codeclimate, gitlab, junit, gnu, sonarqube]

      tip: a similar value exists: 'json'

    For more information, try '--help'.

    $ tally lint --fail-level foo
    error: invalid value 'foo' for '--fail-level <LEVEL>'
      [possible values: error, warning, info, style, none]

    For more information, try '--help'.

    $ probity check --no-such-flag
    error: unexpected argument '--no-such-flag' found

      tip: a similar argument exists: '--no-config'

    Usage: probity check --no-config [PATH]...

    For more information, try 'probity check --help'.

    $ hadolint --no-such-flag
    error: unexpected argument '--no-such-flag' found

      tip: a similar argument exists: '--no-fail'

    Usage: hadolint --no-fail [DOCKERFILE]...

    For more information, try '--help'.

    $ cai exec
    error: the following required arguments were not provided:
      <COMMAND>...

    Usage: cai exec <COMMAND>...

    For more information, try '--help'.
    ");
}

#[test]
fn versions_completions_and_manuals_come_out() {
    assert!(probity().args(["--version"]).run().code(0).stdout.starts_with("probity 0."));
    let more = probity().args(["--version", "--verbose"]).run().code(0).stdout;
    let names: Vec<&str> =
        more.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    assert_eq!(names, ["commit", "features", "profile", "target"], "{more}");
    let target = more.lines().find_map(|line| line.strip_prefix("target:")).unwrap();
    assert!(target.trim().ends_with("-unknown-linux-gnu"), "{more}");
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
        let named = text.lines().filter_map(|line| line.split_once("(1)")).map(|(name, _)| name);
        for name in named.filter(|name| name.starts_with("probity")) {
            assert!(dir.path().join(format!("{name}.1")).exists(), "{name}(1) is not written");
        }
    }
}
