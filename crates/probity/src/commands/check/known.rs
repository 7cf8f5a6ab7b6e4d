//! Old findings: those that a baseline lists, and those on lines that a change does not touch. They are
//! neither reported nor fixed.

mod baseline;
mod changed;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_finding::{Finding, Fingerprints, LineIndex};
use probity_lint::KnownFindings;
use probity_proof::Ancestor;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use self::{
    baseline::{Baseline, Listed},
    changed::Earlier,
};
use super::{Options, examine::Checked, fix::Way, job::Job};
use crate::{
    config::{Settings, guard, key},
    exit::Exit,
    failure::Failure,
    report::counts::plural,
    streams,
};

/// What makes findings old in one run.
#[derive(Debug, Default)]
pub(super) struct Known {
    baseline: Option<Baseline>,
    /// Where the branch began, for `--changed`.
    ancestor: Option<Ancestor>,
    /// Findings that are not reported, by the reason.
    listed: usize,
    untouched: usize,
}

/// The same for one file.
#[derive(Debug, Default)]
pub(super) struct KnownInFile {
    listed: Option<Listed>,
    earlier: Option<Earlier>,
}

/// Why a finding is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Listed,
    Untouched,
}

impl Known {
    pub(super) fn of_run(
        options: &Options,
        config: &Settings,
        directory: &Path,
    ) -> anyhow::Result<Self> {
        let baseline = match (&options.write_baseline, &config.check.baseline) {
            (Some(file), _) => Some(Baseline::to_write(directory, file)),
            (None, Some(file)) => {
                let origin = config.merged.origin(&key::check::baseline.key);
                let of_repository = guard::directory_of(origin);
                Some(Baseline::read(directory, file, of_repository.as_deref())?)
            }
            (None, None) => None,
        };
        let ancestor = match &options.changed {
            Some(base) => Some(Ancestor::with(directory, base).map_err(|error| {
                Failure::new(format!("--changed {base}: {error}"), error.help())
            })?),
            None => None,
        };
        Ok(Self { baseline, ancestor, ..Self::default() })
    }

    /// Leaves with each job what is known about its file.
    pub(super) fn learn(&self, batch: &[Job], directory: &Path) -> anyhow::Result<()> {
        if self.baseline.is_none() && self.ancestor.is_none() {
            return Ok(());
        }
        let each = batch.par_iter().map(|job| {
            let path = path_of(job, directory);
            let earlier = self.ancestor.as_ref().map(|ancestor| Earlier::of(ancestor, &path));
            job.keep_known(KnownInFile {
                listed: self.baseline.as_ref().and_then(|baseline| baseline.listed(&path)),
                earlier: earlier.transpose().context("git cannot show the file of --changed")?,
            });
            Ok(())
        });
        each.collect()
    }

    /// Takes the old findings out of what checking a file gave.
    pub(super) fn take_old(&mut self, job: &Job, directory: &Path, checked: &mut Checked) {
        let Some(known) = job.known() else { return };
        if let Some(baseline) = &mut self.baseline {
            let path = path_of(job, directory);
            // A file that cannot be read has no findings to compare.
            if !checked.text.is_empty() {
                let found = prints(&checked.text, &checked.findings);
                let found = checked.findings.iter().zip(found);
                let found = found.map(|(finding, print)| (finding.rule.as_ref(), print));
                // A build that was not checked may still have what this run does not find.
                let all_builds = job.checks_all_builds();
                baseline.saw(&path, found, |rule| {
                    all_builds && job.rules.looks_for(&checked.shown, rule, job)
                });
            }
            if baseline.is_to_write() {
                self.listed += checked.findings.len();
                checked.findings.clear();
                return;
            }
        }
        let mut reasons = known.reasons(&checked.text, &checked.findings).into_iter();
        let (mut listed, mut untouched) = (0, 0);
        checked.findings.retain(|_| match reasons.next().flatten() {
            Some(Reason::Listed) => {
                listed += 1;
                false
            }
            Some(Reason::Untouched) => {
                untouched += 1;
                false
            }
            None => true,
        });
        self.listed += listed;
        self.untouched += untouched;
    }

    /// Writes the baseline if it is new or has become shorter, and says what was left out. The exit code
    /// of a run that writes a new one.
    pub(super) fn finish(self, options: &Options, way: Way) -> anyhow::Result<Option<Exit>> {
        let Self { baseline, ancestor, listed, untouched } = self;
        let is_new = baseline.as_ref().is_some_and(Baseline::is_to_write);
        let mut lines = Vec::new();
        if let Some(baseline) = baseline {
            let shown = baseline.shown().display().to_string();
            if is_new {
                baseline.write().with_context(|| {
                    Failure::new(format!("cannot write {shown}"), "name another file")
                })?;
                lines.push(format!("Wrote {} to {shown}", plural(listed, "finding")));
            } else {
                if listed > 0 {
                    lines.push(format!("{} hidden by {shown}", plural(listed, "old finding")));
                }
                let shrunk = baseline.shrunk(&options.paths);
                if let Some((gone, left)) = shrunk
                    && way != Way::Diff
                {
                    lines.extend(match (left.write(), gone) {
                        (Err(error), _) => Some(format!("warning: cannot update {shown}: {error}")),
                        (Ok(()), 0) => None,
                        (Ok(()), 1) => Some(format!("Removed 1 fixed finding from {shown}")),
                        (Ok(()), gone) => {
                            Some(format!("Removed {gone} fixed findings from {shown}"))
                        }
                    });
                }
            }
        }
        if ancestor.is_some() && untouched > 0 {
            lines.push(format!("{} hidden on unchanged lines", plural(untouched, "finding")));
        }
        if tracing::enabled!(tracing::Level::WARN) {
            let mut out = streams::stderr().lock();
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Ok(is_new.then_some(Exit::Clean))
    }
}

/// Where a job's file is, whether it exists or not.
fn path_of(job: &Job, directory: &Path) -> PathBuf {
    directory.join(job.target.path().unwrap_or(Path::new("-")))
}

/// Fingerprints without the path, which is kept apart: a file that moves takes its findings along.
fn prints(text: &str, findings: &[Finding]) -> Vec<String> {
    let lines = LineIndex::new(text);
    let mut prints = Fingerprints::new("", &lines);
    findings.iter().map(|finding| prints.next(finding)).collect()
}

impl KnownInFile {
    fn reasons(&self, text: &str, findings: &[Finding]) -> Vec<Option<Reason>> {
        let listed: Vec<bool> = match &self.listed {
            Some(listed) => {
                let prints = prints(text, findings);
                let each = findings.iter().zip(&prints);
                each.map(|(finding, print)| listed.contains(&finding.rule, print)).collect()
            }
            None => vec![false; findings.len()],
        };
        let untouched = match &self.earlier {
            Some(earlier) => earlier.are_untouched(text, findings),
            None => vec![false; findings.len()],
        };
        let each = listed.into_iter().zip(untouched);
        each.map(|(listed, untouched)| match (listed, untouched) {
            (true, _) => Some(Reason::Listed),
            (false, true) => Some(Reason::Untouched),
            (false, false) => None,
        })
        .collect()
    }
}

impl KnownFindings for KnownInFile {
    fn are_known(&self, text: &str, findings: &[Finding]) -> Vec<bool> {
        self.reasons(text, findings).iter().map(Option::is_some).collect()
    }
}
