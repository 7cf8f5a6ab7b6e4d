//! Structured output, refutations, changed files and cached answers, through the binary.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    NOTHING, SPEND, TRUE, about_findings, audit, audit_with_cache, project, report,
    server::{Play, Server},
    state,
};
use crate::{
    binary::{Run, directory, probity},
    review::git,
};

const UPHELD: &str = r#"{"action":"final","verdict":"upheld","reason":"Nothing compares it."}"#;

/// Finds something in the first conversation of each skill, and answers those who doubt it.
fn doubting() -> Server {
    Server::new(|_, body| {
        let system = body["messages"][0]["content"].as_str().unwrap();
        let is_refuter = system.starts_with("You check a claim");
        Play::Says(if is_refuter { UPHELD } else { TRUE }.to_owned())
    })
}

#[test]
fn an_endpoint_without_structured_output_is_told_of_once_and_asked_without() {
    let dir = project();
    let server = Server::new(|_, body| match body["response_format"]["type"].as_str() {
        Some("json_schema") => {
            let error = json!({"error": {"message": "response_format is not supported"}});
            Play::Status(400, "", error.to_string())
        }
        _ => Play::Says(TRUE.to_owned()),
    });
    let output = audit(&dir, &server).run().code(0);
    let note = "warning: the endpoint rejects structured output; probity continues without it: \
                status 400, response_format is not supported";
    assert_eq!(output.stderr.matches(note).count(), 1, "{}", output.stderr);
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 4, "one request was in vain, for all skills");
    assert!(
        bodies[1..].iter().all(|body| body["response_format"] == json!({"type": "json_object"}))
    );
    assert_eq!(bodies[3]["temperature"], 0, "which was not rejected");
}

