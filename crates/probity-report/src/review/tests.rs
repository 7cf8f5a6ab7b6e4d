//! One review in every format, and a review that did not happen.

use probity_review::{ReviewOutput, read};

use super::{ReviewFormat, render, render_for};
use crate::{Screen, shown_width};

/// With what hurts: markup, a line end, an escape sequence, a bidirectional override.
pub(super) fn sample() -> ReviewOutput {
    let text = r####"{
      "schema_version": "1.0.0", "status": "ok",
      "metadata": { "repo": "example.org/o/r", "commit": "c0ffee", "branch": "main",
        "timestamp": "2026-11-15T09:00:00Z", "duration_seconds": 3, "agent_cli": "claude",
        "agent_model": "", "files_reviewed": 2, "tests_generated": 2, "tests_failing": 1 },
      "score": { "value": 8.5, "max": 10.0, "pass": true, "threshold": 7.0,
        "deductions": [{ "issue_id": "ISS-001", "severity": "high", "points": 1.5 }] },
      "proven_issues": [{ "id": "ISS-001", "severity": "high", "title": "Divide | by <zero>",
        "description": "It panics.\n::error::x", "file": "a b/ü.go", "line": 3, "end_line": 4,
        "test_file": "review/tests/ISS-001_TestDivide_test.go", "test_name": "TestDivide",
        "test_output": "--- FAIL\n```\npanic: \u001b[31mdivide\u202e", "category": "correctness",
        "fingerprint": "0123456789abcdef0123456789abcdef", "standing": "new",
        "proof": { "level": "P2", "outcome": "failed", "runs": [] } }],
      "observations": [{ "id": "OBS-001", "title": "Slow?", "file": "b.go", "line": 1,
        "category": "performance", "reason": "test could not compile",
        "fingerprint": "fedcba9876543210fedcba9876543210" }],
      "discarded": [{ "id": "DIS-001", "title": "Wrong", "file": "b.go", "line": 2,
        "reason": "its test passes", "proof": { "outcome": "passed" } }],
      "changes": { "since_commit": "b", "since_timestamp": "t", "new": ["ISS-001"], "known": [],
        "fixed": [{ "fingerprint": "f", "severity": "low", "title": "Old", "file": "c.go",
          "how": "its test passes now" }], "unclear": [] },
      "test_summary": { "total_generated": 2, "passing": 1, "failing": 1, "error": 0 },
      "summary": "Score 8.5 of 10.", "notes": ["a note"] }"####;
    read(text).unwrap()
}

fn failed() -> ReviewOutput {
    let mut review = sample();
    review.status = probity_review::Status::Error;
    review.error = Some(probity_review::ReviewFailure {
        kind: probity_review::FailureKind::Timeout,
        message: "claude: no answer within 600 s".to_owned(),
        help: "allow more time".to_owned(),
        stderr: "thinking".to_owned(),
    });
    review.score.value = 0.0;
    (review.proven_issues, review.observations) = (Vec::new(), Vec::new());
    review
}

fn shown(format: ReviewFormat) -> String {
    render(format, &sample()).unwrap()
}

#[test]
fn no_report_lets_a_hidden_character_through() {
    for &format in ReviewFormat::ALL {
        // That one is the document itself, in which JSON escapes what has to be.
        let report = shown(format);
        let hidden = report.chars().find(|&char| probity_text::is_hidden(char));
        let expected = (format == ReviewFormat::Json).then_some('\u{202e}');
        assert_eq!(hidden, expected, "{format:?}: {report}");
    }
}

#[test]
fn what_agents_write_is_made_visible_in_reports_for_machines_too() {
    let mut review = sample();
    review.proven_issues[0].title = "left\u{202e}right".to_owned();
    review.proven_issues[0].description = "more\u{2066}of\nit".to_owned();
    review.observations[0].reason = "over\u{202d}ride".to_owned();
    for format in [ReviewFormat::Sarif, ReviewFormat::Gitlab] {
        let report = render(format, &review).unwrap();
        assert_eq!(report.chars().find(|&char| probity_text::is_hidden(char)), None, "{report}");
        for shown in ["left<U+202E>right", "over<U+202D>ride"] {
            assert!(report.contains(shown), "{format:?}: {report}");
        }
    }
    assert!(render(ReviewFormat::Sarif, &review).unwrap().contains("more<U+2066>of\\nit"));
}

