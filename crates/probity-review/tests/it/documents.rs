//! `review.json`: read, written, checked, and held against the schema that is shipped.

use probity_review::{
    Category, FailureKind, REVIEW_SCHEMA, ReviewFailure, ReviewOutput, Risk, Status, TestSummary,
    read,
};
use serde_json::{Value, json};

/// A review with one proven issue of each kind of field.
pub(crate) fn sample() -> ReviewOutput {
    let text = json!({
        "schema_version": "1.0.0",
        "status": "ok",
        "metadata": {
            "repo": "example.org/o/r", "commit": "c0ffee", "branch": "main",
            "timestamp": "2026-11-15T09:00:00Z", "duration_seconds": 3, "agent_cli": "claude",
            "agent_model": "", "files_reviewed": 2, "tests_generated": 2, "tests_failing": 1,
        },
        "score": {
            "value": 8.5, "max": 10.0, "pass": true, "threshold": 7.0, "fail_on_critical": false,
            "deductions": [{ "issue_id": "ISS-001", "severity": "high", "points": 1.5 }],
        },
        "proven_issues": [{
            "id": "ISS-001", "severity": "high", "title": "t", "file": "a.go", "line": 3,
            "test_file": "review/tests/ISS-001_TestA_test.go", "test_name": "TestA",
            "test_output": "--- FAIL", "category": "correctness",
            "fingerprint": "0123456789abcdef0123456789abcdef", "introduced": true,
            "proof": { "level": "P2", "outcome": "failed", "runs": [] },
        }],
        "observations": [{
            "id": "OBS-001", "title": "o", "file": "b.go", "line": 1, "category": "testing",
            "reason": "the agent wrote no test for it", "fingerprint": "",
        }],
        "discarded": [{ "id": "DIS-001", "title": "d", "reason": "its test passes" }],
        "test_summary": { "total_generated": 2, "passing": 1, "failing": 1, "error": 0 },
        "summary": "Score 8.5 of 10.",
    });
    read(&text.to_string()).unwrap()
}

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(REVIEW_SCHEMA).unwrap()).unwrap()
}

#[test]
fn a_review_survives_writing_and_reading_and_fits_the_schema() {
    let review = sample();
    review.validate().unwrap();
    let text = serde_json::to_string(&review).unwrap();
    assert_eq!(read(&text).unwrap(), review);
    let value: Value = serde_json::from_str(&text).unwrap();
    if let Err(error) = schema().validate(&value) {
        panic!("{error} at {}", error.instance_path());
    }
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn empty_lists_are_lists_and_null_is_read_as_one() {
    let mut value = serde_json::to_value(sample()).unwrap();
    for list in ["proven_issues", "observations", "discarded", "notes"] {
        value[list] = Value::Null;
    }
    value["score"]["deductions"] = Value::Null;
    let review = read(&value.to_string()).unwrap();
    let written = serde_json::to_value(&review).unwrap();
    for list in ["proven_issues", "observations", "discarded", "notes"] {
        assert_eq!(written[list], json!([]), "{list}");
    }
    assert_eq!(written["score"]["deductions"], json!([]));
}

#[test]
fn a_review_of_the_original_tool_is_read() {
    let text = r#"{"schema_version":"1.0.0","metadata":{"repo":"","commit":"","branch":"",
      "timestamp":"0001-01-01T00:00:00Z","duration_seconds":0,"agent_cli":"","agent_model":"",
      "files_reviewed":0,"tests_generated":0,"tests_failing":0},"score":{"value":0,"max":10,
      "pass":false,"threshold":7,"deductions":null},"proven_issues":null,"observations":null,
      "test_summary":{"total_generated":0,"passing":0,"failing":0,"error":0},
      "summary":"adapter error: exit status 1"}"#;
    let review = read(text).unwrap();
    assert_eq!((review.status, review.score.value), (Status::Ok, 0.0));
}

