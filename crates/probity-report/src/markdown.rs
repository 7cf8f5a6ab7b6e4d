//! Tables for a comment on a change or a job's summary.

mod live;

use std::io::{self, Write};

use probity_finding::{Finding, LineIndex};
use probity_lint::Rejection;
use probity_text::visible;

use super::{
    FileReport, Reporter, Totals,
    counts::{Counts, plural},
    place::{LineRange, Unit},
    stages::mermaid,
};

#[derive(Debug, Default)]
pub(crate) struct Markdown {
    counts: Counts,
}

impl Reporter for Markdown {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        if file.findings.is_empty() {
            write_proofs(out, file)?;
            return write_rejection(out, file);
        }
        self.counts.add(file.findings);
        let mut counts = Counts::default();
        counts.add(file.findings);
        writeln!(out, "### {}: {}\n", code(file.path), counts.in_words())?;
        writeln!(out, "| Severity | Line | Rule | Message |")?;
        writeln!(out, "| --- | ---: | --- | --- |")?;
        let lines = LineIndex::new(file.text);
        for finding in file.findings {
            let mut at: Vec<String> = finding
                .spans()
                .map(|span| LineRange::shown(&lines, span, Unit::Character).line.to_string())
                .collect();
            at.dedup();
            writeln!(
                out,
                "| {} | {} | {} | {} |",
                finding.severity,
                at.join(", "),
                rule(finding),
                escape(&finding.message)
            )?;
        }
        writeln!(out)?;
        write_proofs(out, file)?;
        write_rejection(out, file)
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
        let scanned = plural(totals.files_scanned, "file");
        if self.counts.total() == 0 {
            return writeln!(out, "**No findings** in {scanned}.");
        }
        let findings = plural(self.counts.total(), "finding");
        let words = self.counts.in_words();
        writeln!(out, "**{findings}** in {} of {scanned}: {words}.", self.counts.files)
    }
}

/// What experiments with AI fixes came to, a paragraph each.
fn write_proofs(out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
    for fix in file.ai_fixes {
        let Some(proof) = &fix.proof else { continue };
        let (rule, outcome, level) = (escape(&fix.rule), fix.outcome, proof.level);
        let summary = escape(&proof.summary);
        writeln!(
            out,
            "{}: AI fix {rule}: {outcome}, proof level {level}: {summary}\n",
            code(file.path)
        )?;
        for difference in proof.differences.iter().filter(|difference| difference.is_harmful) {
            writeln!(out, "- {}: {}", escape(difference.check), escape(&difference.message))?;
        }
        writeln!(out)?;
        if let Some(stages) = &proof.stages {
            writeln!(out, "{}", mermaid(stages))?;
        }
    }
    Ok(())
}

/// Why no fix was applied, as a paragraph.
fn write_rejection(out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
    let Some(Rejection { line, reason }) = file.rejection else { return Ok(()) };
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    writeln!(out, "{}{line}: no fix applied: {}\n", code(file.path), escape(reason))
}

fn rule(finding: &Finding) -> String {
    match &finding.docs {
        Some(docs) => format!("[{}]({})", escape(&finding.rule), destination(docs)),
        None => escape(&finding.rule),
    }
}

/// The text such that it means itself in a table's cell and in a comment.
///
/// A backslash before punctuation is markdown's own way; `$` is in the list since GitHub reads
/// mathematics between two of them. Words that a forge would turn into a link, a mention or a
/// reference become code, see [`live`].
pub(super) fn escape(text: &str) -> String {
    let text = visible::line(text);
    let mut escaped = String::with_capacity(text.len() + 8);
    // A pipe would end a table's cell in code as well, and a backtick would end the code.
    for word in text.split_inclusive(|char: char| char.is_whitespace() || "`|".contains(char)) {
        let end = word.trim_end_matches(|char: char| char.is_whitespace() || "`|".contains(char));
        let (word, rest) = word.split_at(end.len());
        if live::is_live(word) {
            escaped.push_str(&code(word));
            push_escaped(&mut escaped, rest);
        } else {
            push_escaped(&mut escaped, word);
            push_escaped(&mut escaped, rest);
        }
    }
    escaped
}

fn push_escaped(escaped: &mut String, text: &str) {
    for char in text.chars() {
        if "\\`*_{}[]<>()#+!|~&$^=".contains(char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
}

/// The text as a code span, fenced by one more backtick than it has in a row.
pub(super) fn code(text: &str) -> String {
    let text = visible::line(text);
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // One space on either side is taken off again, and keeps the path's own spaces and backticks.
    let padded = text.starts_with([' ', '`']) || text.ends_with([' ', '`']);
    let pad = if padded { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The address such that it cannot end the link or the cell that it stands in.
fn destination(url: &str) -> String {
    let mut safe = String::with_capacity(url.len());
    for char in visible::line(url).chars() {
        match char {
            '(' | ')' | '<' | '>' | '|' | '\\' | ' ' | '\t' | '`' | '"' | '\'' => {
                safe.push_str(&format!("%{:02X}", u32::from(char)));
            }
            _ => safe.push(char),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, samples};

    #[test]
    fn every_file_with_findings_is_a_table() {
        insta::assert_snapshot!(samples::report(Format::Markdown), @r#"
### `app/Dockerfile`: 1 error, 1 warning, 1 info, 1 style

| Severity | Line | Rule | Message |
| --- | ---: | --- | --- |
| info |  | tally/no-user | no stage sets a user |
| warning | 1 | [hadolint/DL3006](https://example.org/rules/DL3006) | the image is not tagged; pin a version |
| style | 1 | buildkit/FromAsCasing | \`as\` and \`FROM\` differ in case |
| error | 2 | hadolint/DL3004 | sudo does not work as it seems to |

### `a b/ü%20&,:.Dockerfile`: 2 warnings

| Severity | Line | Rule | Message |
| --- | ---: | --- | --- |
| warning | 1 | x/from | a \| b \` \* \_x\_ `<b>&amp;` \[l\]\(u\)\\ |
| warning | 2 | x/run | `<>&"'` 100% ␛\[31mred␀␊second, line: \<U\+009B\>\<U\+202E\> |

### `empty.Dockerfile`: 1 error

| Severity | Line | Rule | Message |
| --- | ---: | --- | --- |
| error |  | buildkit/empty | the file is empty |

**7 findings** in 3 of 4 files: 2 errors, 3 warnings, 1 info, 1 style.
"#);
    }

    #[test]
    fn nothing_to_report_is_one_sentence() {
        let files = [("a", "FROM scratch\n", Vec::new())];
        let report = samples::render(Format::Markdown, &samples::OPTIONS, &files);
        insta::assert_snapshot!(report, @r#"**No findings** in 1 file."#);
    }

    #[test]
    fn paths_are_code_whatever_is_in_them() {
        for (path, expected) in
            [("a/b", "`a/b`"), ("a`b``c", "```a`b``c```"), ("`a ", "`` `a  ``"), ("a\nb", "`a␊b`")]
        {
            assert_eq!(code(path), expected);
        }
    }
}
