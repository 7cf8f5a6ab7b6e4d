//! Dockerfiles inside a Compose or Bake file: their findings point into that file.

use probity_builds::InlinePlace;
use probity_finding::{Finding, LineIndex, Position, Span};
use probity_lint::Parsed;

use crate::{
    FixHandling, IgnoreFiles, RunOptions,
    builds::InlineDockerfile,
    examine::{Checked, examine_source},
    job::Job,
    source::Source,
};

/// Checks all of them. Nothing is fixed: an edit of the Dockerfile is not an edit of the file around it.
pub(crate) fn examine(
    job: &Job,
    around: Source,
    inline: &[InlineDockerfile],
    ignore_files: &IgnoreFiles,
    options: RunOptions,
) -> Checked {
    let mut findings = around.findings;
    let options = RunOptions { fixes: FixHandling::Offer, ..options };
    let mut ai_detections = Vec::new();
    for InlineDockerfile { text, place, uses } in inline {
        let source = Source {
            path: around.path.clone(),
            shown: around.shown.clone(),
            text: text.as_str().into(),
            is_exact: false,
            findings: Vec::new(),
        };
        let parsed = Parsed::of(text).detached();
        let checked = examine_source(job, Some(uses), options, source, parsed, ignore_files);
        ai_detections.extend(checked.ai_detections);
        let map = Map { from: LineIndex::new(text), to: LineIndex::new(&around.text), place };
        findings.extend(checked.findings.into_iter().map(|finding| map.finding(finding)));
    }
    let secrets = probity_secrets::FindSecrets::find(&job.rules.secrets, &around.text);
    Checked {
        shown: around.shown,
        text: around.text,
        findings,
        secrets,
        fixing: None,
        ai_detections,
    }
}

/// From places in the Dockerfile to places in the file around it.
struct Map<'a> {
    from: LineIndex<'a>,
    to: LineIndex<'a>,
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
        let Position { line, column } = self.from.position(offset);
        let (line, column) = self.place.in_file(line + 1, column);
        // A column beyond its line, where a variable was replaced, becomes the end of the line.
        self.to.offset(Position { line: line - 1, column })
    }
}
