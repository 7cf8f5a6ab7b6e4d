//! A final answer, made into findings: bounded, with defaults where the model said nothing.

use probity_text::one_line;
use serde_json::{Map, Value};

use crate::{Finding, NextPrompt, Risk, Skill, Verdict, exploit::Attempt, text::bounded};

/// No contract has so many holes of one class; a model that counts further has lost its way.
const MOST_FINDINGS: usize = 200;
const MOST_EVIDENCE: usize = 50;
const MOST_TITLE: usize = 300;
const MOST_TEXT: usize = 8_000;

/// Words by which models say that they came to no end.
pub(crate) const FAILURES: &[&str] = &[
    "failed",
    "failure",
    "fail",
    "error",
    "errored",
    "aborted",
    "cancelled",
    "canceled",
    "incomplete",
    "max-steps",
    "over-budget",
    "unread",
];

/// Words by which they say that they looked and are done.
pub(crate) const SUCCESSES: &[&str] = &[
    "completed",
    "complete",
    "done",
    "finished",
    "final",
    "ok",
    "success",
    "succeeded",
    "clean",
    "pass",
    "passed",
    "no_findings",
    "no-findings",
    "no findings",
];

/// What the model said about one skill.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answered {
    pub(crate) status: String,
    pub(crate) findings: Vec<Finding>,
    pub(crate) next_prompt: Option<NextPrompt>,
}

impl Answered {
    /// What a skill comes to that nobody answered.
    pub(crate) fn nothing(status: &str) -> Self {
        Self { status: status.to_owned(), findings: Vec::new(), next_prompt: None }
    }
}

pub(crate) fn answered(object: &Map<String, Value>, skill: &Skill) -> Answered {
    let status = object.get("status").and_then(Value::as_str).map(|status| one_line(status, 60));
    let findings = match object.get("findings") {
        Some(Value::Array(findings)) => findings.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        _ => Vec::new(),
    };
    let next = match object.get("next_prompt") {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(Value::Object(next)) => next.get("text").and_then(Value::as_str),
        _ => None,
    };
    Answered {
        status: status.filter(|status| !status.is_empty()).unwrap_or("completed".to_owned()),
        findings: findings
            .into_iter()
            .take(MOST_FINDINGS)
            .filter_map(|value| finding(value, skill.severity))
            .collect(),
        next_prompt: next
            .filter(|text| !text.trim().is_empty())
            .map(|text| NextPrompt { skill_id: skill.id.clone(), text: bounded(text, MOST_TEXT) }),
    }
}

fn finding(value: &Value, usual: Risk) -> Option<Finding> {
    let empty = Map::new();
    let object = match value {
        Value::Object(object) => object,
        Value::String(text) if !text.trim().is_empty() => &empty,
        _ => return None,
    };
    let text = |key: &str| match object.get(key) {
        Some(Value::String(text)) => bounded(text.trim(), MOST_TEXT),
        _ => String::new(),
    };
    let location = object.get("location").and_then(Value::as_object);
    let place =
        |key: &str| object.get(key).filter(|value| !value.is_null()).or_else(|| location?.get(key));
    let title = one_line(&text("title"), MOST_TITLE);
    let summary = match value {
        Value::String(said) => bounded(said.trim(), MOST_TEXT),
        _ => text("summary"),
    };
    let file = place("file").and_then(Value::as_str).map(str::trim);
    Some(Finding {
        title: if title.is_empty() { "Untitled finding".to_owned() } else { title },
        severity: object
            .get("severity")
            .and_then(Value::as_str)
            .and_then(Risk::meant_by)
            .unwrap_or(usual),
        summary,
        evidence: evidence(object.get("evidence")),
        recommendation: text("recommendation"),
        file: file.filter(|file| !file.is_empty()).map(|file| one_line(file, 1_000)),
        line: place("line").and_then(line),
        verified: None,
        fingerprint: None,
        refutation: None,
        impact: Some(text("impact")).filter(|impact| !impact.is_empty()),
        likelihood: object.get("likelihood").and_then(Value::as_str).and_then(Risk::meant_by),
        exploit: None,
        offered: Attempt::read(object),
    })
}

/// What a model said about a finding of another.
pub(crate) struct Refuted {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<String>,
    pub(crate) file: Option<String>,
}

pub(crate) fn refuted(object: &Map<String, Value>) -> Refuted {
    let word = |key: &str| object.get(key).and_then(Value::as_str).map(str::trim);
    Refuted {
        verdict: verdict(object).unwrap_or(Verdict::Undecided),
        reason: bounded(word("reason").unwrap_or_default(), MOST_TEXT),
        evidence: evidence(object.get("evidence")),
        file: word("file").filter(|file| !file.is_empty()).map(|file| one_line(file, 1_000)),
    }
}

