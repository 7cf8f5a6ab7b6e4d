//! Nothing runs unless everything agrees: flags, configuration, fix modes.

use std::fs;

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, patch, turn};
use crate::binary::{probity, stable};

fn good() -> Stage {
    Stage::new(GO, &turn(&patch(GO, TWO_STAGES)))
}

#[test]
fn the_flags_and_modes_have_to_agree() {
    for (args, config, applied) in [
        (&["--fix"][..], "", false),
        (&["--fix", "--fix-unsafe"], "", true),
        (&["--fix", "--fix-ai"], "", true),
        (&["--fix-ai"], "", false),
        (&["--fix", "--fix-unsafe", "--fix-rule", "DL3008"], "", false),
        (&["--fix", "--fix-ai", "--fix-rule", MULTI_STAGE], "", true),
        (&["--fix", "--fix-ai"], "fix = 'explicit'", false),
        (&["--fix", "--fix-ai", "--fix-rule", MULTI_STAGE], "fix = 'explicit'", true),
        (&["--fix", "--fix-unsafe"], "fix = 'never'", false),
        (&["--fix", "--fix-ai"], "fix = 'unsafe-only'", true),
    ] {
        let stage = good();
        let config = format!("[rules.tally.prefer-multi-stage-build]\n{config}\n");
        fs::write(stage.path().join(".tally.toml"), config.clone()).unwrap();
        let command = stage.command();
        let run = probity()
            .dir(stage.path())
            .args(["check", "--fail-level", "info", "Dockerfile"])
            .args(args);
        let output = run.args(["--acp-command", &command]).run();
        let expected = if applied { TWO_STAGES } else { GO };
        assert_eq!(stage.text(), expected, "{args:?} {config}: {}", output.stderr);
    }
}

#[test]
fn fix_ai_admits_no_other_unsafe_fix() {
    // The suggestion of another rule stays out, the agent's fix goes in.
    let text = GO.replace("COPY . .\n", "COPY . .\n\nRUN apt-get install -y curl");
    let new = TWO_STAGES.replace("COPY . .\n", "COPY . .\n\nRUN apt-get install -y curl");
    let stage = Stage::new(&text, &turn(&patch(&text, &new)));
    let command = stage.command();
    let run = probity().dir(stage.path()).args([
        "check",
        "--fail-level",
        "info",
        "--fix",
        "--fix-ai",
        "Dockerfile",
    ]);
    run.args(["--acp-command", &command]).run();
    assert_eq!(stage.text(), new);
}

#[test]
fn a_configuration_decides_for_its_own_files() {
    let stage = good();
    fs::create_dir(stage.path().join("off")).unwrap();
    fs::write(stage.path().join("off/Dockerfile"), GO).unwrap();
    fs::write(stage.path().join("off/.tally.toml"), "[ai]\nenabled = false\n").unwrap();
    let command: Vec<String> = stage.command().split(' ').map(|word| format!("'{word}'")).collect();
    let config = format!(
        "[ai]\nenabled = true\nagent = 'mine'\n[ai.agents.mine]\ncommand = [{}]\n",
        command.join(", ")
    );
    fs::write(stage.path().join(".tally.toml"), config).unwrap();
    let output = probity()
        .dir(stage.path())
        .args(["check", "--preset", "strict", "--fix", "--fix-unsafe", "."])
        .run();
    assert_eq!(stage.text(), TWO_STAGES, "{}", output.stderr);
    assert_eq!(fs::read_to_string(stage.path().join("off/Dockerfile")).unwrap(), GO);
    insta::assert_snapshot!(stable(&output.stderr), @"
    Fixed 1 issue in 1 file
    Skipped 2 fixes (2 resolve-error)
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): applied; asked probity, sandbox: bubblewrap; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM golang:1.22
    note:   after: 2 stages
    note:   └── stage 1 FROM debian:12-slim
    note:       └── COPY build FROM golang:1.22
    note: AI fix of Dockerfile: new image: debian:12-slim
    note: AI fix probity/missing-user (Dockerfile:13): no-change; asked probity, sandbox: bubblewrap; proof: [proof]
    note: skipped fix tally/prefer-multi-stage-build (off/Dockerfile:9): resolve-error: ai-disabled: AI fixes are off; --ai or `ai.enabled = true` switches them on
    note: skipped fix probity/missing-user (off/Dockerfile:13): resolve-error: ai-disabled: AI fixes are off; --ai or `ai.enabled = true` switches them on
    ");
}

#[test]
fn a_variable_names_the_command_and_switches_nothing_on() {
    for (enabled, expected) in [("false", GO), ("true", TWO_STAGES)] {
        let stage = good();
        let run = probity().dir(stage.path()).args([
            "check",
            "--fail-level",
            "info",
            "--fix",
            "--fix-unsafe",
            "Dockerfile",
        ]);
        let run = run.env("TALLY_ACP_COMMAND", &stage.command());
        run.env("TALLY_AI_ENABLED", enabled).run();
        assert_eq!(stage.text(), expected, "{enabled}");
    }
}