#[test]
fn people_are_told_why_an_issue_counts_and_how_it_stands() {
    let with = |level: &str, reason: &str, introduced: Option<bool>| {
        let mut review = sample();
        let issue = &mut review.proven_issues[0];
        issue.introduced = introduced;
        let proof = issue.proof.as_mut().unwrap();
        (proof.level, proof.reason) = (level.to_owned(), reason.to_owned());
        review
    };
    for (review, says) in [
        (with("P3", "It passes with the fix.", None), "P3: It passes with the fix."),
        (with("P3", "It passes with the fix.", Some(false)), ", older"),
    ] {
        let plain = |text: String| text.replace('\\', "");
        for format in [ReviewFormat::Text, ReviewFormat::Markdown] {
            let report = plain(render(format, &review).unwrap());
            assert!(report.contains(says), "{format:?} {says}: {report}");
        }
    }
    let mut back = sample();
    back.proven_issues[0].standing = Some(probity_review::Standing::Known);
    back.changes.as_mut().unwrap().reopened = vec!["ISS-001".to_owned()];
    let report = render(ReviewFormat::Text, &back).unwrap();
    insta::assert_snapshot!(report, @"
    ISS-001 a b/ü.go:3: high: Divide | by <zero> [correctness P2, known: fixed before, and back again]
        proven by TestDivide in review/tests/ISS-001_TestDivide_test.go
        | --- FAIL
        | ```
        | panic: ␛[31mdivide<U+202E>
    OBS-001 b.go:1: Slow? (not proven: test could not compile)
    DIS-001 discarded: Wrong: its test passes
    fixed: Old in c.go: its test passes now
    P2: the test also passes if the flagged function returns another value
    note: a note
    Score 8.5 of 10.
    ");
}

#[test]
fn the_fix_that_proves_an_issue_is_beside_it() {
    let mut review = sample();
    let issue = &mut review.proven_issues[0];
    let more: String = (0..70).map(|number| format!("+{number}\n")).collect();
    issue.fix_patch = Some(format!("--- a/x\n+++ b/x\n@@ -1 +1,71 @@\n-a\u{202e}\n{more}"));
    for format in [ReviewFormat::Text, ReviewFormat::Markdown] {
        assert!(!render(format, &review).unwrap().contains("+++ b/x"), "{format:?}");
    }
    review.proven_issues[0].proof.as_mut().unwrap().flips_with_fix = Some(true);
    for (format, says) in [
        (
            ReviewFormat::Text,
            "\n    fix:\n    --- a/x\n    +++ b/x\n    @@ -1 +1,71 @@\n    -a<U+202E>\n",
        ),
        (ReviewFormat::Text, "\n    +19\n    … 50 more lines in review.json\n"),
        (ReviewFormat::Markdown, "\n```diff\n--- a/x\n"),
        (ReviewFormat::Markdown, "\n+68\n+69\n```\n"),
    ] {
        let report = render(format, &review).unwrap();
        assert!(report.contains(says), "{format:?} {says}: {report}");
    }
}

#[test]
fn an_excerpt_has_the_complaint_and_not_its_frame() {
    let mut review = sample();
    let issue = &mut review.proven_issues[0];
    issue.test_output =
        "=== RUN   TestDivide\n    ISS-001_TestDivide_test.go:7: got 1\nFAIL\ncoverage: 3%\n"
            .to_owned();
    for format in [ReviewFormat::Text, ReviewFormat::Markdown] {
        let report = render(format, &review).unwrap();
        assert!(report.contains("ISS-001_TestDivide_test.go:7: got 1"), "{report}");
        for noise in ["coverage", "=== RUN", "FAIL"] {
            assert!(!report.contains(noise), "{noise}: {report}");
        }
    }
}

#[test]
fn a_review_that_did_not_happen_is_an_error_everywhere_and_a_score_nowhere() {
    for &format in ReviewFormat::ALL {
        let report = render(format, &failed()).unwrap();
        assert!(report.contains("no answer within 600 s"), "{format:?}: {report}");
        if format != ReviewFormat::Json {
            assert!(!report.to_lowercase().contains("score"), "{format:?}: {report}");
        }
    }
}

