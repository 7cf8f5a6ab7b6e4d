//! Dockerfiles inside a Compose or Bake file: their findings point into that file.

use probity_builds::InlinePlace;
use probity_finding::{Finding, Span};
use probity_lint::Parsed;

use super::{
    ai::AiRun,
    examine::{Checked, examine_source},
    fix::Way,
    job::Job,
};
use crate::{builds::InlineDockerfile, ignore_file::IgnoreFiles, source::Source};

/// Checks all of them. Nothing is fixed: an edit of the Dockerfile is not an edit of the file around it.
pub(super) fn examine(
    job: &Job,
    around: Source,
    inline: &[InlineDockerfile],
    ignore_files: &IgnoreFiles,
    ai: &AiRun,
) -> Checked {
    let mut findings = around.findings;
    for InlineDockerfile { text, place, uses } in inline {
        let source = Source {
            path: around.path.clone(),
            shown: around.shown.clone(),
            text: text.clone(),
            is_exact: false,
            findings: Vec::new(),
        };
        let parsed = Parsed::of(text).detached();
        let checked = examine_source(job, Some(uses), Way::Offer, source, parsed, ignore_files, ai);
        let map = Map { from: Lines::of(text), to: Lines::of(&around.text), place };
        findings.extend(checked.findings.into_iter().map(|finding| map.finding(finding)));
    }
    let secrets = probity_secrets::FindSecrets::find(&job.rules.secrets, &around.text);
    Checked { shown: around.shown, text: around.text, findings, secrets, fixing: None }
}

/// From places in the Dockerfile to places in the file around it.
struct Map<'a> {
    from: Lines,
    to: Lines,
    place: &'a InlinePlace,
}

impl Map<'_> {
    fn finding(&self, mut finding: Finding) -> Finding {
        finding.span = finding.span.map(|span| self.span(span));
        for span in &mut finding.also_at {
            *span = self.span(*span);
        }
        for related in &mut finding.related {
            related.span = self.span(related.span);
        }
        finding
    }

    fn span(&self, span: Span) -> Span {
        let start = self.offset(span.start);
        Span::new(start, self.offset(span.end).max(start))
    }

    fn offset(&self, offset: usize) -> usize {
        let (line, column) = self.from.position(offset);
        let (line, column) = self.place.in_file(line, column);
        self.to.offset(line, column)
    }
}

/// Where lines begin.
struct Lines {
    starts: Vec<usize>,
    end: usize,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { starts, end: text.len() }
    }

    /// The 1-based line and the byte column of an offset.
    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line, offset - start)
    }

    /// The offset of a column, at most the end of its line: a variable that was replaced changes
    /// columns.
    fn offset(&self, line: usize, column: usize) -> usize {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.end);
        let end = self.starts.get(line).map_or(self.end, |next| next - 1);
        (start + column).min(end.max(start))
    }
}
