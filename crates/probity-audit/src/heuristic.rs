//! Findings without a model: Aiken is parsed, each handler followed, and each class decided by code.
//!
//! [`detect`] is all that others need. The parser never fails; the evaluator follows each handler
//! through the project's own functions and keeps the conditions of every way that ends with `True`;
//! a detector asks about these conditions. Only names of the language and of the standard library
//! have a meaning. A detector that is unsure says nothing.

mod detectors;
mod evaluate;
mod lexer;
mod parser;
mod path;
mod program;
mod term;
mod tree;
mod view;

use std::collections::BTreeSet;

use self::{
    detectors::{CLASSES, Class},
    evaluate::{HandlerPaths, evaluate_all},
    program::{File, Program},
    term::Location,
};
use crate::{Detected, Finding, evidence::is_long_enough};

/// What is known about all sources; detectors read it.
struct Project<'p> {
    program: &'p Program<'p>,
    handlers: Vec<HandlerPaths<'p>>,
}

/// A place where a class was found, and what is special about it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hit {
    at: Location,
    detail: Option<String>,
}

/// The classes that have a detector, by their names.
pub fn classes() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|class| class.name)
}

/// The class of a skill: its id without the number.
pub(crate) fn class_of(skill_id: &str) -> &str {
    skill_id.trim_end_matches(|end: char| end.is_ascii_digit()).trim_end_matches('-')
}

/// The findings of every class in all sources, which are pairs of a path and a text.
#[must_use]
pub fn detect(sources: &[(String, String)]) -> Detected {
    let program = Program::new(sources);
    let handlers = evaluate_all(&program);
    let project = Project { program: &program, handlers };
    CLASSES.iter().map(|class| (class.name, findings(class, &project))).collect()
}

fn findings(class: &Class, project: &Project<'_>) -> Vec<Finding> {
    let program = project.program;
    let mut found = Vec::new();
    let mut lines = BTreeSet::new();
    for handler in &project.handlers {
        for hit in (class.detect)(project, handler) {
            let Some(file) = program.files.get(hit.at.file) else { continue };
            let line = line_number(file, hit.at);
            if lines.insert((hit.at.file, line)) {
                found.push(finding(class, file, line, hit.detail));
            }
        }
    }
    found.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
    found
}

fn finding(class: &Class, file: &File<'_>, line: usize, detail: Option<String>) -> Finding {
    let summary = match detail {
        Some(detail) => format!("{} {detail}", class.summary),
        None => class.summary.to_owned(),
    };
    Finding {
        title: class.title.to_owned(),
        severity: class.severity,
        summary,
        evidence: vec![quote(file.text, line)],
        recommendation: class.recommendation.to_owned(),
        file: Some(file.path.to_owned()),
        line: u64::try_from(line).ok(),
        verified: None,
        fingerprint: None,
        refutation: None,
        impact: None,
        likelihood: None,
        exploit: None,
        offered: None,
    }
}

/// The line, with as many of the next ones as it takes to be found again.
fn quote(text: &str, line: usize) -> String {
    let mut quoted = String::new();
    for next in text.lines().skip(line - 1) {
        if !quoted.is_empty() {
            quoted.push('\n');
        }
        quoted.push_str(next.trim());
        if is_long_enough(&quoted) {
            break;
        }
    }
    quoted
}

fn line_number(file: &File<'_>, at: Location) -> usize {
    let before = file.text.as_bytes().get(..at.span.start).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
