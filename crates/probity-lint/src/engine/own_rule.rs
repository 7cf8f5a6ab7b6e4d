//! Rules that users write: an expression over what is known about an instruction, a message, and
//! optionally a replacement.
//!
//! **Invariant:** the cost is linear in the length of the file. Loops are not nested, an expression has
//! an end, and what is known is looked up only if the expression uses it.

mod types;
mod values;

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use cel::{Context as Scope, Env, Program, Value};
use probity_dockerfile::{Dockerfile, Facts};
use probity_finding::{Edit, Finding, Fix, Severity, Span};

use self::types::Checked;
pub use self::types::ExpressionError;
use crate::Parsed;

/// What the names of such rules begin with.
pub const OWN_NAMESPACE: &str = "own/";

/// Bytes of an expression.
const LONGEST: usize = 4_000;
/// Names, numbers, texts and signs of an expression; the parser needs memory for each.
const MOST_WORDS: usize = 300;
/// Brackets within brackets.
const DEEPEST: usize = 32;

static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A rule as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenRule {
    /// Without the namespace.
    pub name: String,
    pub message: String,
    /// A paragraph for its page.
    pub description: String,
    pub severity: Option<Severity>,
    pub when: String,
    /// A text of the instruction, and what should stand in its place.
    pub replacement: Option<(String, String)>,
    /// Dockerfiles, or instructions of one, that the rule reports.
    pub bad: Vec<String>,
    /// The same for what it does not report.
    pub good: Vec<String>,
}

/// A rule that is ready to run.
pub struct OwnRule {
    name: String,
    written: WrittenRule,
    program: Program,
    checked: Checked,
}

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnRuleError {
    #[error("`name` is `{0}`; use lower-case letters, digits and `-`")]
    Name(String),
    #[error("`message` is empty; say what is wrong and what to do")]
    NoMessage,
    #[error("`replace` is empty; name the text that `with` replaces")]
    NothingToReplace,
    #[error("`when` of `{rule}`: {error}")]
    When { rule: String, error: ExpressionError },
}

/// An example that is not judged as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongExample {
    Silent(String),
    Reported(String),
    /// The rule still reports what its replacement made of the example.
    NotFixed(String, String),
}

impl OwnRule {
    pub fn new(written: WrittenRule) -> Result<Self, OwnRuleError> {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if written.name.is_empty() || !written.name.bytes().all(is_name) {
            return Err(OwnRuleError::Name(written.name));
        }
        if written.message.trim().is_empty() {
            return Err(OwnRuleError::NoMessage);
        }
        if written.replacement.as_ref().is_some_and(|(replaced, _)| replaced.is_empty()) {
            return Err(OwnRuleError::NothingToReplace);
        }
        let when = |error| OwnRuleError::When { rule: written.name.clone(), error };
        if written.when.len() > LONGEST {
            return Err(when(ExpressionError::TooLong(LONGEST)));
        }
        let (words, depth) = measure(&written.when);
        if words > MOST_WORDS {
            return Err(when(ExpressionError::TooLarge(MOST_WORDS)));
        }
        if depth > DEEPEST {
            return Err(when(ExpressionError::TooDeep(DEEPEST)));
        }
        let program = Program::compile(&written.when)
            .map_err(|errors| when(ExpressionError::Syntax(first_error(&errors.to_string()))))?;
        let checked = types::check(program.expression()).map_err(when)?;
        let name = format!("{OWN_NAMESPACE}{}", written.name);
        Ok(Self { name, written, program, checked })
    }

