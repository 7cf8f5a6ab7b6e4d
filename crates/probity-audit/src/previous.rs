//! The findings of the audit before this one, and what has become of those that no skill reports again.
//!
//! A model that does not repeat a finding has not fixed it. A kept exploit decides, if exploits may
//! run; otherwise the quoted code does. Only code that is gone, and that its skill has looked at
//! again, is fixed.

use std::path::Path;

use probity_scope::Scope;

use crate::{
    Exploitation, Finding, Iteration, Proving, Reported, State, Status,
    duplicates::{are_same, merge, same_words},
    evidence::Evidence,
    session::SCAFFOLDED,
    verify::replayed,
};

/// The findings of the audit before.
#[derive(Debug, Default)]
pub struct Previous {
    pub(crate) findings: Vec<Reported>,
    /// Of the sources that they are about.
    source_digest: Option<String>,
}

impl Previous {
    /// The verified findings of a state, and those that it has from the audit before it, unless they
    /// are fixed.
    #[must_use]
    pub fn of(state: State) -> Self {
        Self { source_digest: state.source_digest.clone(), findings: findings(state) }
    }

    /// An exploit for this finding that can be run again.
    pub(crate) fn exploit_of(&self, skill_id: &str, finding: &Finding) -> Option<&Exploitation> {
        let mut same = self.findings.iter().filter(|before| is_about(before, skill_id, finding));
        same.find_map(|before| before.finding.exploit.as_ref().filter(|exploit| exploit.is_kept()))
    }

    /// Whether it is about the sources with this digest.
    pub(crate) fn is_about(&self, source_digest: Option<&str>) -> bool {
        source_digest.is_some() && self.source_digest.as_deref() == source_digest
    }
}

fn findings(state: State) -> Vec<Reported> {
    let mut found = Vec::new();
    for Iteration { skill_id, findings, .. } in state.iterations {
        for finding in findings.into_iter().filter(|finding| finding.verified == Some(true)) {
            found.push(Reported::open(&skill_id, finding));
        }
    }
    let before = state.previous.into_iter().filter(|previous| previous.status != Status::Fixed);
    let before: Vec<Reported> =
        before.filter(|previous| !found.iter().any(|new| is_same(previous, new))).collect();
    found.extend(before);
    merge(&mut found);
    found
}

/// What findings of the audit before are judged by.
pub(crate) struct Today<'a> {
    pub(crate) root: &'a Path,
    pub(crate) scope: &'a Scope,
    pub(crate) sources: &'a [String],
    pub(crate) iterations: &'a [Iteration],
    /// How exploits run, if they may.
    pub(crate) proving: Option<Proving<'a>>,
}

impl Today<'_> {
    /// The findings that no skill reports again, with their status and their place of today.
    pub(crate) fn judge(&self, previous: &[Reported]) -> Vec<Reported> {
        let mut found = Vec::new();
        for iteration in self.iterations {
            let verified =
                iteration.findings.iter().filter(|finding| finding.verified == Some(true));
            found.extend(verified.map(|finding| (iteration.skill_id.as_str(), finding)));
        }
        let is_known = |(skill, finding): &(&str, &Finding)| {
            previous.iter().any(|before| is_about(before, skill, finding))
        };
        let (known, new): (Vec<_>, Vec<_>) = found.into_iter().partition(is_known);
        let mut left = Vec::new();
        for reported in previous {
            let is_again = |(skill, finding): &(&str, &Finding)| is_about(reported, skill, finding);
            if known.iter().any(is_again) || !self.is_in_scope(&reported.finding) {
                continue;
            }
            let mut reported = reported.clone();
            let is_there = self.place(&mut reported.finding);
            if !is_there && new.iter().any(|(skill, it)| is_reworked(&reported, skill, it)) {
                continue;
            }
            (reported.status, reported.status_reason) = self.status(&reported, is_there);
            left.push(reported);
        }
        left
    }

    /// A file that still exists, but is not one of the sources, is left to other audits.
    fn is_in_scope(&self, finding: &Finding) -> bool {
        let Some(file) = &finding.file else { return false };
        self.sources.contains(file) || self.scope.metadata(Path::new(file)).is_err()
    }

    /// Whether the quoted code still exists; puts file and line right. The code of a file that is gone
    /// may have moved to any other.
    fn place(&self, finding: &mut Finding) -> bool {
        let Some(file) = finding.file.clone() else { return false };
        let mut files = vec![file.clone()];
        if !self.sources.contains(&file) {
            files.extend(self.sources.iter().cloned());
        }
        for file in files {
            let mut today = Finding { file: Some(file), ..finding.clone() };
            if Evidence::new(self.scope, self.sources).find(&mut today) {
                *finding = today;
                return true;
            }
        }
        false
    }

    fn status(&self, reported: &Reported, is_there: bool) -> (Status, Option<String>) {
        let exploit = reported.finding.exploit.as_ref().filter(|exploit| exploit.is_kept());
        let skill = &reported.skill_id;
        if let (Some(proving), true) = (self.proving, is_there)
            && let Some(excuse) = proving.excuse(self.root, skill, &reported.finding)
        {
            return (Status::Accepted, Some(excuse.reason));
        }
        let (status, reason) = match (exploit, self.proving) {
            (Some(exploit), Some(proving)) => {
                replayed(proving.workshop, &exploit.exploit(&reported.finding))
            }
            _ if is_there => {
                let reason = "no skill reports it again, but the quoted code is unchanged";
                (Status::Open, reason.to_owned())
            }
            (Some(_), None) => {
                let reason = "the quoted code has changed, and the exploit did not run; `--prove` \
                              runs it";
                (Status::Unclear, reason.to_owned())
            }
            (None, _) if self.has_looked(skill) => {
                let reason = format!("code changed; skill `{skill}` does not report it again");
                (Status::Fixed, reason)
            }
            (None, _) => {
                let reason = format!(
                    "the quoted code has changed, and skill `{skill}` did not examine the new code"
                );
                (Status::Unclear, reason)
            }
        };
        (status, Some(reason))
    }

    /// Whether a skill came to an answer in this audit.
    fn has_looked(&self, skill_id: &str) -> bool {
        let mut all = self.iterations.iter();
        all.any(|iteration| {
            iteration.skill_id == skill_id && iteration.is_done() && iteration.status != SCAFFOLDED
        })
    }
}

/// Whether a new finding is about the code that took the place of the code of before.
fn is_reworked(before: &Reported, skill_id: &str, finding: &Finding) -> bool {
    before.skill_id == skill_id
        && before.finding.file == finding.file
        && same_words(&before.finding, finding)
}

fn is_same(a: &Reported, b: &Reported) -> bool {
    is_about(a, &b.skill_id, &b.finding)
}

/// Whether a finding of the audit before is this one: on the same line, or the same problem.
fn is_about(before: &Reported, skill_id: &str, finding: &Finding) -> bool {
    let is_on_same_line =
        before.finding.fingerprint.is_some() && before.finding.fingerprint == finding.fingerprint;
    let mut skills = std::iter::once(&before.skill_id).chain(&before.also_found_by);
    is_on_same_line || skills.any(|skill| are_same((skill, &before.finding), (skill_id, finding)))
}
