//! The command line: gating, defaults, order, error texts, and the files of a run that asks nobody.

use std::fs;

use super::{project, report, state, statuses};
use crate::binary::{directory, named, probity};

const UNSTABLE: bool = cfg!(feature = "unstable");

#[test]
fn trix_audit_is_hidden_and_refused_without_the_feature() {
    assert!(!named("trix").args(["--help"]).run().code(0).stdout.contains("audit"));
    let help = named("trix").args(["audit", "--help"]).run().code(0).stdout;
    insta::assert_snapshot!(help, @"
    Run vulnerability analysis scaffolding (UNSTABLE - This feature is experimental and may change)

    Usage: trix audit [OPTIONS]

    Options:
          --ai-logs                  Show each step and the model's answers on stderr
      -p, --profile <NAME>           The profile of trix.toml that a command works with [default: local]
          --provider <NAME>          Provider: scaffold, openai, anthropic or ollama [default: scaffold]
          --endpoint <URL>           Complete URL of the provider's endpoint
          --model <NAME>             Model to ask
          --api-key-env <NAME>       Variable that contains the API key
          --read-scope <SCOPE>       Files that the model may read [default: workspace] [possible
                                     values: workspace, strict]
          --interactive-permissions  Ask before each read
          --skills-dir <DIR>         Directory of vulnerability skills, builtin:full or builtin:web;
                                     several are combined [default: skills/vulnerabilities]
          --state-out <PATH>         File for the state of the analysis [default: .tx3/audit/state.json]
          --report-out <PATH>        File for the report [default: .tx3/audit/vulnerabilities.md]
      -h, --help                     Print help
    ");
    assert!(probity().args(["audit", "--help"]).run().code(0).stdout.contains("heuristic"));
    assert!(
        !help.contains("replay") && !help.contains("--resume"),
        "what is beyond the specification is probity's: {help}"
    );
    let empty = directory(&[]);
    let output = named("trix").args(["audit"]).dir(&empty).run().code(1);
    let says = if UNSTABLE {
        "No trix.toml found in current directory"
    } else {
        "The audit command is currently unstable and requires the `unstable` feature to be enabled."
    };
    assert!(output.stderr.contains(says), "{}", output.stderr);
}

#[test]
fn trix_takes_a_profile_anywhere_and_refuses_one_that_the_project_has_not() {
    let dir = directory(&[]);
    named("trix").args(["-p", "preview", "init", "--yes"]).dir(&dir).run().code(0);
    for (args, code) in [
        (&["audit", "--profile", "preview"][..], 0),
        (&["-p", "mainnet", "audit"], 0),
        (&["audit", "-p", "gone"], 1),
    ] {
        let output = named("trix").args(args).dir(&dir).run();
        if !UNSTABLE {
            assert!(output.code(1).stderr.contains("requires the `unstable` feature"), "{args:?}");
            continue;
        }
        let output = output.code(code);
        let says = output.stderr.starts_with("error: gone profile not found in config");
        assert_eq!(says, code == 1, "{args:?}: {}", output.stderr);
    }
}

#[test]
fn init_makes_a_project_and_overwrites_nothing_but_its_own_file() {
    let dir = directory(&[("main.tx3", "mine"), ("trix.toml", "old")]);
    named("trix").args(["init", "--yes"]).dir(&dir).run().code(0);
    let read = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap();
    assert_eq!(read("main.tx3"), "mine");
    assert_eq!(read(".gitignore"), ".tx3\n");
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(
        read("trix.toml"),
        format!(
            "[protocol]\nname = \"{name}\"\nversion = \"0.0.0\"\nmain = \"main.tx3\"\n\n[ledger]\nfamily = \"cardano\"\n"
        )
    );
    insta::assert_snapshot!(read("devnet.toml"), @r#"
    # What each wallet of the local network begins with, in lovelace.

    [[utxos]]
    address = "@alice"
    value = 100000000000

    [[utxos]]
    address = "@bob"
    value = 100000000000

    [[utxos]]
    address = "@charlie"
    value = 100000000000
    "#);
    insta::assert_snapshot!(read("tests/basic.toml"), @r#"
    file = "./main.tx3"

    [[wallets]]
    name = "alice"
    balance = 100000000000

    [[wallets]]
    name = "bob"
    balance = 100000000000

    [[transactions]]
    description = "alice pays bob"
    template = "transfer"
    signers = ["alice"]
    args = { quantity = 2000000, sender = "@alice", receiver = "@bob" }

    [[expect]]
    from = "@bob"

    [[expect.min_amount]]
    amount = 100002000000
    "#);
    let empty = directory(&[]);
    let denied = named("trix").args(["init"]).dir(&empty).input("n\n").run().code(2);
    let name = empty.path().file_name().unwrap().to_str().unwrap();
    insta::assert_snapshot!(denied.stderr.replace(name, "[name]"), @"
    Make the project `[name]` in this directory? [y/N]: 
    error: nothing was made
      help: answer y, or call `trix init --yes`
    ");
}

#[test]
fn a_fresh_project_is_audited_with_three_iterations_and_both_files() {
    let dir = directory(&[]);
    named("trix").args(["init", "--yes"]).dir(&dir).run().code(0);
    // Without the feature the same audit is reached by our own name.
    let (run, code) = if UNSTABLE { (named("trix"), 0) } else { (probity(), 3) };
    let output = run.args(["audit", "--provider", "scaffold"]).dir(&dir).run().code(code);
    let mut lines: Vec<&str> = output.stdout.lines().collect();
    if !UNSTABLE {
        let first = lines.remove(0);
        assert_eq!(first, "Incomplete audit: no model was asked; name one with --provider");
    }
    assert_eq!(
        lines,
        [
            "⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3",
            "Source files analyzed: 1",
            "State written to: .tx3/audit/state.json",
            "Report written to: .tx3/audit/vulnerabilities.md",
        ]
    );
    let state = state(dir.path());
    assert_eq!(state["version"], "1");
    assert_eq!(state["source_files"], serde_json::json!(["main.tx3"]), "the fallback");
    assert_eq!(statuses(&state), ["scaffolded"; 3]);
    assert_eq!(state["provider"]["name"], "scaffold");
    assert_eq!(state["provider"]["model"], serde_json::Value::Null);
    for iteration in state["iterations"].as_array().unwrap() {
        assert_eq!(iteration["findings"], serde_json::json!([]));
        assert_eq!(iteration["next_prompt"]["skill_id"], iteration["skill_id"]);
    }
    let text = fs::read_to_string(dir.path().join(".tx3/audit/state.json")).unwrap();
    assert!(text.ends_with('}') && !text.contains(dir.path().to_str().unwrap()), "{text}");
    let report = report(dir.path());
    let (begins, none) = if UNSTABLE {
        ("# Vulnerability Report", "- *(none)*\n")
    } else {
        ("> No model was asked: ", "- *(none, but only 0 of 3 skills finished)*\n")
    };
    assert!(report.starts_with(begins) && report.contains(none), "{report}");
    assert!(report.contains("- Generated at: "), "{report}");
}

#[test]
fn probity_audit_needs_no_project_where_there_are_sources() {
    let (sources, empty) = (project(), directory(&[]));
    probity().args(["audit"]).dir(&sources).run().code(0);
    assert_eq!(state(sources.path())["provider"]["name"], "heuristic");
    let output = probity().args(["audit"]).dir(&empty).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: no provider is named, and the offline detectors read only *.ak files
      help: name one, for example `--provider openai` with a key in OPENAI_API_KEY, or `--provider ollama --model NAME`; `--include GLOB` names the sources
    ");
    let named = ["audit", "--provider", "scaffold"];
    let output = probity().args(named).dir(&empty).run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    error: there is no *.ak file here, and no project that names another source
      cause: No trix.toml found in current directory
      help: name the sources, for example `--include 'src/**/*.py' --skills-dir builtin:web`, or run it where the contracts are
    ");
    let broken = directory(&[("trix.toml", "[protocol]\nname = 'x'\n")]);
    insta::assert_snapshot!(probity().args(named).dir(&broken).run().code(1).stderr, @"
    error: there is no *.ak file here, and no project that names another source
      cause: trix.toml is not the file of a project
      cause: TOML parse error at line 1, column 1
          |
        1 | [protocol]
          | ^^^^^^^^^^
        missing field `version`
      help: name the sources, for example `--include 'src/**/*.py' --skills-dir builtin:web`, or run it where the contracts are
    ");
}

#[test]
fn errors_have_the_words_of_the_specification_whole_and_leave_no_state() {
    let bad_skill = "---\nid: a\nname: n\nseverity: odd\ndescription: d\nprompt_fragment: p\n---\n";
    for (args, says) in [
        (
            &["--provider", "foo"][..],
            "error: Unsupported provider 'foo'. Expected one of: scaffold, openai, anthropic, ollama",
        ),
        (
            &["--provider", "openai"],
            "error: Missing API key environment variable 'OPENAI_API_KEY'. Set it before running with --provider openai.",
        ),
        (
            &["--provider", "anthropic"],
            "error: Missing API key environment variable 'ANTHROPIC_API_KEY'. Set it before running with --provider anthropic.",
        ),
        (
            &["--provider", "openai", "--api-key-env", "MY_KEY"],
            "error: Missing API key environment variable 'MY_KEY'. Set it before running with --provider openai.",
        ),
        (&["--skills-dir", "gone"], "error: Audit skills directory not found: gone"),
        (&["--skills-dir", "empty"], "error: No vulnerability skills found in empty"),
        (
            &["--skills-dir", "bad"],
            "error: Invalid `severity` value 'odd' in vulnerability skill file bad/a.md. Expected one of: low, medium, high, critical",
        ),
        (&["--provider", "acp"], "error: the provider 'acp' needs an agent"),
        // A missing key is told before a missing directory.
        (&["--provider", "openai", "--skills-dir", "gone"], "error: Missing API key"),
    ] {
        let dir = directory(&[("a.ak", "x"), ("bad/a.md", bad_skill), ("empty/sub/x", "")]);
        let output = probity().args(["audit"]).args(args).dir(&dir).run().code(1);
        assert!(
            output.stderr.lines().any(|line| line.starts_with(says)),
            "{args:?}: {}",
            output.stderr
        );
        assert!(!dir.path().join(".tx3").exists(), "{args:?}");
    }
    let sources = project();
    let usage = probity().args(["audit", "--read-scope", "all"]).dir(&sources).run().code(2);
    insta::assert_snapshot!(usage.stderr, @"
    error: invalid value 'all' for '--read-scope <SCOPE>'
      [possible values: workspace, strict]

    For more information, try 'probity audit --help'.
    ");
}

#[test]
fn provider_names_are_read_in_any_case_and_ollama_reads_no_key() {
    let dir = project();
    probity().args(["audit", "--provider", " SCAFFOLD "]).dir(&dir).run().code(3);
    // Nobody listens there, which is a matter of the skills and not of the key.
    let output = probity()
        .args([
            "audit",
            "--provider",
            "Ollama",
            "--endpoint",
            "http://127.0.0.1:9/",
            "--timeout",
            "1s",
        ])
        .dir(&dir)
        .run()
        .code(3);
    assert!(!output.stderr.contains("API key"), "{}", output.stderr);
    let state = state(dir.path());
    assert_eq!(state["provider"]["model"], "llama3.1");
    assert_eq!(state["provider"]["notes"], "Endpoint: http://127.0.0.1:9/");
}

#[test]
fn files_go_where_they_are_told_to_and_their_directories_are_made() {
    let dir = project();
    let args = ["audit", "--state-out", "a/b/s.json", "--report-out", "c/r.md"];
    let output = probity().args(args).dir(&dir).run().code(0);
    insta::assert_snapshot!(output.stdout, @"
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: a/b/s.json
    Report written to: c/r.md
    Findings: 0 verified, 0 unverified, 0 ignored, 0 known
      strict-value-equality-001: completed, findings: 0
      missing-address-validation-002: completed, findings: 0
      unvalidated-datum-003: completed, findings: 0
    ");
    assert!(dir.path().join("a/b/s.json").exists() && dir.path().join("c/r.md").exists());
    assert!(!dir.path().join(".tx3").exists());
}
