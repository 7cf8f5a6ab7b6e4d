//! `--statistics`: how often each rule was hit, instead of where.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use probity_finding::Severity;

use crate::report::{FileReport, Reporter, Totals};

/// Counts by rule and severity, the most frequent first.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    hits: BTreeMap<(String, Severity), usize>,
    files: usize,
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
        for ((rule, severity), count) in rows {
            writeln!(out, "{count:>7}  {severity:<8} {rule}")?;
        }
        let total: usize = self.hits.values().sum();
        writeln!(out, "{total:>7}  findings in {} of {} files", self.files, totals.files_scanned)
    }
}