pub(crate) fn verdict(object: &Map<String, Value>) -> Option<Verdict> {
    let word = object.get("verdict")?.as_str()?.trim().to_lowercase();
    [Verdict::Refuted, Verdict::Upheld, Verdict::Undecided]
        .into_iter()
        .find(|verdict| verdict.as_str() == word)
}

/// A list of quotes. Some models give one alone, or objects with the quote in one of their fields.
fn evidence(value: Option<&Value>) -> Vec<String> {
    let quote = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(object) => ["quote", "code", "snippet", "text", "content"]
            .iter()
            .find_map(|key| object.get(*key)?.as_str().map(str::to_owned))
            .or_else(|| serde_json::to_string(object).ok()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let quotes: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().take(MOST_EVIDENCE).filter_map(quote).collect(),
        Some(one) => quote(one).into_iter().collect(),
        None => Vec::new(),
    };
    let quotes = quotes.iter().filter(|quote| !quote.trim().is_empty());
    quotes.map(|quote| bounded(&without_line_numbers(quote), MOST_TEXT)).collect()
}

/// A quote as the file has it, if the model copied the numbers of the first prompt with it.
fn without_line_numbers(quote: &str) -> String {
    let strip = |line: &str| {
        let (number, code) = line.split_once("| ")?;
        let number = number.trim_start();
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        is_number.then(|| code.trim().to_owned())
    };
    let lines: Option<Vec<String>> = quote.lines().map(strip).collect();
    lines.map_or_else(|| quote.to_owned(), |lines| lines.join("\n"))
}

/// A line is a number, or one written as a string, as in `"42"` or `"42-45"`.
fn line(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && *float >= 1.0)?;
            format!("{whole:.0}").parse().ok()
        }),
        Value::String(text) => {
            let digits: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        }
        _ => None,
    };
    number.filter(|line| *line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill() -> Skill {
        crate::embedded().unwrap().remove(0)
    }

    fn one(finding: &str) -> Finding {
        let text = format!(r#"{{"findings":[{finding}]}}"#);
        let object: Map<String, Value> = serde_json::from_str(&text).unwrap();
        answered(&object, &skill()).findings.remove(0)
    }

    #[test]
    fn what_is_missing_has_its_default() {
        let found = one("{}");
        assert_eq!(found.title, "Untitled finding");
        assert_eq!(found.severity, Risk::High, "the skill's own");
        assert_eq!((found.summary.as_str(), found.recommendation.as_str()), ("", ""));
        assert_eq!((found.file, found.line), (None, None));
        let object = serde_json::from_str(r#"{"status":""}"#).unwrap();
        assert_eq!(answered(&object, &skill()).status, "completed");
    }

    #[test]
    fn lines_are_numbers_or_numeric_strings_here_or_in_the_location() {
        for (text, file, line) in [
            (r#"{"file":"a","line":5}"#, Some("a"), Some(5)),
            (r#"{"file":" ","line":"5"}"#, None, Some(5)),
            (r#"{"location":{"file":"b","line":"7-9"}}"#, Some("b"), Some(7)),
            (r#"{"file":null,"line":null,"location":{"file":"b","line":7}}"#, Some("b"), Some(7)),
            (r#"{"line":4.0}"#, None, Some(4)),
            (r#"{"line":-1}"#, None, None),
            (r#"{"line":0}"#, None, None),
            (r#"{"line":"x"}"#, None, None),
            (r#"{"line":1e300}"#, None, None),
        ] {
            let found = one(text);
            assert_eq!((found.file.as_deref(), found.line), (file, line), "{text}");
        }
    }

    #[test]
    fn severities_are_normalized_and_evidence_of_any_form_is_kept() {
        assert_eq!(one(r#"{"severity":"CRITICAL"}"#).severity, Risk::Critical);
        assert_eq!(one(r#"{"severity":"who knows"}"#).severity, Risk::High);
        for (text, quotes) in [
            (r#"{"evidence":["a","b"]}"#, &["a", "b"][..]),
            (r#"{"evidence":"a"}"#, &["a"]),
            (r#"{"evidence":[{"quote":"q","line":3}]}"#, &["q"]),
            (r#"{"evidence":[null,"", 5]}"#, &["5"]),
        ] {
            assert_eq!(one(text).evidence, quotes, "{text}");
        }
        assert_eq!(one(r#""a string""#).summary, "a string");
    }
}