#[test]
fn what_contradicts_itself_is_refused_by_us_and_by_the_schema_where_it_can() {
    type Break = fn(&mut ReviewOutput);
    let cases: &[(bool, Break)] = &[
        (true, |review| review.schema_version = "2.0.0".to_owned()),
        (true, |review| review.summary = String::new()),
        (true, |review| review.metadata.repo = String::new()),
        (true, |review| review.metadata.commit = String::new()),
        (true, |review| review.proven_issues[0].title = String::new()),
        (true, |review| review.proven_issues[0].test_name = String::new()),
        (true, |review| review.proven_issues[0].line = 0),
        (true, |review| review.observations[0].line = 0),
        (false, |review| review.test_summary.total_generated = 3),
        (false, |review| review.score.value = 8.0),
        (false, |review| review.score.pass = false),
        (true, |review| review.score.max = 5.0),
        (false, |review| review.score.deductions.clear()),
        (true, |review| review.score.deductions[0].points = -1.5),
        (false, |review| {
            review.observations.push(review.observations[0].clone());
        }),
        (true, |review| failed(review, None)),
        (true, |review| {
            failed(review, Some(why()));
            review.score.pass = true;
        }),
        (true, |review| {
            failed(review, Some(why()));
            review.score.value = 8.5;
        }),
    ];
    let mut errors = Vec::new();
    for (schema_too, change) in cases {
        let mut review = sample();
        change(&mut review);
        let error = review.validate().unwrap_err().to_string();
        let value = serde_json::to_value(&review).unwrap();
        assert_eq!(!schema().is_valid(&value), *schema_too, "{error}");
        errors.push(error);
    }
    insta::assert_snapshot!(errors.join("\n"), @"
    schema_version is `2.0.0`, not 1.0.0
    summary is empty
    metadata.repo is empty
    metadata.commit is empty
    title of the proven issue ISS-001 is empty
    test_name of the proven issue ISS-001 is empty
    line of ISS-001 is 0, and lines are counted from 1
    line of OBS-001 is 0, and lines are counted from 1
    test_summary: 3 tests are not 2 passing, failing and in error
    score: 8 is not 10 minus 1.5
    score: pass is false, and should be true
    score: max is 5
    score: the deductions are not those of the proven issues
    score: 8.5 is not 10 minus -1.5
    two entries have the id OBS-001
    status is error, and there is no error to tell
    status is error, and it passes
    status is error, and it has a score
    ");
    let mut review = sample();
    failed(&mut review, Some(why()));
    review.validate().unwrap();
    assert!(schema().is_valid(&serde_json::to_value(&review).unwrap()));
}

fn why() -> ReviewFailure {
    let (message, help, stderr) = ("no answer".to_owned(), String::new(), String::new());
    ReviewFailure { kind: FailureKind::Timeout, message, help, stderr }
}

fn failed(review: &mut ReviewOutput, error: Option<ReviewFailure>) {
    review.status = Status::Error;
    review.error = error;
    review.proven_issues.clear();
    review.observations.clear();
    review.discarded.clear();
    review.test_summary = TestSummary::default();
    let score = &mut review.score;
    (score.value, score.pass) = (0.0, false);
    score.deductions.clear();
}

#[test]
fn words_outside_the_scales_are_refused() {
    let value = serde_json::to_value(sample()).unwrap();
    for (pointer, word) in [
        ("/proven_issues/0/severity", "fatal"),
        ("/proven_issues/0/category", "style"),
        ("/observations/0/category", "style"),
    ] {
        let mut value = value.clone();
        *value.pointer_mut(pointer).unwrap() = json!(word);
        assert!(read(&value.to_string()).is_err(), "{pointer}");
        assert!(!schema().is_valid(&value), "{pointer}");
    }
    for risk in Risk::ALL {
        assert_eq!(risk.as_str().parse(), Ok(risk));
    }
    for category in Category::ALL {
        assert_eq!(category.as_str().parse(), Ok(category));
    }
}
