//! Old findings: those that a baseline lists, and those on lines that a change does not touch. They are
//! neither reported nor fixed.

use std::path::{Path, PathBuf};

use probity_finding::{Finding, Fingerprints, LineIndex};
use probity_lint::KnownFindings;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::{
    CheckError,
    baseline::{Baseline, Listed},
    changed::{Earlier, EarlierTexts},
    examine::Checked,
    job::Job,
};

/// What makes findings old in one run.
#[derive(Debug, Default)]
pub struct Known {
    baseline: Option<Baseline>,
    /// What files were before the change that a run is about.
    earlier: Option<Box<dyn EarlierTexts>>,
    /// Findings that are not reported, by the reason.
    listed: usize,
    untouched: usize,
}

/// The same for one file.
#[derive(Debug, Default)]
pub(crate) struct KnownInFile {
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
    #[must_use]
    pub fn new(baseline: Option<Baseline>, earlier: Option<Box<dyn EarlierTexts>>) -> Self {
        Self { baseline, earlier, ..Self::default() }
    }

    /// Leaves with each job what is known about its file.
    pub(crate) fn learn(&self, batch: &[Job], directory: &Path) -> Result<(), CheckError> {
        if self.baseline.is_none() && self.earlier.is_none() {
            return Ok(());
        }
        let each = batch.par_iter().map(|job| {
            let path = path_of(job, directory);
            let earlier = self.earlier.as_deref().map(|texts| Earlier::of(texts, &path));
            job.keep_known(KnownInFile {
                listed: self.baseline.as_ref().and_then(|baseline| baseline.listed(&path)),
                earlier: earlier.transpose().map_err(CheckError::Earlier)?,
            });
            Ok(())
        });
        each.collect()
    }

    /// Takes the old findings out of what checking a file gave.
    pub(crate) fn take_old(&mut self, job: &Job, directory: &Path, checked: &mut Checked) {
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

    /// What was left out, and the baseline as it is now. `paths` are those that the run was about.
    #[must_use]
    pub fn finish(self, paths: &[PathBuf]) -> OldFindings {
        let Self { baseline, earlier: _, listed, untouched } = self;
        let baseline = baseline.map(|baseline| {
            if baseline.is_to_write() {
                return BaselineNow::New { text: baseline.text() };
            }
            match baseline.shrunk(paths) {
                Some((gone, left)) => BaselineNow::Shorter { gone, text: left.text() },
                None => BaselineNow::Same,
            }
        });
        OldFindings { listed, untouched, baseline }
    }
}

/// The old findings of a run.
#[derive(Debug)]
pub struct OldFindings {
    /// How many the baseline lists; with a new one, how many it got.
    pub listed: usize,
    /// How many are on unchanged lines.
    pub untouched: usize,
    pub baseline: Option<BaselineNow>,
}

/// What a run makes of a baseline; the text is that of its file.
#[derive(Debug)]
pub enum BaselineNow {
    New {
        text: String,
    },
    /// Some of its findings no longer exist, or they have moved.
    Shorter {
        gone: usize,
        text: String,
    },
    Same,
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
