//! What people read in the end: findings that were verified, those that were not, and what is
//! missing because a skill failed.

mod html;
mod json;
mod markdown;
mod parse;
mod scope;
mod summary;

use std::{collections::BTreeMap, path::Path};

use probity_finding::{Fingerprints, LineIndex, Span};
use probity_proof::ExploitLevel;
use probity_scope::Scope;
use serde::{Deserialize, Serialize};

pub use self::{
    parse::ReportError,
    scope::{AuditScope, NamedDigest},
};
use crate::{
    Baseline, Exploitation, FileCoverage, Finding, Iteration, Refutation, Risk, Rules, State,
    TokenUsage, duplicates,
    ignores::{Excuse, Ignores},
    session::SCAFFOLDED,
    sources::{MOST_BYTES, whole},
};

#[derive(Debug)]
pub struct ReportOptions<'a> {
    pub root: &'a Path,
    /// As RFC 3339 has it.
    pub generated_at: String,
    /// Findings that are known already.
    pub baseline: Option<&'a Baseline>,
    pub rules: Rules,
    /// Whether comments in the sources take findings back.
    pub heeds_ignores: bool,
    /// What was audited and with what, if the report is to say it.
    pub scope: Option<AuditScope>,
}

/// The first thing that a report says that rests on nothing.
const NOBODY_ASKED: &str =
    "No model was asked: this report is an empty template and says nothing about the sources.";

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub title: String,
    pub generated_at: String,
    /// In the order of the skills.
    pub findings: Vec<Reported>,
    pub unverified: Vec<Reported>,
    /// Verified findings in files that did not change, if only changed ones had to be read.
    pub elsewhere: Vec<Reported>,
    /// Findings of the audit before that no skill reports again.
    pub previous: Vec<Reported>,
    /// Skills that came to no answer, with the reason.
    pub failed: Vec<Iteration>,
    /// Findings that a comment in the sources takes back.
    pub ignored: Vec<Ignored>,
    /// Findings of the baseline.
    pub known: usize,
    /// The sources that had to be read, if not all of them.
    pub changed: Option<Vec<String>>,
    /// Skills whose answers are those of an earlier run.
    pub cached: Vec<String>,
    /// What should be told about comments and sources.
    pub warnings: Vec<String>,
    pub skills: usize,
    pub usage: Option<TokenUsage>,
    /// How much of the sources each skill's model was shown.
    pub coverage: Vec<SkillCoverage>,
    /// Whether no model and no detector looked at anything.
    pub is_scaffold: bool,
    pub scope: Option<AuditScope>,
    pub(crate) rules: Rules,
}

/// A finding that somebody has answered in the code.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    pub reported: Reported,
    pub excuse: Excuse,
}

/// What one skill's model was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillCoverage {
    pub skill_id: String,
    pub files: Vec<FileCoverage>,
}

/// A finding, and which skills came to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    pub skill_id: String,
    /// Other skills that found the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_found_by: Vec<String>,
    #[serde(default)]
    pub status: Status,
    /// Why it has that status, if somebody looked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    #[serde(flatten)]
    pub finding: Finding,
}

impl Reported {
    pub(crate) fn open(skill_id: &str, finding: Finding) -> Self {
        Self {
            skill_id: skill_id.to_owned(),
            also_found_by: Vec::new(),
            status: Status::Open,
            status_reason: None,
            finding,
        }
    }
}

/// What has become of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Open,
    /// Its exploit no longer succeeds, or its code is gone.
    Fixed,
    /// A comment in the sources accepts it.
    Accepted,
    /// Nothing decides whether it is fixed.
    Unclear,
}

impl Status {
    pub const ALL: [Self; 4] = [Self::Open, Self::Fixed, Self::Accepted, Self::Unclear];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Fixed => "fixed",
            Self::Accepted => "accepted",
            Self::Unclear => "unclear",
        }
    }
}

/// One file's findings as other reports want them.
#[derive(Clone, Debug)]
pub struct FileFindings {
    pub path: String,
    pub text: String,
    pub findings: Vec<probity_finding::Finding>,
    /// For each finding what an audit knows about it beyond others.
    pub marks: Vec<Mark>,
}

/// What else is known about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The reason for which a comment takes it back.
    pub excuse: Option<String>,
    pub refutation: Option<Refutation>,
    pub is_outside_change: bool,
    /// Whether only the audit before reported it.
    pub is_previous: bool,
    pub id: String,
    pub level: Option<ExploitLevel>,
    pub status: Status,
    pub exploit: Option<Exploitation>,
}

