//! Reports in every format, and what makes an audit fail.

use std::fs;

use serde_json::Value;

use super::{
    INVENTED, LOOK, NOTHING, TRUE, about_findings, audit, project, report,
    server::{Play, Server, skill, turn},
    state,
};
use crate::{
    binary::stable,
    sarif::{all_valid, valid},
};

#[test]
fn sarif_of_hostile_titles_paths_and_places_is_valid() {
    // The same of three skills is one, where it says where it is.
    let cases = [
        (
            r#"{"title":"a\u0000\u001b[31m<b>&\"'%0A","summary":"line\nline","file":"../../etc/passwd","line":9}"#,
            1,
        ),
        (r#"{"title":"","file":"no such\nfile ü%20.ak","line":18446744073709551615}"#, 1),
        (
            r#"{"title":"t","file":"C:\\x\\y","line":1,"evidence":["expect InlineDatum(_) = output.datum"]}"#,
            1,
        ),
        (r#"{"title":"no place at all"}"#, 3),
        (r#"{"title":"t","file":"validators","line":1}"#, 1),
    ];
    let report = |finding: &str| {
        let dir = project();
        let server = Server::saying(&[&format!(r#"{{"findings":[{finding}]}}"#)]);
        audit(&dir, &server).args(["--format", "sarif"]).run().code(0);
        fs::read_to_string(dir.path().join(".tx3/audit/vulnerabilities.sarif")).unwrap()
    };
    let reports = cases.map(|(finding, _)| report(finding));
    for ((finding, count), document) in cases.iter().zip(all_valid(&reports)) {
        let results = document["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(results, *count, "{finding}\n{document:#}");
    }
}

/// The third skill finds what is there, the first one what is not.
fn finding() -> Server {
    Server::new(|_, body| {
        Play::Says(match skill(body).as_str() {
            "unvalidated-datum-003" => TRUE.to_owned(),
            "strict-value-equality-001" => INVENTED.to_owned(),
            _ if turn(body) == 0 => LOOK.to_owned(),
            _ => NOTHING.to_owned(),
        })
    })
}

#[test]
fn a_finding_is_kept_with_its_corrected_line_and_its_identity() {
    let dir = project();
    audit(&dir, &finding()).run().code(0);
    let state = state(dir.path());
    let found = &state["iterations"][2]["findings"][0];
    assert_eq!(found["severity"], "high");
    assert_eq!((&found["file"], &found["line"]), (&"validators/spend.ak".into(), &3.into()));
    assert_eq!(found["verified"], true);
    assert_eq!(found["fingerprint"].as_str().unwrap().len(), 32);
    assert_eq!(state["iterations"][0]["findings"][0]["verified"], false);
    let report = report(dir.path());
    let (time, rest) = report.split_once("\n\n## Findings\n\n").unwrap();
    // What comes after this is about the audit, and differs from machine to machine.
    let (rest, about) = rest.split_once("\n## Executive summary\n\n").unwrap();
    let (about, _) = about.split_once("\n## Scope\n").unwrap();
    insta::assert_snapshot!(about, @"
    The audit found 1 vulnerability: 0 exploited and fixed, 0 exploited, 1 quoted only.
    The highest severity is high.
    ");
    assert!(time.starts_with("# Vulnerability Report\n\n- Generated at: 20"), "{report}");
    assert!(time.ends_with("+00:00"), "{report}");
    insta::assert_snapshot!(rest, @r"
    - **Datum not checked** (`high`)
      - Summary: Any datum passes.
      - Recommendation: Compare it.
      - Location: validators/spend.ak:3
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `unvalidated-datum-003`

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Unverified findings

    No quote of these was found where they say it is; the model may have made them up.

    - **Backdoor** (`critical`)
      - Summary: s
      - Recommendation: r
      - Location: validators/spend.ak:3
      - Evidence: `if admin == attacker { True }`
      - Found by: `strict-value-equality-001`
    ");
}

#[test]
fn json_and_sarif_hold_the_same_findings_with_the_same_identities() {
    let dir = project();
    let output = audit(&dir, &finding()).args(["--format", "json"]).run().code(0);
    insta::assert_snapshot!(output.stdout, @"
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.json
    Findings: 1 verified, 1 unverified, 0 ignored, 0 known
      strict-value-equality-001: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      missing-address-validation-002: completed, findings: 0, requests: 2, tokens: 200 in, 20 out
      unvalidated-datum-003: completed, findings: 1, requests: 1, tokens: 100 in, 10 out
    Total, requests: 5, tokens: 500 in, 50 out
    ");
    let read = |file: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(dir.path().join(file)).unwrap()).unwrap()
    };
    let json = read(".tx3/audit/vulnerabilities.json");
    assert_eq!(json["findings"][0]["skill_id"], "unvalidated-datum-003");
    assert_eq!(json["unverified"][0]["title"], "Backdoor");
    assert_eq!(json["usage"]["requests"], 5, "an invented quote goes back once");
    assert_eq!((&json["complete"], &json["note"]), (&true.into(), &Value::Null));
    let file = &json["coverage"][0]["files"][0];
    assert_eq!(file["file"], "validators/spend.ak");
    assert_eq!((&file["lines"], &file["shown"]), (&6.into(), &serde_json::json!([[1, 6]])));
    audit(&dir, &finding()).args(["--format", "sarif", "--report-out", "out.sarif"]).run().code(0);
    let sarif = valid(&fs::read_to_string(dir.path().join("out.sarif")).unwrap());
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let result = results.iter().find(|result| result["ruleId"] == "unvalidated-datum-003").unwrap();
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "validators/spend.ak");
    assert_eq!(
        (&place["region"]["startLine"], &place["region"]["startColumn"]),
        (&3.into(), &5.into())
    );
    assert_eq!(result["partialFingerprints"]["probity/v1"], json["findings"][0]["fingerprint"]);
    let invented =
        results.iter().find(|result| result["ruleId"] == "strict-value-equality-001").unwrap();
    assert_eq!(invented["level"], "note", "what is not proven weighs little");
    insta::assert_snapshot!(invented["message"]["text"].as_str().unwrap(), @"
    unverified: Backdoor

    s

    r
    ");
}

#[test]
fn only_verified_findings_at_the_limit_fail_the_run() {
    for (limit, code) in [("low", 1), ("high", 1), ("critical", 0)] {
        let dir = project();
        audit(&dir, &finding()).args(["--fail-on", limit]).run().code(code);
        assert!(
            report(dir.path()).contains("Datum not checked"),
            "the report is written all the same"
        );
    }
}

#[test]
fn findings_of_a_baseline_are_known_in_every_format_of_it() {
    let dir = project();
    for (format, file) in [
        ("json", ".tx3/audit/vulnerabilities.json"),
        ("sarif", ".tx3/audit/vulnerabilities.sarif"),
        ("markdown", ".tx3/audit/state.json"),
    ] {
        audit(&dir, &finding()).args(["--format", format]).run().code(0);
        fs::copy(dir.path().join(file), dir.path().join("baseline")).unwrap();
        let output = audit(&dir, &finding())
            .args(["--baseline", "baseline", "--fail-on", "low"])
            .run()
            .code(0);
        insta::allow_duplicates! { insta::assert_snapshot!(output.stdout, @"
        ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
        Source files analyzed: 1
        State written to: .tx3/audit/state.json
        Report written to: .tx3/audit/vulnerabilities.md
        Findings: 0 verified, 0 unverified, 0 ignored, 2 known
          strict-value-equality-001: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
          missing-address-validation-002: completed, findings: 0, requests: 2, tokens: 200 in, 20 out
          unvalidated-datum-003: completed, findings: 1, requests: 1, tokens: 100 in, 10 out
        Total, requests: 5, tokens: 500 in, 50 out
        ") }
    }

    let output = audit(&dir, &finding()).args(["--baseline", "gone"]).run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    error: cannot read the baseline gone
      cause: No such file or directory (os error 2)
      help: `probity audit --help` lists the flags for files and directories
    ");
}

#[test]
fn a_comment_with_a_reason_takes_a_finding_of_its_skill_back() {
    let dir = project();
    let file = dir.path().join("validators/spend.ak");
    let text = fs::read_to_string(&file).unwrap();
    let with = |comment: &str| {
        fs::write(&file, text.replace("= output.datum", &format!("= output.datum // {comment}")))
            .unwrap();
        audit(&dir, &finding()).args(["--fail-on", "high"]).run()
    };
    let output = with("probity-ignore[unvalidated-datum-003] -- nothing reads it").code(0);
    insta::assert_snapshot!(output.stdout, @"
    ⚠️  EXPERIMENTAL: Audit complete. Iterations processed: 3
    Source files analyzed: 1
    State written to: .tx3/audit/state.json
    Report written to: .tx3/audit/vulnerabilities.md
    Findings: 0 verified, 1 unverified, 1 ignored, 0 known
      strict-value-equality-001: completed, findings: 1, requests: 2, tokens: 200 in, 20 out
      missing-address-validation-002: completed, findings: 0, requests: 2, tokens: 200 in, 20 out
      unvalidated-datum-003: completed, findings: 1, requests: 1, tokens: 100 in, 10 out
    Total, requests: 5, tokens: 500 in, 50 out
    ");
    assert!(!output.stderr.contains("probity-ignore"), "{}", output.stderr);
    let report = report(dir.path());
    insta::assert_snapshot!(about_findings(&report), @"
    No finding was verified.

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Left out

    - Datum not checked (`unvalidated-datum-003`) at validators/spend.ak:3, by the comment on line 3: nothing reads it

    ## Unverified findings

    No quote of these was found where they say it is; the model may have made them up.

    - **Backdoor** (`critical`)
      - Summary: s
      - Recommendation: r
      - Location: validators/spend.ak:3
      - Evidence: `if admin == attacker { True }`
      - Found by: `strict-value-equality-001`

    ## Executive summary

    The audit found no vulnerability whose quotes exist in the sources.
    ");
    audit(&dir, &finding()).args(["--format", "sarif"]).run().code(0);
    let text = fs::read_to_string(dir.path().join(".tx3/audit/vulnerabilities.sarif")).unwrap();
    let sarif = valid(&text);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let excused =
        results.iter().find(|result| result["ruleId"] == "unvalidated-datum-003").unwrap();
    assert_eq!(excused["suppressions"][0]["justification"], "nothing reads it");
    let overruled = ["--no-ignores", "--fail-on", "high"];
    audit(&dir, &finding()).args(overruled).run().code(1);
    let output = with("probity-ignore[other-skill] -- nothing reads it").code(1);
    insta::assert_snapshot!(output.stderr, @"warning: validators/spend.ak:3: `probity-ignore[other-skill]` names no skill of this audit");
    let output = with("probity-ignore[missing-address-validation-002] -- gone").code(1);
    insta::assert_snapshot!(output.stderr, @"warning: validators/spend.ak:3: `probity-ignore[missing-address-validation-002]` matches no finding");
    let output = with("probity-ignore[unvalidated-datum-003]").code(1);
    insta::assert_snapshot!(output.stderr, @"warning: validators/spend.ak:3: `probity-ignore[unvalidated-datum-003]` has no effect without a reason: add `-- why`");
}

#[test]
fn a_partial_audit_says_so_in_every_format() {
    let server = || {
        Server::new(|_, body| match skill(body).as_str() {
            "unvalidated-datum-003" => Play::Status(400, "", "{}".to_owned()),
            _ => Play::Says(NOTHING.to_owned()),
        })
    };
    let dir = project();
    let output = audit(&dir, &server()).run().code(3);
    let first = output.stdout.lines().next().unwrap();
    assert_eq!(first, "Incomplete audit: 1 of 3 skills have no result; see below for the reasons");
    let markdown = report(dir.path());
    insta::assert_snapshot!(stable(about_findings(&markdown)), @"
    - *(none, but only 2 of 3 skills finished)*

    ## Skills that did not finish

    - `unvalidated-datum-003` (failed): openai: asking: HTTP 400: {}; check the model and the endpoint http://127.0.0.1:[port]/v1/chat/completions

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Executive summary

    The audit found no vulnerability whose quotes exist in the sources.
    The audit is incomplete: 1 of 3 skills did not finish.
    ");
    audit(&dir, &server()).args(["--format", "json"]).run().code(3);
    let json = fs::read_to_string(dir.path().join(".tx3/audit/vulnerabilities.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["complete"], false);
    audit(&dir, &server()).args(["--format", "sarif"]).run().code(3);
    let text = fs::read_to_string(dir.path().join(".tx3/audit/vulnerabilities.sarif")).unwrap();
    let invocation = valid(&text)["runs"][0]["invocations"][0].clone();
    assert_eq!(invocation["executionSuccessful"], false);
    let said = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    insta::assert_snapshot!(stable(said), @"skill 'unvalidated-datum-003' failed: openai: asking: HTTP 400: {}; check the model and the endpoint http://127.0.0.1:[port]/v1/chat/completions");
}

#[test]
fn sarif_rules_carry_what_the_skill_says() {
    let dir = project();
    audit(&dir, &finding()).args(["--format", "sarif"]).run().code(0);
    let text = fs::read_to_string(dir.path().join(".tx3/audit/vulnerabilities.sarif")).unwrap();
    let sarif = valid(&text);
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], true);
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "unvalidated-datum-003").unwrap();
    assert_eq!(rule["properties"]["security-severity"], "8.0");
    assert!(rule["help"]["markdown"].as_str().unwrap().contains("# How to recognize it"), "{rule}");
}