#[test]
fn enabled_without_an_agent_warns_and_skips() {
    let stage = good();
    let run = probity().dir(stage.path()).args([
        "check",
        "--fail-level",
        "info",
        "--fix",
        "--fix-unsafe",
        "--ai",
        "Dockerfile",
    ]);
    let output = run.run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    warning: --ai: AI fixes are enabled, but none of `ai.provider`, `ai.command` and `ai.agent` is set, so probity skips them; `--ai-provider NAME` or `--acp-command COMMAND` sets one
    Skipped 2 fixes (2 resolve-error)
    note: skipped fix tally/prefer-multi-stage-build (Dockerfile:9): resolve-error: not-configured: no model is named; set `ai.provider`, `ai.command` or `ai.agent`
    note: skipped fix probity/missing-user (Dockerfile:13): resolve-error: not-configured: no model is named; set `ai.provider`, `ai.command` or `ai.agent`
    ");
    assert_eq!(stage.text(), GO);
}

#[test]
fn a_repository_cannot_let_its_agent_out_and_the_user_can() {
    let mut printed = Vec::new();
    for (args, contained) in
        [(&[][..], "bubblewrap"), (&["--ai-sandbox", "none"], "none, as requested")]
    {
        let stage = good();
        fs::write(stage.path().join(".tally.toml"), "[ai]\nsandbox = 'none'\n").unwrap();
        let output = stage.fix(MULTI_STAGE).args(args).run().code(0);
        assert_eq!(super::outcome(&output)["session"]["containedBy"], contained);
        printed.push(output.stderr);
    }
    insta::assert_snapshot!(stable(&printed.join("\n")), @r#"
    warning: .tally.toml:2:1: `ai.sandbox = "none"` is ignored in a file: only `--ai-sandbox` and `TALLY_AI_SANDBOX` can take an agent out of its sandbox
    Fixed 1 issue in 1 file
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): applied; asked probity, sandbox: bubblewrap; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM golang:1.22
    note:   after: 2 stages
    note:   └── stage 1 FROM debian:12-slim
    note:       └── COPY build FROM golang:1.22
    note: AI fix of Dockerfile: new image: debian:12-slim

    warning: .tally.toml:2:1: `ai.sandbox = "none"` is ignored in a file: only `--ai-sandbox` and `TALLY_AI_SANDBOX` can take an agent out of its sandbox
    Fixed 1 issue in 1 file
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): applied; asked probity, sandbox: none, as requested; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM golang:1.22
    note:   after: 2 stages
    note:   └── stage 1 FROM debian:12-slim
    note:       └── COPY build FROM golang:1.22
    note: AI fix of Dockerfile: new image: debian:12-slim
    "#);
}

#[test]
fn a_dry_run_writes_nothing_and_says_so_where_it_has_no_effect() {
    // A missing blank line has a fix that needs no agent.
    let text = GO.replace("\n\nEXPOSE", "\nEXPOSE");
    let stage = Stage::new(&text, &turn("NO_CHANGE"));
    let command = stage.command();
    let run = |args: &[&str]| {
        let run = probity().dir(stage.path()).args(["check", "--ai-dry-run", "Dockerfile"]);
        run.args(["--preset", "all", "--acp-command", &command]).args(args).run()
    };
    let output = run(&["--fix", "--fix-ai", "--ai-trace", "trace.ndjson"]);
    assert_eq!(stage.text(), text);
    assert!(!stage.path().join("trace.ndjson").exists());
    assert!(output.stderr.contains("would be sent"), "{}", output.stderr);
    let says = "--ai-dry-run has no effect without --fix, --diff or --ai-detect";
    assert!(!output.stderr.contains(says), "{}", output.stderr);
    let output = run(&[]);
    insta::assert_snapshot!(output.stderr, @"warning: --ai-dry-run has no effect without --fix, --diff or --ai-detect");
    probity().dir(stage.path()).args(["check", "--fix", "--preset", "all", "Dockerfile"]).run();
    assert_eq!(stage.text(), GO, "there was something to write");
}

#[test]
fn the_command_of_a_file_runs_contained_or_by_your_leave_only() {
    for (in_file, more, applied) in [
        (true, &[][..], false),
        (true, &["--ai-sandbox", "none"], true),
        (false, &[], false),
        (false, &["--ai-sandbox", "none"], true),
    ] {
        let stage = good();
        let command = stage.command();
        let words: Vec<String> = command.split(' ').map(|word| format!("'{word}'")).collect();
        let config = format!("[ai]\nenabled = true\ncommand = [{}]\n", words.join(", "));
        if in_file {
            fs::write(stage.path().join(".tally.toml"), config).unwrap();
        }
        let run = probity().dir(stage.path()).args([
            "check",
            "--fail-level",
            "info",
            "--fix",
            "--fix-ai",
            "Dockerfile",
        ]);
        let run = if in_file { run } else { run.args(["--acp-command", &command]) };
        // Without programs nothing can contain it.
        let output = run.args(more).without_sandbox().run();
        let expected = if applied { TWO_STAGES } else { GO };
        assert_eq!(stage.text(), expected, "{in_file} {more:?}: {}", output.stderr);
        let is_told = output.stderr.contains("agent-failed: no sandbox is available for the agent")
            && output.stderr.contains("--ai-sandbox none");
        assert_eq!(is_told, !applied, "{}", output.stderr);
    }
}
