//! What agents wrap their findings in, and what is wrong with single ones.

use probity_review::{FindingsError, Risk, answer_schema, parse_findings};
use serde_json::{Value, json};

const ONE: &str = r#"{"title":"t","file":"a.go","line":3,"severity_hint":"high","category":"security","test_code":"x"}"#;

fn titles(answer: &str) -> Vec<String> {
    parse_findings(answer).unwrap().accepted.into_iter().map(|finding| finding.title).collect()
}

#[test]
fn a_list_is_found_whatever_is_around_it() {
    let fence = "```";
    let text = serde_json::to_string(&format!("{fence}json\n[{ONE}]\n{fence}")).unwrap();
    for answer in [
        format!("[{ONE}]"),
        format!("\u{feff}\n [{ONE}] \n"),
        format!("{{\"findings\": [{ONE}]}}"),
        ONE.to_owned(),
        format!("{{\"type\":\"result\",\"result\":{text}}}"),
        format!("{{\"structured_output\":{{\"findings\":[{ONE}]}}}}"),
        format!("Here you are:\n{fence}json\n[{ONE}]\n{fence}\nThat is all."),
        format!("First a draft:\n{fence}\n[]\n{fence}\nand now:\n{fence}json\n[{ONE}]\n{fence}\n"),
        format!("I looked at a[0] and b[] and found [{ONE}] there."),
        format!("Arrays like [1, 2] do no harm.\n[{ONE}]\nDone {{well}}."),
        format!("An unclosed [ bracket, then\n{{\"findings\": [{ONE}]}}"),
    ] {
        assert_eq!(titles(&answer), ["t"], "{answer}");
    }
}

#[test]
fn an_empty_list_is_a_clean_review_only_where_it_is_the_answer() {
    for answer in
        ["[]", " [ ] ", "{\"findings\":[]}", "Nothing.\n\n```json\n[]\n```\n", "```\n[]\n```"]
    {
        assert_eq!(titles(answer), [""; 0], "{answer}");
    }
    for (answer, cut) in [
        ("The index list[] is never empty.", false),
        ("I found no defects.", false),
        ("null", false),
        ("I cannot read any file here.\n\n[]\n", false),
        ("None:\n[]\n", false),
        ("The format is:\n```json\n[]\n```\nI am sorry, I cannot do that.", false),
        ("A:\n```json\n[]\n```\nB:\n```json\n[]\n```\n", false),
        ("\"[]\"", false),
        ("[1, 2]x", false),
        ("[{\"title\": \"t\", \"file\": \"a.go\", \"li", true),
        ("Here: {\"findings\": [{\"title\":", true),
        (&format!("[{ONE}, {{\"title\": \"x\", \"fi"), true),
        (&format!("```\n[{ONE}]\n```\nand now\n```json\n[{ONE}, {{\"fi"), true),
    ] {
        match parse_findings(answer) {
            Err(FindingsError::CutOff) => assert!(cut, "{answer}"),
            Err(FindingsError::NoList { .. }) => assert!(!cut, "{answer}"),
            other => panic!("{answer}: {other:?}"),
        }
    }
    assert_eq!(parse_findings(" \n"), Err(FindingsError::Empty));
    for answer in ["[1, 2, 3]", "[\"a\"]", "[{\"title\": \"x\"}]"] {
        let none = parse_findings(answer);
        assert!(matches!(none, Err(FindingsError::NoneUsable { .. })), "{answer}: {none:?}");
    }
}

#[test]
fn a_bad_item_is_rejected_alone_with_its_reason() {
    let good: Value = serde_json::from_str(ONE).unwrap();
    let with = |key: &str, value: Value| {
        let mut item = good.clone();
        item[key] = value;
        item
    };
    for (item, reason) in [
        (json!(5), "it is not an object"),
        (with("title", json!("")), "title is missing"),
        (with("file", Value::Null), "file is missing"),
        (with("line", json!(0)), "line is 0, and lines are counted from 1"),
        (with("line", json!(-3)), "line is not a line number"),
        (with("line", json!("twelve")), "line is not a line number"),
        (with("line", Value::Null), "line is missing"),
        (
            with("severity_hint", json!("fatal")),
            "unknown severity `fatal`, expected one of critical, high, medium, low",
        ),
        (with("severity_hint", Value::Null), "severity_hint is missing"),
        (
            with("category", json!("style")),
            "unknown category `style`, expected one of security, correctness, performance, maintainability, testing",
        ),
        (with("test_code", json!(["x"])), "test_code is not a text"),
        (with("test_code", json!("a\0b")), "test_code has a NUL character in it"),
        (
            with("test_code", json!("x".repeat(300_000))),
            "test_code has 300000 bytes, the limit is 262144",
        ),
    ] {
        let findings = parse_findings(&json!([good, item, good]).to_string()).unwrap();
        assert_eq!(findings.accepted.len(), 2, "{reason}");
        assert_eq!(findings.rejected.len(), 1, "{reason}");
        assert_eq!(findings.rejected[0].reason, reason);
    }
}

#[test]
fn lenient_spellings_are_read_and_texts_lose_what_steers_a_terminal() {
    let item = json!([{
        "title": "a\u{1b}[31mred\u{0}\nthing", "file": "./a.go", "line": "12", "end_line": 14.0,
        "severity": "HIGH", "category": " Security ", "description": "x\r\ny\u{1b}]0;t\u{7}",
        "test_code": "  ", "fix_patch": null, "unknown": true,
    }]);
    let findings = parse_findings(&item.to_string()).unwrap();
    let finding = &findings.accepted[0];
    assert_eq!(
        (finding.title.as_str(), finding.line, finding.end_line),
        ("ared thing", 12, Some(14))
    );
    assert_eq!((finding.severity, finding.description.as_str()), (Risk::High, "x\ny"));
    assert_eq!((&finding.test_code, &finding.fix_patch), (&None, &None));
}

#[test]
fn the_schema_that_agents_get_takes_what_we_read() {
    let schema = jsonschema::validator_for(&answer_schema()).unwrap();
    let one: Value = serde_json::from_str(ONE).unwrap();
    assert!(schema.is_valid(&json!({ "findings": [one] })));
    assert!(schema.is_valid(&json!({ "findings": [] })));
    assert!(!schema.is_valid(&json!([one])));
}

#[test]
fn a_hostile_answer_costs_no_more_than_a_long_one() {
    for piece in ["[", "{", "[1,", "```\n", "{\"a\":", "[{\"title\":\"", "\\"] {
        let began = std::time::Instant::now();
        let answer = piece.repeat((1 << 20) / piece.len());
        assert!(parse_findings(&answer).is_err(), "{piece}");
        assert!(began.elapsed().as_secs() < 10, "{piece}: {:?}", began.elapsed());
    }
}
