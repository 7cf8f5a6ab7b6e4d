//! What changed since the last review: new, known and fixed.
//!
//! Whether a defect is gone is not a matter of an agent's memory: the test that proved it is run
//! again. If it still fails, the issue still counts, whether or not the agent mentioned it. So does
//! one that was fixed and comes back, if its file has changed since.

use std::collections::HashSet;

use probity_proof::Outcome;

use super::follow::Today;
use crate::{
    claims::{Earlier, KnownIssue},
    classify::{Classified, Judged},
    findings::AgentFinding,
    output::{Changes, Closed, Dismissed, Gone, ProvenIssue, ReviewOutput, Standing},
    proved::Proved,
    redact::Redactor,
    verdict::lines_digest,
};

/// More old proofs than this are not run again.
const MOST: usize = 50;
/// As many fixed issues are remembered.
const CLOSED: usize = 20;

/// The review that was kept last.
#[derive(Clone, Debug)]
pub struct Previous {
    pub review: ReviewOutput,
}

impl Earlier {
    /// What that review knew, each issue with the path and the line that its code has today.
    pub(super) fn new(previous: &Previous, today: &mut Today<'_>, redactor: &Redactor) -> Self {
        let review = &previous.review;
        let changes = review.changes.clone().unwrap_or_default();
        let mut open: Vec<ProvenIssue> =
            review.proven_issues.iter().chain(&changes.open).cloned().collect();
        let mut closed = changes.closed;
        open.iter_mut().for_each(|issue| today.follow(issue));
        closed.iter_mut().for_each(|closed| today.follow(&mut closed.issue));
        let mut dismissed: Vec<Dismissed> = Vec::new();
        for mut one in review.dismissed.iter().cloned() {
            today.follow(&mut one.issue);
            let code = redactor.text(&today.lines(&one.issue));
            if !today.has(&one.issue.file) {
                continue;
            } else if lines_digest(&code) == one.lines {
                dismissed.push(one);
            } else {
                // The word of a person was about other lines.
                open.push(one.issue);
            }
        }
        let metadata = &review.metadata;
        let (since_commit, since_timestamp) = (metadata.commit.clone(), metadata.timestamp.clone());
        let highest_id = changes.highest_id;
        Self { since_commit, since_timestamp, open, closed, dismissed, highest_id }
    }

    /// The issues whose tests are run again, each with whether it was fixed once.
    pub(super) fn known(
        &self,
        today: &mut Today<'_>,
        is_reviewed: &dyn Fn(&str) -> bool,
    ) -> Vec<(ProvenIssue, bool)> {
        let mut known = Vec::new();
        for issue in &self.open {
            if is_reviewed(&issue.file) && today.has(&issue.file) && can_be_tried(issue) {
                known.push((issue.clone(), false));
            }
        }
        known.truncate(MOST);
        for Closed { issue, digest } in &self.closed {
            let there = is_reviewed(&issue.file) && today.has(&issue.file);
            if there && can_be_tried(issue) && today.digest(&issue.file) != *digest {
                known.push((issue.clone(), true));
            }
        }
        known
    }
}

/// Old proofs, each with what it shows today.
pub(super) type Again = Vec<(KnownIssue, Proved)>;

fn can_be_tried(issue: &ProvenIssue) -> bool {
    !issue.test_code.is_empty() && !issue.fingerprint.is_empty()
}

