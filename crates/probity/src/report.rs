//! Findings in, text out: every format of every capability that reports findings.
//!
//! Reports are streamed: one file's findings are written and forgotten before the next file's come.
#![expect(dead_code, reason = "the formats arrive next")]

use std::io::{self, Write};

use probity_finding::Finding;

/// One file's part of a report. The findings are in report order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileReport<'a> {
    /// The path as it is shown, with forward slashes, relative where that is shorter.
    pub(crate) path: &'a str,
    /// What was checked; empty when the file could not be read.
    pub(crate) text: &'a str,
    pub(crate) findings: &'a [Finding],
}

/// What is known when the last file is done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) files_scanned: usize,
    pub(crate) rules_enabled: usize,
}

/// Writes one format.
pub(crate) trait Reporter {
    /// Called once per scanned file, in the order of the report, also for files without findings.
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()>;
    /// Called once, behind the last file.
    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()>;
}