#[test]
fn text_says_what_was_proven_by_what() {
    insta::assert_snapshot!(shown(ReviewFormat::Text), @r##"
ISS-001 a b/ü.go:3: high: Divide | by <zero> [correctness P2, not reported before]
    proven by TestDivide in review/tests/ISS-001_TestDivide_test.go
    | --- FAIL
    | ```
    | panic: ␛[31mdivide<U+202E>
OBS-001 b.go:1: Slow? (not proven: test could not compile)
DIS-001 discarded: Wrong: its test passes
fixed: Old in c.go: its test passes now
P2: the test also passes if the flagged function returns another value
note: a note
Score 8.5 of 10.
"##);
}

#[test]
fn annotations_are_errors_only_where_there_is_proof() {
    insta::assert_snapshot!(shown(ReviewFormat::GithubActions), @r##"
::error file=a b/ü.go,line=3,endLine=4,title=ISS-001 high correctness::Divide | by <zero>%0AIt panics.%0A::error::x%0Aproven by TestDivide in review/tests/ISS-001_TestDivide_test.go%0A--- FAIL%0A```%0Apanic: ␛[31mdivide<U+202E>
::notice file=b.go,line=1,title=OBS-001 performance::Slow? (not proven: test could not compile)
review: Score 8.5 of 10.
"##);
}

#[test]
fn markdown_escapes_what_agents_and_tests_write() {
    insta::assert_snapshot!(shown(ReviewFormat::Markdown), @r##"
## Review: 8.5 of 10, passes

Score 8.5 of 10.

### `ISS-001` Divide \| by \<zero\>

**high**, correctness, not reported before, at `a b/ü.go:3`, proven (P2) by `TestDivide` in `review/tests/ISS-001_TestDivide_test.go`

It panics.
::error::x

````text
--- FAIL
```
panic: ␛[31mdivide<U+202E>
````

- `P2`: the test also passes if the flagged function returns another value

### Observations

Not proven, and without any weight.

| | Where | What | Why not proven |
| --- | --- | --- | --- |
| OBS-001 | `b.go:1` | Slow? | test could not compile |

<details><summary>1 discarded</summary>

- DIS-001 Wrong: its test passes

</details>

- Fixed: Old in `c.go`: its test passes now

> a note
"##);
}

#[test]
fn gitlab_gets_one_array_with_a_fingerprint_each() {
    insta::assert_snapshot!(shown(ReviewFormat::Gitlab), @r##"
[{"type":"issue","check_name":"review/correctness","description":"Divide | by <zero>","categories":["Bug Risk"],"severity":"critical","fingerprint":"0123456789abcdef0123456789abcdef","location":{"path":"a b/ü.go","lines":{"begin":3}}},{"type":"issue","check_name":"review/performance","description":"Slow? (not proven: test could not compile)","categories":["Bug Risk"],"severity":"info","fingerprint":"observation-fedcba9876543210fedcba9876543210","location":{"path":"b.go","lines":{"begin":1}}}]
"##);
}

#[test]
fn junit_fails_what_is_proven_and_skips_what_is_not() {
    insta::assert_snapshot!(shown(ReviewFormat::Junit), @r##"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="probity review" tests="3" skipped="1" failures="1" errors="0">
    <testsuite name="review" tests="3" skipped="1" errors="0" failures="1">
        <testcase name="ISS-001 Divide | by &lt;zero&gt;" classname="a b/ü.go" file="a b/ü.go" line="3">
            <failure message="Divide | by &lt;zero&gt; (high, correctness)" type="high">a b/ü.go:3
It panics.
::error::x

--- FAIL
```
panic: ␛[31mdivide&lt;U+202E&gt;</failure>
        </testcase>
        <testcase name="OBS-001 Slow?" classname="b.go" file="b.go" line="1">
            <skipped message="test could not compile"/>
        </testcase>
        <testcase name="DIS-001 Wrong" classname="b.go" file="b.go" line="2"/>
    </testsuite>
</testsuites>
"##);
}

fn sarif(review: &ReviewOutput) -> String {
    let log = render(ReviewFormat::Sarif, review).unwrap();
    log.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// Byte for byte: the log is stored and compared by other tools.
#[test]
fn sarif_is_one_line_with_the_fingerprints_and_the_fix_of_the_review() {
    let mut review = sample();
    let issue = &mut review.proven_issues[0];
    issue.file = "x".to_owned();
    issue.fix_patch = Some("--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n".to_owned());
    issue.test_code = "func TestDivide() {}\n".to_owned();
    let proof = issue.proof.as_mut().unwrap();
    proof.fix = Some(
        serde_json::from_str(r#"{ "result": "flips", "guard": { "state": "guarded" } }"#).unwrap(),
    );
    insta::assert_snapshot!(sarif(&review), @r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"probity review","version":"VERSION","rules":[{"id":"review/security","shortDescription":{"text":"A hole that a test walks through."},"properties":{"tags":["security"]}},{"id":"review/correctness","shortDescription":{"text":"Behavior that a test shows to be wrong."},"properties":{"tags":["correctness"]}},{"id":"review/performance","shortDescription":{"text":"A cost that a test shows to be too high."},"properties":{"tags":["performance"]}},{"id":"review/maintainability","shortDescription":{"text":"A trap for anyone who changes this code next."},"properties":{"tags":["maintainability"]}},{"id":"review/testing","shortDescription":{"text":"Tests that do not test."},"properties":{"tags":["testing"]}}]}},"invocations":[{"executionSuccessful":true}],"columnKind":"utf16CodeUnits","originalUriBaseIds":{"%SRCROOT%":{"description":{"text":"The root of the repository."}}},"results":[{"ruleId":"review/correctness","ruleIndex":1,"level":"error","message":{"text":"Divide | by <zero>\n\nIt panics.\n::error::x"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"x","uriBaseId":"%SRCROOT%"},"region":{"startLine":3,"endLine":4}}}],"partialFingerprints":{"probity/v1":"0123456789abcdef0123456789abcdef"},"properties":{"id":"ISS-001","severity":"high","proven":true,"proof":{"level":"P2","outcome":"failed","reason":"","runner":"","runs":[],"fix":{"result":"flips","reason":"","guard":{"state":"guarded","gaps":[]}}},"test":"TestDivide","testFile":"review/tests/ISS-001_TestDivide_test.go"},"fixes":[{"description":{"text":"The fix with which the test passes."},"artifactChanges":[{"artifactLocation":{"uri":"x","uriBaseId":"%SRCROOT%"},"replacements":[{"deletedRegion":{"startLine":3,"startColumn":1,"endLine":5,"endColumn":1},"insertedContent":{"text":"a\nc\n"}}]}]}]},{"ruleId":"review/performance","ruleIndex":2,"level":"none","message":{"text":"Slow? (not proven: test could not compile)"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"b.go","uriBaseId":"%SRCROOT%"},"region":{"startLine":1}}}],"partialFingerprints":{"probity/v1":"fedcba9876543210fedcba9876543210"},"kind":"review","properties":{"id":"OBS-001","proven":false,"reason":"test could not compile"}}]}]}"#);
}

