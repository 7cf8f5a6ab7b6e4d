//! An issue keeps its id from review to review, and no id is used for two issues.

use std::collections::{HashMap, HashSet};

use crate::{
    claims::Earlier,
    classify::Classified,
    output::{Changes, ProvenIssue},
};

const START: &str = "ISS-";
const TESTS: &str = "review/tests/";

/// The ids that issues have had, by their fingerprints.
#[derive(Debug, Default)]
pub(super) struct EarlierIds {
    ids: HashMap<String, String>,
    highest: u64,
}

impl EarlierIds {
    pub(super) fn of(earlier: &Earlier) -> Self {
        let closed = earlier.closed.iter().map(|closed| &closed.issue);
        let dismissed = earlier.dismissed.iter().map(|dismissed| &dismissed.issue);
        let issues: Vec<&ProvenIssue> =
            earlier.open.iter().chain(closed).chain(dismissed).collect();
        let numbers = issues.iter().filter_map(|issue| number(&issue.id));
        let highest = numbers.chain([earlier.highest_id]).max().unwrap_or(0);
        let pair = |issue: &&ProvenIssue| (issue.fingerprint.clone(), issue.id.clone());
        // The first of two is the one that is open.
        let ids = issues.iter().rev().map(pair).collect();
        Self { ids, highest }
    }

    /// Gives known issues their ids, and new ones ids that nobody has had.
    pub(super) fn keep(self, classified: &mut Classified, changes: &mut Changes) {
        let Self { ids, mut highest } = self;
        let mut taken: HashSet<String> = HashSet::new();
        let mut renamed: HashMap<String, String> = HashMap::new();
        let mut files: HashMap<String, String> = HashMap::new();
        for issue in &mut classified.proven {
            let known = ids.get(&issue.fingerprint).filter(|id| number(id).is_some());
            let id = known.filter(|id| taken.insert((*id).clone())).cloned();
            let id = id.unwrap_or_else(|| {
                highest += 1;
                format!("{START}{highest:03}")
            });
            let name = issue.test_file.strip_prefix(TESTS).unwrap_or_default().to_owned();
            if let Some(rest) = name.strip_prefix(&issue.id) {
                let new = format!("{id}{rest}");
                issue.test_file = format!("{TESTS}{new}");
                files.insert(name, new);
            }
            renamed.insert(std::mem::replace(&mut issue.id, id.clone()), id);
        }
        for test in &mut classified.tests {
            if let Some(new) = files.remove(&test.name) {
                test.name = new;
            }
        }
        for list in [&mut changes.new, &mut changes.known, &mut changes.reopened] {
            for id in list {
                if let Some(new) = renamed.get(id) {
                    id.clone_from(new);
                }
            }
        }
        changes.highest_id = highest;
    }
}

fn number(id: &str) -> Option<u64> {
    id.strip_prefix(START)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests_on_disk::TestFile;

    fn issue(id: &str, print: &str) -> ProvenIssue {
        serde_json::from_value(json!({
            "id": id, "severity": "high", "title": "t", "file": "a.py", "line": 1,
            "test_file": format!("review/tests/{id}_t.py"), "test_name": "t",
            "category": "security", "fingerprint": print,
        }))
        .unwrap()
    }

    #[test]
    fn known_issues_keep_their_ids_and_new_ones_get_ids_that_were_never_used() {
        let earlier = Earlier {
            since_commit: String::new(),
            since_timestamp: String::new(),
            open: vec![issue("ISS-002", "b"), issue("ISS-001", "a")],
            closed: Vec::new(),
            dismissed: Vec::new(),
            highest_id: 7,
        };
        let mut classified = Classified {
            // In the order in which the agent names them today.
            proven: vec![issue("ISS-001", "new"), issue("ISS-002", "a"), issue("ISS-003", "b")],
            ..Classified::default()
        };
        let test = |issue: &ProvenIssue| TestFile {
            name: issue.test_file.replace("review/tests/", ""),
            text: issue.fingerprint.clone(),
        };
        classified.tests = classified.proven.iter().map(test).collect();
        let mut changes = Changes {
            new: vec!["ISS-001".to_owned()],
            known: vec!["ISS-002".to_owned(), "ISS-003".to_owned()],
            ..Changes::default()
        };
        EarlierIds::of(&earlier).keep(&mut classified, &mut changes);
        let ids: Vec<&str> = classified.proven.iter().map(|issue| issue.id.as_str()).collect();
        assert_eq!(ids, ["ISS-008", "ISS-001", "ISS-002"]);
        let tests: Vec<(&str, &str)> =
            classified.tests.iter().map(|test| (&*test.name, &*test.text)).collect();
        assert_eq!(tests, [("ISS-008_t.py", "new"), ("ISS-001_t.py", "a"), ("ISS-002_t.py", "b")]);
        assert_eq!(classified.proven[1].test_file, "review/tests/ISS-001_t.py");
        assert_eq!(
            (changes.new, changes.known),
            (vec!["ISS-008".to_owned()], vec!["ISS-001".to_owned(), "ISS-002".to_owned()])
        );
        assert_eq!(changes.highest_id, 8);
    }
}
