//! The report for people at a terminal: each finding with its source, and a summary.
//!
//! The short form shows what is wrong, one line of source and what helps; of a rule that finds the
//! same again and again it shows the first few places. The full form shows everything.

mod excerpt;
mod full;
mod short;
mod summary;

use std::{
    collections::HashMap,
    io::{self, Write},
};

use annotate_snippets::Renderer;
use probity_finding::{Finding, LineIndex};
use probity_text::visible;

use self::{
    short::{Look, write_folded, write_line, write_source},
    summary::{ByRule, Fixable},
};
use super::{
    Detail, FileReport, Options, Reporter, Totals,
    counts::{Counts, plural},
};
use crate::Paint;

/// Columns of a line number of four digits and the bar after it.
const GUTTER: usize = 7;

/// Findings of one rule in one file that the short form shows.
const SHOWN_OF_A_RULE: usize = 3;

#[derive(Debug)]
pub(crate) struct Text {
    show_source: bool,
    detail: Detail,
    look: Look,
    explain: Option<&'static str>,
    counts: Counts,
    by_rule: ByRule,
    fixable: Fixable,
}

impl Text {
    pub(crate) fn new(options: &Options) -> Self {
        let screen = options.screen;
        let renderer = if screen.is_colored {
            // URLs are written out, because a log and an old terminal cannot show links.
            Renderer::styled().hyperlink(false)
        } else {
            Renderer::plain()
        };
        let renderer = match screen.width {
            // The renderer counts the source alone, without the line number before it.
            Some(width) => renderer.term_width(width.saturating_sub(GUTTER)),
            None => renderer,
        };
        Self {
            show_source: options.show_source,
            detail: options.detail,
            look: Look { renderer, screen },
            explain: options.explain,
            counts: Counts::default(),
            by_rule: ByRule::default(),
            fixable: Fixable::default(),
        }
    }

    fn write(
        &self,
        out: &mut dyn Write,
        path: &str,
        lines: &LineIndex<'_>,
        finding: &Finding,
    ) -> io::Result<()> {
        match (self.show_source, self.detail) {
            (false, _) => write_line(out, &self.look, path, lines, finding),
            (true, Detail::Short | Detail::Quiet) => {
                write_line(out, &self.look, path, lines, finding)?;
                write_source(out, &self.look, lines, finding)
            }
            (true, Detail::Full) => {
                let groups = full::groups(path, lines, finding, &self.look, self.explain);
                for line in self.look.renderer.render(&groups).lines() {
                    writeln!(out, "{}", self.look.title_folded(line))?;
                }
                Ok(())
            }
        }
    }
}

impl Reporter for Text {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        self.counts.add(file.findings);
        let lines = LineIndex::new(file.text);
        let path = visible::line(file.path);
        let most = match self.detail {
            Detail::Short | Detail::Quiet => SHOWN_OF_A_RULE,
            Detail::Full => usize::MAX,
        };
        let mut of_rule: HashMap<&str, Vec<&Finding>> = HashMap::new();
        for finding in file.findings {
            self.by_rule.add(finding);
            self.fixable.add(finding, file.ai_fixes);
            of_rule.entry(&finding.rule).or_default().push(finding);
        }
        let mut shown: HashMap<&str, usize> = HashMap::new();
        for finding in file.findings {
            let nth = shown.entry(&finding.rule).or_default();
            *nth += 1;
            if *nth > most {
                continue;
            }
            self.write(out, &path, &lines, finding)?;
            let all = of_rule.get(finding.rule.as_ref()).map_or(&[][..], Vec::as_slice);
            if *nth == most && all.len() > most {
                let folded = all.get(most..).unwrap_or(&[]);
                write_folded(out, &self.look, &path, &lines, &finding.rule, folded)?;
            }
            if self.show_source {
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
        if self.detail == Detail::Quiet {
            return Ok(());
        }
        let screen = self.look.screen;
        let scanned = plural(totals.files_scanned, "file");
        if self.counts.total() == 0 {
            let none = screen.painted(Paint::Good, "No findings");
            return writeln!(out, "{none} in {scanned}.");
        }
        let findings = plural(self.counts.total(), "finding");
        let findings = screen.painted(Paint::Strong, &findings);
        let words = self.counts.in_words();
        let files = self.counts.files;
        let mut summary = format!("{findings} in {files} of {scanned}: {words}.\n");
        if self.counts.total() > 1 {
            summary.push_str(&self.by_rule.in_words());
        }
        summary.push_str(&self.fixable.in_words());
        if let (Some(command), Some(rule)) = (self.explain, self.by_rule.most_frequent()) {
            summary.push_str(&format!("Explain: `{command} {}`.\n", visible::line(rule)));
        }
        out.write_all(screen.folded(&summary).as_bytes())
    }
}

#[cfg(test)]
mod tests;
