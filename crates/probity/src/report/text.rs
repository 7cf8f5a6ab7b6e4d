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
    short::{Style, write_folded, write_line, write_source},
    summary::{ByRule, Fixable},
};
use super::{
    Detail, FileReport, Options, Reporter, Totals,
    counts::{Counts, plural},
};

/// Findings of one rule in one file that the short form shows.
const SHOWN_OF_A_RULE: usize = 3;

#[derive(Debug)]
pub(crate) struct Text {
    show_source: bool,
    detail: Detail,
    style: Style,
    counts: Counts,
    by_rule: ByRule,
    fixable: Fixable,
}

impl Text {
    pub(crate) fn new(options: &Options) -> Self {
        let (renderer, bold) = if options.color {
            // Addresses are written out, so that they survive a log and an old terminal.
            (Renderer::styled().hyperlink(false), anstyle::Style::new().bold())
        } else {
            (Renderer::plain(), anstyle::Style::new())
        };
        Self {
            show_source: options.show_source,
            detail: options.detail,
            style: Style { renderer, bold, color: options.color, links: options.links },
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
            (false, _) => write_line(out, &self.style, path, lines, finding),
            (true, Detail::Short) => {
                write_line(out, &self.style, path, lines, finding)?;
                write_source(out, &self.style, lines, finding)
            }
            (true, Detail::Full) => {
                let groups = full::groups(path, lines, finding);
                writeln!(out, "{}", self.style.renderer.render(&groups))
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
            Detail::Short => SHOWN_OF_A_RULE,
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
                write_folded(out, &path, &lines, &finding.rule, all.get(most..).unwrap_or(&[]))?;
            }
            if self.show_source {
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
        let bold = self.style.bold;
        let scanned = plural(totals.files_scanned, "file");
        if self.counts.total() == 0 {
            return writeln!(out, "{bold}No findings{bold:#} in {scanned}.");
        }
        let findings = plural(self.counts.total(), "finding");
        let words = self.counts.in_words();
        let files = self.counts.files;
        writeln!(out, "{bold}{findings}{bold:#} in {files} of {scanned}: {words}.")?;
        if self.counts.total() > 1 {
            self.by_rule.write(out)?;
        }
        self.fixable.write(out)
    }
}

#[cfg(test)]
mod tests;