impl Report {
    #[must_use]
    pub fn new(state: &State, options: &ReportOptions<'_>) -> Self {
        let mut report = Self {
            title: "Vulnerability Report".to_owned(),
            generated_at: options.generated_at.clone(),
            findings: Vec::new(),
            unverified: Vec::new(),
            elsewhere: Vec::new(),
            previous: Vec::new(),
            failed: state
                .iterations
                .iter()
                .filter(|iteration| !iteration.is_done())
                .cloned()
                .collect(),
            ignored: Vec::new(),
            known: 0,
            changed: state.changed_files.clone(),
            cached: state
                .iterations
                .iter()
                .filter(|iteration| iteration.cached)
                .map(skill_id)
                .collect(),
            warnings: Vec::new(),
            skills: state.iterations.len(),
            usage: state.usage,
            coverage: state.iterations.iter().filter_map(coverage).collect(),
            is_scaffold: !state.iterations.is_empty()
                && state.iterations.iter().all(|iteration| iteration.status == SCAFFOLDED),
            scope: options.scope.clone(),
            rules: options.rules,
        };
        let mut ignores = Ignores::new(whole(options.root).ok());
        for iteration in &state.iterations {
            for finding in &iteration.findings {
                let reported = Reported::open(&iteration.skill_id, finding.clone());
                // Asked for in any case, so that a comment that is not heeded is not called useless.
                let excuse = ignores.excuse(&iteration.skill_id, finding);
                if let (Some(excuse), true) = (excuse, options.heeds_ignores) {
                    report.ignored.push(Ignored { reported, excuse });
                } else if options.baseline.is_some_and(|baseline| baseline.knows(finding)) {
                    report.known += 1;
                } else if finding.verified != Some(true) {
                    report.unverified.push(reported);
                } else if is_outside(finding, state.changed_files.as_deref()) {
                    report.elsewhere.push(reported);
                } else {
                    report.findings.push(reported);
                }
            }
        }
        report.add_previous(state, options, &mut ignores);
        report.warnings = ignores.warnings(&state.source_files, &state.iterations);
        report.warnings.extend(too_long(options.root, &state.source_files));
        duplicates::merge(&mut report.findings);
        duplicates::merge(&mut report.unverified);
        duplicates::merge(&mut report.elsewhere);
        report
    }

    fn add_previous(&mut self, state: &State, options: &ReportOptions<'_>, ignores: &mut Ignores) {
        for mut reported in state.previous.iter().cloned() {
            if options.baseline.is_some_and(|baseline| baseline.knows(&reported.finding)) {
                self.known += 1;
                continue;
            }
            let excuse = ignores.excuse(&reported.skill_id, &reported.finding);
            if let (Some(excuse), true) = (excuse, options.heeds_ignores)
                && reported.status != Status::Fixed
            {
                (reported.status, reported.status_reason) = (Status::Accepted, Some(excuse.reason));
            }
            self.previous.push(reported);
        }
    }

    /// Whether a verified finding is at least this severe and shown this far. Unverified ones, and
    /// those outside of a change, fail no build; those of the audit before do while they are open.
    #[must_use]
    pub fn reaches(&self, risk: Risk, level: ExploitLevel) -> bool {
        let is_left = |reported: &&Reported| {
            reported.status == Status::Open
                && !is_outside(&reported.finding, self.changed.as_deref())
        };
        let previous = self.previous.iter().filter(is_left);
        let mut findings = self.findings.iter().chain(previous).map(|reported| &reported.finding);
        findings.any(|finding| finding.severity >= risk && finding.level() >= level)
    }

    /// How many findings of the audit before have each status.
    #[must_use]
    pub fn previous_counts(&self) -> [(Status, usize); 4] {
        Status::ALL.map(|status| {
            (status, self.previous.iter().filter(|reported| reported.status == status).count())
        })
    }

    /// Whether every skill was answered about all that it should be answered about.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty() && !self.is_scaffold
    }

    /// How often each verdict was reached, if findings were to be refuted.
    #[must_use]
    pub fn verdicts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        let all = self.findings.iter().chain(&self.unverified).chain(&self.elsewhere);
        for refutation in all.filter_map(|reported| reported.finding.refutation.as_ref()) {
            *counts.entry(refutation.verdict.as_str()).or_default() += 1;
        }
        counts
    }

    /// The findings by file, for a report in another format: also those that were taken back, with
    /// the reason. Unverified ones, and those outside of a change, say so and weigh little.
    #[must_use]
    pub fn by_file(&self, root: &Path) -> Vec<FileFindings> {
        let scope = whole(root).ok();
        let mut files: BTreeMap<String, FileFindings> = BTreeMap::new();
        let open = self.findings.iter().chain(&self.unverified);
        let open = open.map(|reported| (reported, Mark::default()));
        let elsewhere = self
            .elsewhere
            .iter()
            .map(|reported| (reported, Mark { is_outside_change: true, ..Mark::default() }));
        let ignored = self.ignored.iter().map(|ignored| {
            (
                &ignored.reported,
                Mark { excuse: Some(ignored.excuse.reason.clone()), ..Mark::default() },
            )
        });
        // What is fixed is not a result any more: services close what a report does not hold.
        let unfixed = self.previous.iter().filter(|previous| previous.status != Status::Fixed);
        let previous = unfixed.map(|previous| {
            let is_accepted = previous.status == Status::Accepted;
            let excuse = if is_accepted { previous.status_reason.clone() } else { None };
            (previous, Mark { excuse, is_previous: true, ..Mark::default() })
        });
        let mut all: Vec<_> = open.chain(elsewhere).chain(ignored).chain(previous).collect();
        all.sort_by_key(|(reported, _)| reported.finding.line);
        for (reported, mark) in all {
            let path = reported.finding.file.clone().unwrap_or_else(|| ".".to_owned());
            let file = files.entry(path.clone()).or_insert_with(|| {
                let text = scope.as_ref().and_then(|scope| text(scope, &path)).unwrap_or_default();
                FileFindings { path, text, findings: Vec::new(), marks: Vec::new() }
            });
            let lines = LineIndex::new(&file.text);
            file.findings.push(lint_finding(reported, &mark, &lines));
            file.marks.push(Mark {
                refutation: reported.finding.refutation.clone(),
                id: reported.finding.id(),
                level: Some(reported.finding.level()),
                status: if mark.excuse.is_some() { Status::Accepted } else { reported.status },
                exploit: reported.finding.exploit.clone(),
                ..mark
            });
        }
        files.into_values().collect()
    }
}

