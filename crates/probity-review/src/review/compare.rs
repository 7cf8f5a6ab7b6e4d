//! What changed since the last review: new, known and fixed.
//!
//! Whether a defect is gone is not a matter of an agent's memory: the test that proved it is run
//! again. If it still fails, the issue still counts, whether or not the agent mentioned it.

use std::collections::HashSet;

use crate::{
    classify::{Classified, Judged},
    findings::AgentFinding,
    output::{Changes, Gone, ProvenIssue, ReviewOutput, Standing},
    proof::{Outcome, Verdict},
    redact::Redactor,
};

/// More old proofs than this are not run again.
const MOST: usize = 50;

/// The review that was kept last.
#[derive(Clone, Debug)]
pub struct Previous {
    pub review: ReviewOutput,
}

impl Previous {
    /// What was proven and is not known to be gone.
    fn open(&self) -> impl Iterator<Item = &ProvenIssue> {
        let carried = self.review.changes.iter().flat_map(|changes| &changes.open);
        self.review.proven_issues.iter().chain(carried)
    }

    /// What a review that looked at nothing knows: as much as the one before.
    pub(super) fn carried(&self) -> Changes {
        Changes { open: self.open().take(MOST).cloned().collect(), ..self.since() }
    }

    fn since(&self) -> Changes {
        let metadata = &self.review.metadata;
        Changes {
            since_commit: metadata.commit.clone(),
            since_timestamp: metadata.timestamp.clone(),
            ..Changes::default()
        }
    }
}

/// Old proofs, and what they show today.
pub(super) struct Again<'a> {
    pub(super) known: &'a [ProvenIssue],
    pub(super) verdicts: Vec<Verdict>,
}

/// The issues whose tests can be run again.
pub(super) fn known(
    previous: Option<&Previous>,
    names: &[String],
    is_reviewed: &dyn Fn(&str) -> bool,
) -> Vec<ProvenIssue> {
    let Some(previous) = previous else { return Vec::new() };
    previous
        .open()
        .filter(|issue| is_reviewed(&issue.file) && names.contains(&issue.file))
        .filter(|issue| !issue.test_code.is_empty() && !issue.fingerprint.is_empty())
        .take(MOST)
        .cloned()
        .collect()
}

pub(super) fn against(
    previous: &Previous,
    again: Again<'_>,
    classified: &mut Classified,
    is_reviewed: &dyn Fn(&str) -> bool,
    redactor: &Redactor,
) -> Changes {
    let mut changes = previous.since();
    let before: Vec<&ProvenIssue> = previous.open().collect();
    recognise(&before, &mut classified.proven);
    let mut tests: HashSet<String> = classified.proven.iter().filter_map(test_of).collect();
    let mut proven: HashSet<String> =
        classified.proven.iter().map(|issue| issue.fingerprint.clone()).collect();
    let mut told: HashSet<&str> = HashSet::new();
    for (issue, verdict) in again.known.iter().zip(again.verdicts) {
        told.insert(&issue.fingerprint);
        let test = test_of(issue);
        let is_there = test.as_ref().is_some_and(|test| tests.contains(test));
        if is_there || proven.contains(&issue.fingerprint) {
            continue;
        }
        if verdict.outcome == Outcome::Passed {
            changes.fixed.push(gone(issue, "its test passes now".to_owned()));
        } else if verdict.proven {
            proven.insert(issue.fingerprint.clone());
            tests.extend(test);
            let fingerprint = Some(issue.fingerprint.clone());
            let finding = finding_of(issue);
            let verdict = Some(verdict);
            let judged = Judged { finding, verdict, fingerprint, stand_in: None };
            classified.add(judged, redactor);
        } else {
            let why = format!("its test could not be judged again: {}", verdict.outcome);
            changes.unclear.push(gone(issue, why));
            changes.open.push(issue.clone());
        }
    }
    let prints: HashSet<&str> = before.iter().map(|issue| issue.fingerprint.as_str()).collect();
    for issue in &mut classified.proven {
        let is_known = prints.contains(issue.fingerprint.as_str());
        issue.standing = Some(if is_known { Standing::Known } else { Standing::New });
        let list = if is_known { &mut changes.known } else { &mut changes.new };
        list.push(issue.id.clone());
    }
    let is_left = |issue: &&ProvenIssue| {
        !told.contains(issue.fingerprint.as_str()) && !proven.contains(&issue.fingerprint)
    };
    for issue in before.into_iter().filter(is_left) {
        if is_reviewed(&issue.file) {
            // Nobody can try it again: there is no test, or no such file.
            let why = "it was not found again, and its test could not be run".to_owned();
            changes.unclear.push(gone(issue, why));
        } else {
            // What is out of sight today was neither fixed nor found.
            changes.open.push(issue.clone());
        }
    }
    changes.open.truncate(MOST);
    changes
}

/// Gives issues that an earlier review has proven by the same test the identity they had there:
/// lines move, and agents find other words and categories for one defect.
fn recognise(before: &[&ProvenIssue], proven: &mut [ProvenIssue]) {
    let mut taken: HashSet<String> = proven.iter().map(|it| it.fingerprint.clone()).collect();
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

fn test_of(issue: &ProvenIssue) -> Option<String> {
    Some(issue.test_code.trim().to_owned()).filter(|test| !test.is_empty())
}

/// An issue of an earlier review, as the agent of that time claimed it.
pub(super) fn finding_of(issue: &ProvenIssue) -> AgentFinding {
    AgentFinding {
        title: issue.title.clone(),
        description: issue.description.clone(),
        file: issue.file.clone(),
        line: issue.line,
        end_line: issue.end_line,
        severity: issue.severity,
        category: issue.category,
        test_code: Some(issue.test_code.clone()).filter(|code| !code.is_empty()),
        test_file: Some(issue.test_path.clone()).filter(|path| !path.is_empty()),
        test_name: Some(issue.test_name.clone()).filter(|name| !name.is_empty()),
        fix_patch: issue.fix_patch.clone(),
    }
}

fn gone(issue: &ProvenIssue, how: String) -> Gone {
    Gone {
        fingerprint: issue.fingerprint.clone(),
        severity: issue.severity,
        title: issue.title.clone(),
        file: issue.file.clone(),
        how,
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
