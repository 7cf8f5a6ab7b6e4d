//! `claims.json` and its parts: a review between asking and judging, so that several machines can
//! prove it.
//!
//! A claims file has everything that proving and judging need besides the repository. A part has the
//! results of one shard and the claims file that it belongs to.

mod collect;
mod file;
mod split;

use std::collections::HashSet;

use probity_proof::Claim;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub(crate) use self::collect::collected;
pub use self::{
    collect::NamedPart,
    file::{ClaimsError, SCHEMA, read_claims, read_part},
    split::{BadShard, Shard},
};
use crate::{
    Bar, Category, ReviewConfig,
    findings::AgentFinding,
    output::{Closed, Cost, Dismissed, Metadata, ProvenIssue},
    proved::Proved,
};

pub(crate) const CLAIMS_VERSION: &str = "1.0.0";

/// What an agent claims about one tree, and how it is to be proven and judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    pub document: ClaimsDocument,
    pub schema_version: String,
    /// The version of probity that wrote it: another one may judge otherwise.
    pub probity: String,
    /// How often the agent was asked for better fixes.
    pub fix_rounds: u32,
    /// Digest of the names and texts of all files that tests can see.
    pub tree: String,
    /// The directory of the repository that is no part of it, for the review's own files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    pub metadata: Metadata,
    pub settings: ClaimSettings,
    pub findings: Vec<ClaimedFinding>,
    pub dropped: Vec<DroppedFinding>,
    /// Issues of earlier reviews whose tests run again.
    pub known: Vec<KnownIssue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
    /// Results that stand, from before the last time that the agent was asked.
    pub settled: Settled,
    pub agent_isolation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    pub notes: Vec<String>,
    pub milliseconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimsDocument {
    #[serde(rename = "probity-review-claims")]
    Claims,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartDocument {
    #[serde(rename = "probity-review-part")]
    Part,
}

/// The settings on which results depend.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSettings {
    pub config: ReviewConfig,
    pub bar: Bar,
    pub max_fix_rounds: u32,
    pub suite_milliseconds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_milliseconds: Option<u64>,
    /// Whether earlier issues are under review wherever they are.
    #[serde(default, skip_serializing_if = "is_false")]
    pub prove_all_known: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A finding under review. It has an id if it has a test to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClaimedFinding {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(flatten)]
    pub finding: AgentFinding,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DroppedFinding {
    pub finding: AgentFinding,
    pub reason: String,
}

/// An issue that an earlier review has proven.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssue {
    pub id: String,
    pub issue: ProvenIssue,
    pub was_fixed: bool,
}

/// The review before this one, its issues at the paths and lines that their code has today.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    pub since_commit: String,
    pub since_timestamp: String,
    /// What was proven and is not known to be gone.
    pub open: Vec<ProvenIssue>,
    pub closed: Vec<Closed>,
    /// What a person has dismissed, where its lines are still the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dismissed: Vec<Dismissed>,
    /// The highest number that an issue has had.
    #[serde(default)]
    pub highest_id: u64,
}

/// Results, and what is to be said about the place where they were made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    pub proved: Vec<Proved>,
    /// What held the tests; empty if none ran.
    pub isolation: String,
    pub notes: Vec<String>,
    pub milliseconds: u64,
}

/// The results of one shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub document: PartDocument,
    pub schema_version: String,
    pub probity: String,
    pub shard: Shard,
    pub results: Settled,
    pub claims: Claims,
}

impl Claims {
    /// The claims that still need a result, in the order of their ids.
    #[must_use]
    pub fn open(&self) -> Vec<Claim> {
        let settled: HashSet<&str> =
            self.settled.proved.iter().map(|proved| proved.id.as_str()).collect();
        let found = self.findings.iter().filter_map(|claimed| claimed.claim());
        let known = self.known.iter().map(KnownIssue::claim);
        found.chain(known).filter(|claim| !settled.contains(claim.id.as_str())).collect()
    }

    /// What is claimed, by the id of its claim.
    #[must_use]
    pub fn title(&self, id: &str) -> &str {
        let mut found = self.findings.iter();
        let found = found.find(|claimed| claimed.id.as_deref() == Some(id));
        let known = || self.known.iter().find(|known| known.id == id);
        let title = found.map(|claimed| claimed.finding.title.as_str());
        title.or_else(|| known().map(|known| known.issue.title.as_str())).unwrap_or_default()
    }