#[test]
fn refutations_are_in_every_format_and_cost_what_they_cost() {
    let mut printed = Vec::new();
    for (format, file) in [("markdown", "md"), ("json", "json"), ("sarif", "sarif")] {
        let (dir, server) = (project(), doubting());
        let output = audit(&dir, &server)
            .args(["--refute", "--format", format, "--fail-on", "high"])
            .run()
            .code(1);
        assert_eq!(server.requests().len(), 6, "two conversations a skill");
        let usage = &state(dir.path())["usage"];
        assert_eq!((&usage["requests"], &usage["input_tokens"]), (&6.into(), &600.into()));
        printed.push(format!("{format}\n{}", output.stdout));
        let text =
            fs::read_to_string(dir.path().join(format!(".tx3/audit/vulnerabilities.{file}")))
                .unwrap();
        if format == "markdown" {
            let refutation = text.lines().find(|line| line.contains("Refutation: "));
            assert_eq!(refutation, Some("  - Refutation: upheld. Nothing compares it."), "{text}");
            continue;
        }
        let page: Value = serde_json::from_str(&text).unwrap();
        let refutation = match format {
            "json" => &page["findings"][0]["refutation"],
            _ => &page["runs"][0]["results"][0]["properties"]["refutation"],
        };
        assert_eq!(*refutation, json!({"verdict": "upheld", "reason": "Nothing compares it."}));
    }
    insta::assert_snapshot!(printed.join("\n"), @"
    markdown
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.md
    Findings: 1 verified, 0 unverified, 0 ignored, 0 known
    Refutations: 1 upheld
      strict-value-equality-001: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      missing-address-validation-002: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      unvalidated-datum-003: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
    Total, requests: 6, tokens: 600 in, 60 out

    json
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.json
    Findings: 1 verified, 0 unverified, 0 ignored, 0 known
    Refutations: 1 upheld
      strict-value-equality-001: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      missing-address-validation-002: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      unvalidated-datum-003: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
    Total, requests: 6, tokens: 600 in, 60 out

    sarif
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.sarif
    Findings: 1 verified, 0 unverified, 0 ignored, 0 known
    Refutations: 1 upheld
      strict-value-equality-001: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      missing-address-validation-002: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      unvalidated-datum-003: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
    Total, requests: 6, tokens: 600 in, 60 out
    ");
}

#[test]
fn a_provider_without_a_model_cannot_refute() {
    for provider in ["heuristic", "scaffold"] {
        let dir = project();
        let output =
            probity().dir(&dir).args(["audit", "--refute", "--provider", provider]).run().code(2);
        insta::allow_duplicates! {
            insta::assert_snapshot!(output.stderr.replace(provider, "PROVIDER"), @"
            error: --refute needs a model, and the provider 'PROVIDER' asks none
              help: name one, for example `--provider openai`, or leave out --refute
            ");
        }
    }
}

/// A branch in a subdirectory of its repository: `new.ak` is committed, `edited.ak` and `untracked.ak`
/// are not, and `old.ak` is as it was.
fn branch() -> TempDir {
    let long = "  let step = compute(state)\n".repeat(2_000);
    let dir = directory(&[("app/old.ak", &long), ("app/edited.ak", SPEND), ("app/README", "x")]);
    git(dir.path(), &["init", "-q", "-b", "main"]);
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-qm", "one"]);
    git(dir.path(), &["checkout", "-qb", "work"]);
    fs::write(dir.path().join("app/new.ak"), SPEND).unwrap();
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-qm", "two"]);
    fs::write(dir.path().join("app/edited.ak"), format!("{SPEND}\n")).unwrap();
    fs::write(dir.path().join("app/untracked.ak"), SPEND).unwrap();
    dir
}

fn audit_in(dir: &Path, server: &Server) -> Run {
    probity().dir(dir).env("OPENAI_API_KEY", "k").args([
        "audit",
        "--no-cache",
        "--provider",
        "openai",
        "--endpoint",
        &server.url(),
    ])
}

#[test]
fn only_files_that_changed_since_the_merge_base_have_to_be_read() {
    let (dir, server) = (branch(), Server::saying(&[NOTHING]));
    let app = dir.path().join("app");
    audit_in(&app, &server).args(["--changed", "main"]).run().code(0);
    assert_eq!(state(&app)["changed_files"], json!(["edited.ak", "new.ak", "untracked.ak"]));
    // The whole project is still too long to be passed unread.
    audit_in(&app, &server).run().code(3);
    let unknown = audit_in(&app, &server).args(["--changed", "nowhere"]).run().code(1);
    insta::assert_snapshot!(unknown.stderr, @"
    error: cannot find the changes since nowhere
      cause: this clone has no branch or commit `nowhere` or `origin/nowhere`
      help: name a branch, tag or commit that this clone has, or leave out --changed
    ");
}

#[test]
fn nothing_is_asked_if_nothing_changed() {
    let (dir, server) = (branch(), Server::saying(&[NOTHING]));
    git(dir.path(), &["stash", "-qu"]);
    let app = dir.path().join("app");
    let output = audit_in(&app, &server).args(["--changed", "work"]).run().code(0);
    assert_eq!(server.requests().len(), 0);
    insta::assert_snapshot!(output.stderr, @"warning: no source file changed since work: no skill is run");
    insta::assert_snapshot!(about_findings(&report(&app)), @"
    - *(none)*

    ## Changed files

    No source changed, and no skill was run.

    ## Executive summary

    No skill was run, so the audit says nothing about the sources.
    ");
}

#[test]
fn an_answer_is_cached_says_so_and_is_asked_for_again_if_it_is_damaged() {
    let (dir, server) = (project(), Server::saying(&[TRUE]));
    let home = tempfile::tempdir().unwrap();
    let place = home.path().to_str().unwrap();
    let run = |more: &[&str]| {
        let before = server.requests().len();
        let run = audit_with_cache(&dir, &server).env("XDG_STATE_HOME", place).args(more);
        let output = run.run().code(0);
        (server.requests().len() - before, output)
    };
    assert_eq!(run(&[]).0, 3);
    let first = report(dir.path());
    let (asked, output) = run(&[]);
    assert_eq!(asked, 0);
    insta::assert_snapshot!(output.stdout, @"
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.md
    Findings: 1 verified, 0 unverified, 0 ignored, 0 known
      strict-value-equality-001: completed (cached), findings: 1
      missing-address-validation-002: completed (cached), findings: 1
      unvalidated-datum-003: completed (cached), findings: 1
    ");
    let findings = |page: &str| page.split("\n## ").nth(1).unwrap().to_owned();
    assert_eq!(findings(&report(dir.path())), findings(&first));
    insta::assert_snapshot!(about_findings(&report(dir.path())), @"
    - **Datum not checked** (`high`)
      - Summary: Any datum passes.
      - Recommendation: Compare it.
      - Location: validators/spend.ak:3
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `strict-value-equality-001`, `missing-address-validation-002`, `unvalidated-datum-003`

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Cached answers

    An earlier run asked the same model about the same sources; `--no-cache` asks again.

    - `strict-value-equality-001`
    - `missing-address-validation-002`
    - `unvalidated-datum-003`

    ## Executive summary

    The audit found 1 vulnerability: 0 exploited and fixed, 0 exploited, 1 quoted only.
    The highest severity is high.
    ");
    assert_eq!(run(&["--no-cache"]).0, 3);

    let entries = fs::read_dir(home.path().join("probity/audit-cache")).unwrap();
    let entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 3);
    let text = fs::read_to_string(&entries[0]).unwrap();
    fs::write(&entries[0], text.replace("Any datum passes.", "No datum passes.")).unwrap();
    fs::write(&entries[1], &text[..text.len() / 2]).unwrap();
    fs::write(&entries[2], [0xff, 0xfe]).unwrap();
    let (asked, output) = run(&[]);
    assert_eq!(asked, 3);
    assert_eq!(output.stderr.matches("warning: ignoring the cached answer").count(), 3);
    assert_eq!(run(&[]).0, 0, "and what was asked is whole again");
}
