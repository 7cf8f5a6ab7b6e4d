//! The fixes of proven issues: which there are, what they change, and whether they still hold.
//!
//! Nothing is written here. A fix is tried again on the tree as it is now, in copies, before and
//! after somebody writes it there.

use std::path::Path;

use probity_finding::patch::{Patch, PatchError, sections};
use probity_proof::{
    Claim, Outcome, PlacedTest, ProofOptions, Refusal, Verdict, WithoutFix, Workshop,
};
use probity_scope::{Ignored, Policy, Quota, Scope};

use crate::{
    claims::claim,
    findings::AgentFinding,
    output::{GuardState, ProvenIssue, ReviewOutput},
    review::{Checkout, ProveOptions},
    wording,
};

/// Larger files are not code that a small fix is for.
const FILE_BYTES: u64 = 8 << 20;

/// A file as it is and as a fix leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedFile {
    pub path: String,
    pub before: String,
    pub after: String,
}

/// Why a fix is not applied.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    #[error("the review has no issue {0}")]
    Unknown(String),
    #[error("{id} has no proven fix: {why}")]
    NoProvenFix { id: String, why: String },
    #[error("{file}:{line}: the code has changed since the review: {why}")]
    Changed { file: String, line: usize, why: String },
    #[error("its fix overlaps that of {0}, which was applied before it")]
    Overlaps(String),
    #[error("its fix does not prove it any more: {0}")]
    NotProven(String),
    #[error("with its fix, the test of {0} does not pass any more")]
    Breaks(String),
    #[error("its test has no place: {0}")]
    NoPlace(String),
    #[error("{0} is a link or is reached through one, which may lead anywhere")]
    Linked(String),
    #[error("{0} is in a git directory")]
    GitDirectory(String),
    #[error("no test can be run: {0}")]
    Tests(String),
}

impl FixError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "`probity review report FILE --format text` lists the issues",
            Self::NoProvenFix { .. } => {
                "fix it by hand; its test is in the directory `tests` of the review"
            }
            Self::Changed { .. } | Self::NotProven(_) => "review the code as it is now",
            Self::Overlaps(_) | Self::Breaks(_) => {
                "commit the fixes that were applied, and review again"
            }
            Self::NoPlace(_) => "run the command without --commit, and add the test by hand",
            Self::Linked(_) => "apply the fix by hand, to the file that the link leads to",
            Self::GitDirectory(_) => "do not apply this fix: git obeys what is in there",
            Self::Tests(_) => "`probity doctor` lists the test tools that are missing",
        }
    }
}

/// The issues with these ids, or all that have a proven fix.
///
/// # Errors
///
/// When one of the ids names no issue, or one without a proven fix.
pub fn fixable<'a>(
    review: &'a ReviewOutput,
    ids: &[String],
) -> Result<Vec<&'a ProvenIssue>, FixError> {
    if ids.is_empty() {
        return Ok(review
            .proven_issues
            .iter()
            .filter(|issue| missing_fix(issue).is_none())
            .collect());
    }
    let mut chosen: Vec<&ProvenIssue> = Vec::new();
    for id in ids {
        let is_it = |issue: &&ProvenIssue| issue.id.eq_ignore_ascii_case(id);
        let issue = review.proven_issues.iter().find(is_it);
        let shown = || id.chars().take(40).collect();
        let issue = issue.ok_or_else(|| FixError::Unknown(shown()))?;
        if let Some(why) = missing_fix(issue) {
            return Err(FixError::NoProvenFix { id: issue.id.clone(), why: why.to_owned() });
        }
        if !chosen.iter().any(|known| known.id == issue.id) {
            chosen.push(issue);
        }
    }
    Ok(chosen)
}

/// Why an issue has no fix that can be applied.
#[must_use]
pub fn missing_fix(issue: &ProvenIssue) -> Option<&'static str> {
    if issue.fix_patch.as_ref().is_none_or(|patch| patch.trim().is_empty()) {
        return Some("the agent offered none, or it contains a secret");
    }
    let guard = issue.proof.as_ref().and_then(|proof| proof.fix.as_ref()?.guard.as_ref());
    match guard.map(|guard| guard.state) {
        None => Some("the proof does not rest on it"),
        Some(GuardState::Unguarded) => Some("no existing test guards it"),
        Some(GuardState::Guarded | GuardState::PartlyGuarded) if issue.test_code.is_empty() => {
            Some("its test was not kept, because it contains a secret")
        }
        Some(GuardState::Guarded | GuardState::PartlyGuarded) => None,
    }
}

