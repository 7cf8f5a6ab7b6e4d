//! What ShellCheck reads, and the report that it writes: `json1`.

use std::{borrow::Cow, ops::Range};

use probity_finding::Severity;
use probity_lint::{ScriptFinding, ShellScript};
use serde::Deserialize;

/// The file of a text: which shell it is for, what is set before it, and the text itself.
pub(super) fn file(script: &ShellScript) -> String {
    let mut file = format!("#!/bin/{}\n", script.shell);
    for name in &script.variables {
        file.push_str(&format!("export {name}=1\n"));
    }
    // A directive on the first line of the text would else be one for all of it.
    file.push_str(END_OF_HEAD);
    file.push_str(&script.text);
    file
}

const END_OF_HEAD: &str = "export HTTP_PROXY=1\n";

/// The findings of each of the files, which are named by their numbers.
pub(super) fn findings(
    report: &[u8],
    scripts: &[&ShellScript],
) -> Result<Vec<Vec<ScriptFinding>>, serde_json::Error> {
    let report: Report<'_> = serde_json::from_slice(report)?;
    let texts: Vec<Places<'_>> = scripts.iter().map(|script| Places::of(script)).collect();
    let mut all = vec![Vec::new(); scripts.len()];
    for comment in report.comments {
        let number: Option<usize> = comment.file.parse().ok();
        let found = number.and_then(|number| Some((texts.get(number)?, all.get_mut(number)?)));
        let Some((places, list)) = found else { continue };
        // What it says about the lines before the text is nobody's fault.
        let Some(range) = places.range(&comment.place) else { continue };
        let replacements = comment.fix.map(|fix| fix.replacements).unwrap_or_default();
        let edits = replacements.into_iter().map(|replacement| {
            Some((places.range(&replacement.place)?, replacement.replacement.into_owned()))
        });
        list.push(ScriptFinding {
            code: comment.code,
            severity: comment.level.severity(),
            range,
            message: comment.message.into_owned(),
            edits: edits.collect::<Option<_>>().unwrap_or_default(),
        });
    }
    Ok(all)
}

#[derive(Deserialize)]
struct Report<'r> {
    #[serde(borrow)]
    comments: Vec<Comment<'r>>,
}

#[derive(Deserialize)]
struct Comment<'r> {
    #[serde(borrow)]
    file: Cow<'r, str>,
    #[serde(flatten)]
    place: ReportedRange,
    level: Level,
    code: u32,
    message: Cow<'r, str>,
    fix: Option<Replacements<'r>>,
}

#[derive(Deserialize)]
struct Replacements<'r> {
    #[serde(borrow)]
    replacements: Vec<Replacement<'r>>,
}

#[derive(Deserialize)]
struct Replacement<'r> {
    #[serde(flatten)]
    place: ReportedRange,
    replacement: Cow<'r, str>,
}

/// Lines and columns from 1; the end is behind the last character.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedRange {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warning,
    Info,
    Style,
}

impl Level {
    fn severity(&self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Style => Severity::Style,
        }
    }
}

/// The way from lines and columns of a file to offsets of its text.
struct Places<'s> {
    text: &'s str,
    /// Lines before those of the text.
    head: usize,
    /// Where lines begin.
    lines: Vec<usize>,
}

impl<'s> Places<'s> {
    fn of(script: &'s ShellScript) -> Self {
        let text = script.text.as_str();
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, head: script.variables.len() + 2, lines }
    }

    fn range(&self, place: &ReportedRange) -> Option<Range<usize>> {
        let start = self.offset(place.line, place.column)?;
        let end = self.offset(place.end_line, place.end_column)?;
        Some(start..end.max(start))
    }

    /// Columns count characters, and a tab is one.
    fn offset(&self, line: usize, column: usize) -> Option<usize> {
        let line = line.checked_sub(self.head + 1)?;
        // What it finds behind the last line is at the end of the text.
        let Some(&start) = self.lines.get(line) else { return Some(self.text.len()) };
        let rest = self.text.get(start..)?;
        let end = rest.find('\n').unwrap_or(rest.len());
        let mut letters = rest.get(..end)?.char_indices();
        let at = letters.nth(column.checked_sub(1)?).map_or(end, |(at, _)| at);
        Some(start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_leave_out_the_head() {
        let script = ShellScript {
            shell: "sh",
            variables: vec!["A".to_owned()],
            text: "echo ä $x\n\techo $y\n".to_owned(),
        };
        assert_eq!(file(&script).lines().count(), 5);
        let report = br#"{"comments":[
            {"file":"0","line":2,"endLine":2,"column":1,"endColumn":2,"level":"style","code":1,"message":"","fix":null},
            {"file":"0","line":4,"endLine":4,"column":8,"endColumn":10,"level":"info","code":2086,"message":"m",
             "fix":{"replacements":[{"line":4,"endLine":4,"column":8,"endColumn":8,"insertionPoint":"afterEnd","precedence":1,"replacement":"\""}]}},
            {"file":"0","line":5,"endLine":5,"column":7,"endColumn":9,"level":"error","code":2086,"message":"m","fix":null},
            {"file":"0","line":9,"endLine":9,"column":1,"endColumn":1,"level":"error","code":1072,"message":"m","fix":null}]}"#;
        let found = findings(report, &[&script]).unwrap();
        let seen: Vec<(&str, usize)> = found[0]
            .iter()
            .map(|finding| (&script.text[finding.range.clone()], finding.edits.len()))
            .collect();
        assert_eq!(seen, [("$x", 1), ("$y", 0), ("", 0)]);
        assert_eq!(found[0][2].range.start, script.text.len());
    }
}
