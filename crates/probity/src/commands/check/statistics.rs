//! `--statistics`: how often each rule was hit, instead of where.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use probity_finding::Severity;
use probity_report::{FileReport, Format, Paint, Reporter, Screen, Totals, padded};

use crate::{config::word::Word as _, failure::Failure};

/// Counts by rule and severity, the most frequent first.
#[derive(Debug)]
pub(super) struct Statistics {
    shape: Shape,
    screen: Screen,
    hits: BTreeMap<(String, Severity), usize>,
    files: usize,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Text,
    Json,
}

impl Statistics {
    /// Counts have no place in the formats that other programs define.
    pub(super) fn new(format: Format, screen: Screen) -> anyhow::Result<Self> {
        let shape = match format {
            Format::Text => Shape::Text,
            Format::Json => Shape::Json,
            other => {
                let what = format!("--statistics cannot be written as {}", other.word());
                return Err(Failure::new(what, "use `--format text` or `--format json`").into());
            }
        };
        Ok(Self { shape, screen, hits: BTreeMap::new(), files: 0 })
    }
}

impl Reporter for Statistics {
    fn file(&mut self, _: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        self.files += usize::from(!file.findings.is_empty());
        for finding in file.findings {
            *self.hits.entry((finding.rule.to_string(), finding.severity)).or_default() += 1;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
        let mut rows: Vec<_> = self.hits.iter().collect();
        rows.sort_by_key(|&(key, count)| (std::cmp::Reverse(*count), key));
        let total: usize = self.hits.values().sum();
        let (files, scanned) = (self.files, totals.files_scanned);
        match self.shape {
            Shape::Text => {
                for ((rule, severity), count) in rows {
                    let word = padded(severity.as_str(), 8);
                    let word = self.screen.painted(Paint::Severity(*severity), &word);
                    writeln!(out, "{count:>7}  {word} {rule}")?;
                }
                let (findings, of) = (plural(total, "finding"), plural(scanned, "file"));
                let total = self.screen.painted(Paint::Strong, &format!("{total:>7}  {findings}"));
                writeln!(out, "{total} in {files} of {scanned} {of}")
            }
            Shape::Json => {
                let row = |((rule, severity), count): (&(String, Severity), &usize)| {
                    serde_json::json!({
                        "rule": rule,
                        "severity": severity.as_str(),
                        "count": count,
                    })
                };
                let counts = serde_json::json!({
                    "rules": rows.into_iter().map(row).collect::<Vec<_>>(),
                    "findings": total,
                    "files": files,
                    "files_scanned": scanned,
                });
                writeln!(out, "{counts:#}")
            }
        }
    }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