/// What the fix of an issue changes in the files as they are now.
///
/// # Errors
///
/// When the code is not the one that the fix is for.
pub fn changes(repo: &Path, issue: &ProvenIssue) -> Result<Vec<FixedFile>, FixError> {
    let changed = |file: &str, line: usize, why: String| FixError::Changed {
        file: file.to_owned(),
        line,
        why,
    };
    let flagged = usize::try_from(issue.line).unwrap_or(usize::MAX);
    let of_issue = |why: String| changed(&issue.file, flagged, why);
    let policy = Policy {
        allow_sensitive: false,
        ignored: Ignored::Shown,
        max_file_bytes: FILE_BYTES,
        quota: Quota::UNLIMITED,
    };
    let scope = Scope::open(repo, policy).map_err(|error| of_issue(error.to_string()))?;
    let patch = issue.fix_patch.as_deref().unwrap_or_default();
    let sections = sections(patch).map_err(|error| of_issue(error.to_string()))?;
    let mut files: Vec<FixedFile> = Vec::new();
    for section in sections {
        let path = section.path;
        let bytes = scope.read(Path::new(path), FILE_BYTES);
        let bytes = bytes.map_err(|error| changed(path, flagged, error.to_string()))?;
        let before = String::from_utf8(bytes)
            .map_err(|_| changed(path, flagged, "it is not UTF-8 text".to_owned()))?;
        let patch = Patch::parse(&section.text, path);
        let patch = patch.map_err(|error| changed(path, flagged, error.to_string()))?;
        let applied = patch.apply(&before).map_err(|error| {
            let line = match error {
                PatchError::ApplyFailed { hunk, .. } => {
                    patch.hunks().get(hunk.saturating_sub(1)).map(|hunk| hunk.old_start)
                }
                _ => None,
            };
            changed(path, line.unwrap_or(flagged), error.to_string())
        })?;
        files.push(FixedFile { path: path.to_owned(), before, after: applied.text });
    }
    Ok(files)
}

/// Proves a fix on the tree as it is now; gives the place of its test there.
///
/// # Errors
///
/// When the fix does not prove its issue any more.
pub fn prove_fix(
    checkout: &Checkout,
    proving: &ProveOptions,
    issue: &ProvenIssue,
) -> Result<PlacedTest, FixError> {
    let workshop = workshop(checkout, proving)?;
    let claim = claim_of(issue);
    let verdict = only(&workshop, &claim)?;
    if !verdict.proven || !verdict.fix.is_guarded() {
        return Err(FixError::NotProven(wording::clause(&verdict)));
    }
    let no_place = |refusal: &Refusal| FixError::NoPlace(wording::refusal(refusal));
    workshop.place(&claim).map_err(|refusal| no_place(&refusal))
}

/// Runs the tests of fixed issues on the tree as it is now.
///
/// # Errors
///
/// When one of them does not pass.
pub fn check_fixed(
    checkout: &Checkout,
    proving: &ProveOptions,
    fixed: &[&ProvenIssue],
) -> Result<(), FixError> {
    let workshop = workshop(checkout, proving)?;
    let claims: Vec<Claim> =
        fixed.iter().map(|issue| Claim { fix_patch: None, ..claim_of(issue) }).collect();
    let verdicts = workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {});
    for (issue, verdict) in fixed.iter().zip(verdicts) {
        if verdict.outcome != Outcome::Passed {
            return Err(FixError::Breaks(issue.id.clone()));
        }
    }
    Ok(())
}

fn workshop(checkout: &Checkout, proving: &ProveOptions) -> Result<Workshop, FixError> {
    let mut options = ProofOptions::new(&checkout.repo, proving.tests.sandbox.clone());
    options.runners.clone_from(&proving.runners);
    options.jobs = proving.jobs;
    options.environment = proving.tests.environment.clone();
    options.caches = proving.tests.caches.clone();
    options.fetch = proving.tests.fetch.clone();
    options.cancel = proving.stop.clone();
    Workshop::prepare(options, &|_| {}).map_err(|error| FixError::Tests(error.to_string()))
}

fn only(workshop: &Workshop, claim: &Claim) -> Result<Verdict, FixError> {
    let verdicts = workshop.prove_all(std::slice::from_ref(claim), WithoutFix::Leave, &|_, _| {});
    verdicts.into_iter().next().ok_or_else(|| FixError::Tests("nothing was run".to_owned()))
}

fn claim_of(issue: &ProvenIssue) -> Claim {
    claim(&issue.id, &AgentFinding::from(issue), &issue.test_code)
}