    /// With the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn severity(&self) -> Severity {
        self.written.severity.unwrap_or(Severity::Warning)
    }

    #[must_use]
    pub fn message(&self) -> &str {
        &self.written.message
    }

    /// The manual page.
    #[must_use]
    pub fn page(&self) -> String {
        let WrittenRule { message, description, when, replacement, bad, good, .. } = &self.written;
        let mut page = format!("# {}\n\n{message}\n", self.name);
        if !description.is_empty() {
            page.push_str(&format!("\n{}\n", description.trim()));
        }
        page.push_str(&format!("\n## Condition\n\n```\n{}\n```\n", when.trim()));
        if let Some((replaced, with)) = replacement {
            let what = change_in_words(replaced, with);
            page.push_str(&format!("\n## Fix\n\nA suggestion: {what}.\n"));
        }
        for (heading, examples) in [("Reported", bad), ("Not reported", good)] {
            for (number, example) in examples.iter().enumerate() {
                let heading = if number == 0 { format!("\n## {heading}\n") } else { String::new() };
                page.push_str(&format!("{heading}\n```dockerfile\n{}\n```\n", example.trim_end()));
            }
        }
        page
    }

    /// Adds what the rule finds.
    pub(crate) fn check(
        &self,
        file: &Dockerfile<'_>,
        facts: &Facts,
        severity: Severity,
        found: &mut Vec<Finding>,
    ) {
        for (index, instruction) in file.instructions.iter().enumerate() {
            let mut scope = Scope::with_env(Arc::clone(&LANGUAGE));
            values::add(&mut scope, &self.checked, file, facts, index);
            // What is asked for and is not there, such as a flag, makes the condition false.
            if self.program.execute(&scope) != Ok(Value::Bool(true)) {
                continue;
            }
            let source = instruction.span.slice(file.text).unwrap_or_default();
            let places = self.places(source, instruction.span.start);
            let first_line = source.lines().next().unwrap_or_default().trim_end();
            let start = instruction.span.start;
            let span = places.first().copied();
            let span = span.unwrap_or_else(|| Span::new(start, start + first_line.len()));
            let finding =
                Finding::new(self.name.clone(), severity, span, self.written.message.clone());
            found.push(match &self.written.replacement {
                Some((replaced, with)) if !places.is_empty() => {
                    let edits = places.into_iter().map(|place| Edit::replace(place, with.clone()));
                    let title = change_in_words(replaced, with);
                    finding.with_fix(Fix::suggestion(title, edits.collect()))
                }
                _ => finding,
            });
        }
    }

    /// Where the text to replace stands in an instruction that begins at `start`.
    fn places(&self, source: &str, start: usize) -> Vec<Span> {
        let Some((replaced, _)) = &self.written.replacement else { return Vec::new() };
        let each = source.match_indices(replaced.as_str());
        each.map(|(at, text)| Span::new(start + at, start + at + text.len())).collect()
    }

    /// Tries the examples of the rule.
    #[must_use]
    pub fn wrong_examples(&self) -> Vec<WrongExample> {
        let mut wrong = Vec::new();
        for example in &self.written.bad {
            let text = whole(example);
            let findings = self.findings(&text);
            if findings.is_empty() {
                wrong.push(WrongExample::Silent(example.clone()));
            } else if self.written.replacement.is_some() {
                let fixed = fixed(&text, &findings);
                if !self.findings(&fixed).is_empty() {
                    wrong.push(WrongExample::NotFixed(example.clone(), fixed));
                }
            }
        }
        let good = self.written.good.iter();
        let reported = good.filter(|example| !self.findings(&whole(example)).is_empty());
        wrong.extend(reported.map(|example| WrongExample::Reported(example.clone())));
        wrong
    }

    /// How many examples there are.
    #[must_use]
    pub fn examples(&self) -> usize {
        self.written.bad.len() + self.written.good.len()
    }

    fn findings(&self, text: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        let Parsed { file, facts } = Parsed::of(text);
        self.check(&file, &facts, self.severity(), &mut found);
        found
    }
}

/// An example as a file of its own.
fn whole(example: &str) -> String {
    let has_from = example.lines().any(|line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        first.eq_ignore_ascii_case("FROM")
    });
    let from = if has_from { "" } else { "FROM scratch\n" };
    format!("{from}{}\n", example.trim_end())
}

/// The text with the fixes of all findings, the last one first.
fn fixed(text: &str, findings: &[Finding]) -> String {
    let fixes = findings.iter().flat_map(|finding| &finding.fixes);
    let mut edits: Vec<&Edit> = fixes.flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.start..edit.span.end, &edit.text);
    }
    text
}

/// How many words and signs a text has, and how deep its brackets are nested. A text in quotes counts
/// as its words.
fn measure(text: &str) -> (usize, usize) {
    let (mut count, mut depth, mut deepest, mut in_word) = (0_usize, 0_usize, 0, false);
    for char in text.chars() {
        let is_part = char.is_alphanumeric() || char == '_';
        if !(char.is_whitespace() || is_part && in_word) {
            count += 1;
        }
        in_word = is_part;
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    (count, deepest)
}

fn change_in_words(replaced: &str, with: &str) -> String {
    if with.is_empty() {
        return format!("remove `{}`", replaced.trim());
    }
    format!("replace `{replaced}` with `{with}`")
}

/// The first error of the parser, without the picture below it: `ERROR: <input>:1:27: Syntax error: …`.
fn first_error(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.strip_prefix("ERROR: <input>:").unwrap_or(line);
    match line.split_once(": Syntax error: ") {
        Some((place, what)) => {
            let (line, column) = place.split_once(':').unwrap_or(("1", place));
            format!("{what} (line {line}, column {column})")
        }
        None => line.to_owned(),
    }
}

impl fmt::Debug for OwnRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OwnRule").field("written", &self.written).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