    /// What the defect of a claim is about.
    pub(crate) fn category(&self, id: &str) -> Option<Category> {
        let found = self.findings.iter().find(|claimed| claimed.id.as_deref() == Some(id));
        found.map(|claimed| claimed.finding.category)
    }

    #[must_use]
    pub fn is_known(&self, id: &str) -> bool {
        self.known.iter().any(|known| known.id == id)
    }

    /// Takes results over; these claims are no longer open.
    pub(crate) fn settle(&mut self, mut results: Settled) {
        self.milliseconds += std::mem::take(&mut results.milliseconds);
        self.settled = [std::mem::take(&mut self.settled), results].into_iter().collect();
    }

    /// Whether the agent is to be asked for better fixes.
    #[must_use]
    pub fn wants_fixes(&self) -> bool {
        self.fix_rounds < self.settings.max_fix_rounds && self.unfixed().next().is_some()
    }

    /// What fails, is not proven, and was claimed by the agent.
    pub(crate) fn unfixed(&self) -> impl Iterator<Item = (&ClaimedFinding, &Proved)> {
        let proved = self.settled.proved.iter().filter(|proved| proved.wants_fix);
        proved.filter_map(|proved| {
            let mut findings = self.findings.iter();
            Some((findings.find(|claimed| claimed.id.as_ref() == Some(&proved.id))?, proved))
        })
    }

    /// Takes a fix over; its claim is open again. False if it has this fix already.
    pub(crate) fn offer(&mut self, id: &str, fix: String) -> bool {
        let mut findings = self.findings.iter_mut();
        let Some(claimed) = findings.find(|claimed| claimed.id.as_deref() == Some(id)) else {
            return false;
        };
        if fix.trim().is_empty() || claimed.finding.fix_patch.as_ref() == Some(&fix) {
            return false;
        }
        claimed.finding.fix_patch = Some(fix);
        claimed.finding.other_fixes.clear();
        self.settled.proved.retain(|proved| proved.id != id);
        true
    }

    /// Tells one claims file from another.
    #[must_use]
    pub fn digest(&self) -> String {
        // A value of ours that JSON cannot hold does not exist.
        hex(&Sha256::digest(serde_json::to_vec(self).unwrap_or_default()))
    }
}

impl Part {
    pub(crate) fn new(claims: Claims, shard: Shard, results: Settled) -> Self {
        Self {
            document: PartDocument::Part,
            schema_version: CLAIMS_VERSION.to_owned(),
            probity: env!("CARGO_PKG_VERSION").to_owned(),
            shard,
            results,
            claims,
        }
    }
}

impl ClaimedFinding {
    pub(crate) fn claim(&self) -> Option<Claim> {
        let (id, code) = (self.id.as_ref()?, self.finding.test_code.as_ref()?);
        Some(claim(id, &self.finding, code))
    }
}

impl KnownIssue {
    fn claim(&self) -> Claim {
        claim(&self.id, &AgentFinding::from(&self.issue), &self.issue.test_code)
    }
}

/// The name of a claim among those of its review, from 0.
pub(crate) fn id(number: usize) -> String {
    format!("{:03}", number + 1)
}

pub(crate) fn claim(id: &str, finding: &AgentFinding, code: &str) -> Claim {
    Claim {
        id: id.to_owned(),
        file: finding.file.clone(),
        line: u32::try_from(finding.line).unwrap_or(u32::MAX),
        end_line: finding.end_line.map(|line| u32::try_from(line).unwrap_or(u32::MAX)),
        test_code: code.to_owned(),
        test_file: finding.test_file.clone(),
        test_name: finding.test_name.clone(),
        fix_patch: finding.fix_patch.clone().filter(|patch| !patch.trim().is_empty()),
        other_fixes: finding.other_fixes.clone(),
    }
}

/// Results of several places as if one had made them.
impl FromIterator<Settled> for Settled {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum.proved.extend(one.proved);
            for note in one.notes {
                if !sum.notes.contains(&note) {
                    sum.notes.push(note);
                }
            }
            if sum.isolation.is_empty() {
                sum.isolation = one.isolation;
            } else if !one.isolation.is_empty() && !sum.isolation.contains(&one.isolation) {
                sum.isolation = format!("{}; {}", sum.isolation, one.isolation);
            }
            // They were made at the same time.
            sum.milliseconds = sum.milliseconds.max(one.milliseconds);
        }
        sum.proved.sort_by(|one, other| one.id.cmp(&other.id));
        sum
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}