#[test]
fn sarif_of_a_review_that_failed_has_the_reason() {
    insta::assert_snapshot!(sarif(&failed()), @r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"probity review","version":"VERSION","rules":[{"id":"review/security","shortDescription":{"text":"A hole that a test walks through."},"properties":{"tags":["security"]}},{"id":"review/correctness","shortDescription":{"text":"Behavior that a test shows to be wrong."},"properties":{"tags":["correctness"]}},{"id":"review/performance","shortDescription":{"text":"A cost that a test shows to be too high."},"properties":{"tags":["performance"]}},{"id":"review/maintainability","shortDescription":{"text":"A trap for anyone who changes this code next."},"properties":{"tags":["maintainability"]}},{"id":"review/testing","shortDescription":{"text":"Tests that do not test."},"properties":{"tags":["testing"]}}]}},"invocations":[{"executionSuccessful":false,"toolExecutionNotifications":[{"level":"error","message":{"text":"claude: no answer within 600 s"}}]}],"columnKind":"utf16CodeUnits","originalUriBaseIds":{"%SRCROOT%":{"description":{"text":"The root of the repository."}}},"results":[]}]}"#);
}

#[test]
fn colors_change_no_word_and_a_proven_issue_is_red() {
    let mut review = sample();
    review.proven_issues[0].fix_patch = Some("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".to_owned());
    let proof = review.proven_issues[0].proof.as_mut().unwrap();
    proof.flips_with_fix = Some(true);
    let screen = Screen { is_colored: true, ..Screen::PLAIN };
    for review in [review, failed()] {
        let plain = render(ReviewFormat::Text, &review).unwrap();
        let colored = render_for(screen, ReviewFormat::Text, &review).unwrap();
        assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
        let is_proven = !review.proven_issues.is_empty();
        let red =
            if is_proven { "\u{1b}[1m\u{1b}[31mhigh" } else { "\u{1b}[1m\u{1b}[31mno review" };
        assert!(colored.contains(red), "{colored:?}");
        assert_eq!(colored.contains("\u{1b}[32m+b"), is_proven, "{colored:?}");
        // Other formats are for programs.
        for &format in ReviewFormat::ALL.iter().filter(|format| **format != ReviewFormat::Text) {
            let same = render_for(screen, format, &review).unwrap();
            assert_eq!(same, render(format, &review).unwrap(), "{format:?}");
        }
    }
}

#[test]
fn sentences_are_folded_and_lines_of_programs_are_not() {
    let mut review = sample();
    review.proven_issues[0].title =
        "a defect whose title is longer than a narrow screen is wide".into();
    review.proven_issues[0].test_output = format!("panic: {}\n", "word ".repeat(20));
    review.notes =
        vec!["a note that is longer than a narrow screen is wide, as some notes are".into()];
    let screen = Screen { width: Some(60), ..Screen::PLAIN };
    let text = render_for(screen, ReviewFormat::Text, &review).unwrap();
    let wide: Vec<&str> = text.lines().filter(|line| shown_width(line) > 60).collect();
    assert_eq!(wide.len(), 1, "{text}");
    assert!(wide[0].starts_with("    | panic: word word"), "{text}");
}