fn skill_id(iteration: &Iteration) -> String {
    iteration.skill_id.clone()
}

/// Whether a finding is in a file that did not change. One that names no file may be in any.
fn is_outside(finding: &Finding, changed: Option<&[String]>) -> bool {
    match (&finding.file, changed) {
        (Some(file), Some(changed)) => !changed.contains(file),
        _ => false,
    }
}

fn coverage(iteration: &Iteration) -> Option<SkillCoverage> {
    let files = iteration.coverage.clone()?;
    Some(SkillCoverage { skill_id: iteration.skill_id.clone(), files })
}

/// Sources that are too long for quotes to be looked for.
fn too_long(root: &Path, sources: &[String]) -> Vec<String> {
    let Ok(scope) = whole(root) else { return Vec::new() };
    let size =
        |source: &String| scope.metadata(Path::new(source)).map_or(0, |metadata| metadata.size);
    let long = sources.iter().filter(|source| size(source) > MOST_BYTES);
    long.map(|source| {
        format!("{source}: more than {MOST_BYTES} bytes; no finding in it can be verified")
    })
    .collect()
}

fn lint_finding(
    reported: &Reported,
    mark: &Mark,
    lines: &LineIndex<'_>,
) -> probity_finding::Finding {
    let Finding { title, summary, recommendation, severity, .. } = &reported.finding;
    let (prefix, severity) = if mark.is_previous {
        ("not reported again: ", severity.severity())
    } else if reported.finding.verified != Some(true) {
        ("unverified: ", probity_finding::Severity::Info)
    } else if mark.is_outside_change {
        ("outside the changed files: ", probity_finding::Severity::Info)
    } else {
        ("", severity.severity())
    };
    let refutation = reported.finding.refutation.as_ref();
    let verdict = refutation.map_or_else(String::new, |refutation| {
        format!("Refutation: {}. {}", refutation.verdict.as_str(), refutation.reason)
    });
    let parts = [summary.as_str(), recommendation.as_str(), verdict.as_str()];
    let detail: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let message = format!("{prefix}{title}");
    let skill = reported.skill_id.clone();
    let finding = match span(reported.finding.line, lines) {
        Some(span) => probity_finding::Finding::new(skill, severity, span, message),
        None => probity_finding::Finding::of_file(skill, severity, message),
    };
    if detail.is_empty() { finding } else { finding.with_detail(detail.join("\n\n")) }
}

/// The line without the spaces around it.
fn span(line: Option<u64>, lines: &LineIndex<'_>) -> Option<Span> {
    let line =
        usize::try_from(line?.checked_sub(1)?).ok().filter(|line| *line < lines.line_count())?;
    let text = lines.line_text(line);
    let start = lines.line_start(line) + (text.len() - text.trim_start().len());
    Some(Span { start, end: start + text.trim().len() })
}

/// Gives the findings of one skill their identities.
pub(crate) fn fingerprint(scope: &Scope, skill: &str, findings: &mut [Finding]) {
    let mut files: BTreeMap<String, Vec<&mut Finding>> = BTreeMap::new();
    for finding in findings {
        files.entry(finding.file.clone().unwrap_or_default()).or_default().push(finding);
    }
    for (path, mut findings) in files {
        let text = text(scope, &path).unwrap_or_default();
        let lines = LineIndex::new(&text);
        findings.sort_by_key(|finding| finding.line);
        let mut prints = Fingerprints::new(&path, &lines);
        for finding in findings {
            let severity = finding.severity.severity();
            let plain = probity_finding::Finding {
                span: span(finding.line, &lines),
                ..probity_finding::Finding::of_file(skill.to_owned(), severity, "")
            };
            finding.fingerprint = Some(prints.next(&plain));
        }
    }
}

fn text(scope: &Scope, path: &str) -> Option<String> {
    let bytes = scope.read(Path::new(path), u64::MAX).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