pub(super) fn against(
    earlier: Earlier,
    again: Again,
    today: &mut Today<'_>,
    classified: &mut Classified,
    is_reviewed: &dyn Fn(&str) -> bool,
    redactor: &Redactor,
) -> Changes {
    let Earlier { since_commit, since_timestamp, open, closed, .. } = earlier;
    let mut changes = Changes { since_commit, since_timestamp, ..Changes::default() };
    let before: Vec<&ProvenIssue> =
        open.iter().chain(closed.iter().map(|closed| &closed.issue)).collect();
    recognise(&before, &mut classified.proven);
    let mut tests: HashSet<(String, String)> =
        classified.proven.iter().filter_map(test_of).collect();
    let mut proven: HashSet<String> =
        classified.proven.iter().map(|issue| issue.fingerprint.clone()).collect();
    let mut told: HashSet<String> = HashSet::new();
    // Fixed issues whose test has passed again, which is the text that they are fixed in.
    let mut passed: HashSet<String> = HashSet::new();
    for (KnownIssue { issue, was_fixed, .. }, proved) in again {
        told.insert(issue.fingerprint.clone());
        let test = test_of(&issue);
        let is_there = test.as_ref().is_some_and(|test| tests.contains(test));
        if is_there || proven.contains(&issue.fingerprint) {
            continue;
        }
        if proved.outcome == Outcome::Passed {
            passed.insert(issue.fingerprint.clone());
            if !was_fixed {
                changes.fixed.push(gone(&issue, "its test passes now"));
                changes.closed.push(Closed { digest: today.digest(&issue.file), issue });
            }
        } else if proved.proven {
            proven.insert(issue.fingerprint.clone());
            tests.extend(test);
            let fingerprint = Some(issue.fingerprint.clone());
            let finding = AgentFinding::from(&issue);
            let judged = Judged { finding, proved: Some(proved), fingerprint, question: None };
            classified.add(judged, redactor);
        } else if !was_fixed {
            let why = format!("its test could not be judged again: {}", proved.outcome);
            changes.unclear.push(gone(&issue, &why));
            changes.open.push(issue);
        }
    }
    let prints = |issues: &[ProvenIssue]| -> HashSet<String> {
        issues.iter().map(|issue| issue.fingerprint.clone()).collect()
    };
    let was_open = prints(&open);
    for issue in &mut classified.proven {
        let is_open = was_open.contains(&issue.fingerprint);
        let is_back =
            !is_open && closed.iter().any(|closed| closed.issue.fingerprint == issue.fingerprint);
        let is_known = is_open || is_back;
        issue.standing = Some(if is_known { Standing::Known } else { Standing::New });
        let list = if is_known { &mut changes.known } else { &mut changes.new };
        list.push(issue.id.clone());
        if is_back {
            changes.reopened.push(issue.id.clone());
        }
    }
    let is_left = |issue: &ProvenIssue| {
        !told.contains(&issue.fingerprint) && !proven.contains(&issue.fingerprint)
    };
    for issue in open.into_iter().filter(is_left) {
        if !is_reviewed(&issue.file) {
            // What is out of sight today was neither fixed nor found.
            changes.open.push(issue);
        } else if can_be_tried(&issue) {
            let why = if today.has(&issue.file) {
                "it was not found again, and its test was not run"
            } else {
                "its file is gone; it stays open until its test can be run"
            };
            changes.unclear.push(gone(&issue, why));
            changes.open.push(issue);
        } else {
            let why = "it was not found again, and there is no test of it to run";
            changes.unclear.push(gone(&issue, why));
        }
    }
    changes.open.truncate(MOST);
    for mut closed in closed {
        if proven.contains(&closed.issue.fingerprint) {
            continue;
        }
        if passed.contains(&closed.issue.fingerprint) {
            closed.digest = today.digest(&closed.issue.file);
        }
        changes.closed.push(closed);
    }
    changes.closed.truncate(CLOSED);
    changes
}

/// Gives issues that an earlier review has proven by the same test the identity they had there:
/// lines move, and agents find other words and categories for one defect.
fn recognise(before: &[&ProvenIssue], proven: &mut [ProvenIssue]) {
    let mut taken: HashSet<String> = proven.iter().map(|issue| issue.fingerprint.clone()).collect();
    for issue in proven {
        let Some(test) = test_of(issue) else { continue };
        let same = |old: &&&ProvenIssue| test_of(old).as_ref() == Some(&test);
        if let Some(old) = before.iter().find(same)
            && taken.insert(old.fingerprint.clone())
        {
            issue.fingerprint.clone_from(&old.fingerprint);
        }
    }
}

/// The test and its name: one file may hold the tests of two defects.
fn test_of(issue: &ProvenIssue) -> Option<(String, String)> {
    let code = Some(issue.test_code.trim().to_owned()).filter(|test| !test.is_empty());
    Some((code?, issue.test_name.clone()))
}

fn gone(issue: &ProvenIssue, how: &str) -> Gone {
    Gone {
        fingerprint: issue.fingerprint.clone(),
        severity: issue.severity,
        title: issue.title.clone(),
        file: issue.file.clone(),
        how: how.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issue(title: &str, line: u64, print: &str, code: &str) -> ProvenIssue {
        serde_json::from_value(json!({
            "id": "ISS-001", "severity": "high", "title": title, "file": "a.py", "line": line,
            "test_file": "t", "test_name": "t", "category": "security", "fingerprint": print,
            "test_code": code,
        }))
        .unwrap()
    }

    #[test]
    fn the_same_test_is_the_same_issue_whatever_it_is_called_now() {
        let before = [issue("one", 3, "old", "assert a\n"), issue("two", 5, "other", "")];
        let mut now = [
            issue("moved", 9, "new", "\nassert a"),
            issue("another", 9, "newer", "assert b"),
            issue("no test", 9, "newest", ""),
        ];
        recognise(&before.each_ref(), &mut now);
        let prints = now.each_ref().map(|issue| issue.fingerprint.as_str());
        assert_eq!(prints, ["old", "newer", "newest"]);
    }
}
