//! The map of a project: what each of its tests runs code of, and what it did, in one run of all of
//! them on the code as it is.
//!
//! A whole map stays for the next review. It serves only a tree with the same content, and the same
//! interpreter and packages. The host writes it down, from what the sandboxed run has told, and no run
//! ever sees it. So a tree can lie to itself alone, as it could in any report.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::{
    Asked, FOLLOWER, PLUGIN, Python,
    existing::{file_of, function, not_begun},
    read_report,
};
use crate::{
    Gap, Outcome,
    places::read_text,
    runner::{
        Trouble,
        capture::Ran,
        context::Site,
        report::{Report, State},
        store::StoreKey,
    },
};

const STORE: &str = "python-map";

/// What the plugin wrote, in the store.
const TOLD: &str = "told.jsonl";

/// What the tests of a project run code of.
#[derive(Debug)]
pub(super) struct Map {
    pub(super) report: Report,
    pub(super) gaps: Vec<Gap>,
    /// Whether it shows nothing of any file.
    pub(super) is_empty: bool,
    /// What tests did that ran once more without being followed.
    plain: Mutex<BTreeMap<String, Outcome>>,
}

impl Map {
    /// The one that an earlier review has kept, or that of a run of all tests.
    pub(super) fn make(python: &Python, site: &Site<'_>, project: &Path) -> Result<Self, Trouble> {
        let limit = site.context.suite_timeout;
        let ask = || python.told(site, project, Asked::Map { limit });
        let of = |(ran, told): (Ran, String)| {
            let report = read_report(&told, &ran);
            (Self::of(&ran, report, project, limit), told)
        };
        let Some(key) = key(python, site, project) else { return Ok(of(ask()?).0) };
        let mut made = None;
        let stored = site.context.stored(STORE, key, |leaf| {
            let (map, told) = of(ask()?);
            let is_whole = map.is_whole();
            made = Some(map);
            if !is_whole {
                return Err(Trouble::Machine("not all tests ran".to_owned()));
            }
            leaf.held
                .write(TOLD, told.as_bytes())
                .map_err(|error| Trouble::at(Path::new(TOLD), &error))
        });
        match (made, stored) {
            (Some(map), _) => Ok(map),
            (None, Ok(leaf)) => {
                let told = read_text(&leaf.held, TOLD)
                    .map_err(|error| Trouble::at(Path::new(TOLD), &error))?;
                Ok(Self::told(Report::of_lines(&told)))
            }
            (None, Err(trouble)) => Err(trouble),
        }
    }

    /// Of what one run of all tests of a project has shown.
    fn of(ran: &Ran, report: Report, project: &Path, limit: Duration) -> Self {
        if report.selected.is_some() {
            return Self::told(report);
        }
        let mut gaps = unloaded(&report);
        gaps.push(not_begun(ran, &report, project, limit));
        Self { report, gaps, is_empty: true, plain: Mutex::default() }
    }

    /// Of a run that told which tests there are.
    fn told(report: Report) -> Self {
        let mut gaps = unloaded(&report);
        let selected = report.selected.iter().flatten();
        let (mut known, mut unmapped) = (0, 0);
        for test in selected {
            let count = if report.knows(test) { &mut known } else { &mut unmapped };
            *count += 1;
        }
        if unmapped > 0 {
            gaps.push(Gap::Unmapped { tests: unmapped });
        }
        let passes = report.tests.iter().any(|test| test.state == State::Passed);
        // Tests that all stop before they reach any code touch nothing.
        let none_passes = !passes && known > 0;
        if none_passes {
            gaps.push(Gap::NonePasses);
        }
        Self { report, gaps, is_empty: none_passes, plain: Mutex::default() }
    }

    /// Whether every test ran to its end.
    fn is_whole(&self) -> bool {
        let selected = self.report.selected.as_ref();
        self.report.has_ended
            && selected.is_some_and(|tests| tests.iter().all(|test| self.report.knows(test)))
    }

    /// Whether a file of tests has some that run here, as far as is known.
    pub(super) fn has_tests(&self, file: &str) -> bool {
        let is_there = |test: &String| file_of(test) == file;
        self.report.unloaded.contains(file)
            || self.report.selected.as_ref().is_none_or(|tests| tests.iter().any(is_there))
    }

    /// Whether it knows the tests of a file, and all of them.
    pub(super) fn knows_all(&self, file: &str) -> bool {
        let mut own = self.report.selected.iter().flatten().filter(|test| file_of(test) == file);
        let first = own.next();
        first.into_iter().chain(own).all(|test| self.report.knows(test)) && first.is_some()
    }

    /// What the chosen tests did that have not failed, and the functions of the others. None if nobody
    /// knows which tests there are.
    pub(super) fn outcomes(
        &self,
        chosen: &BTreeSet<String>,
    ) -> Option<(BTreeMap<String, Outcome>, BTreeSet<String>)> {
        let states: BTreeMap<&str, State> =
            self.report.tests.iter().map(|test| (test.name.as_str(), test.state)).collect();
        let plain = self.plain.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut known, mut others) = (BTreeMap::new(), BTreeSet::new());
        for test in self.report.selected.as_ref()? {
            if !chosen.contains(file_of(test)) && !chosen.contains(function(test)) {
                continue;
            }
            let followed = states.get(test.as_str()).map(|state| state.outcome());
            let followed = followed.filter(|outcome| *outcome != Outcome::Failed);
            match plain.get(test).copied().or(followed) {
                Some(outcome) => {
                    known.insert(test.clone(), outcome);
                }
                None => {
                    others.insert(function(test).to_owned());
                }
            }
        }
        Some((known, others))
    }

    /// Keeps what tests did without being followed.
    pub(super) fn remember(&self, outcomes: &BTreeMap<String, Outcome>) {
        let mut plain = self.plain.lock().unwrap_or_else(PoisonError::into_inner);
        plain.extend(outcomes.iter().map(|(name, outcome)| (name.clone(), *outcome)));
    }
}

fn unloaded(report: &Report) -> Vec<Gap> {
    report.unloaded.iter().cloned().map(Gap::Unloaded).collect()
}

/// All that a map depends on. None if the tree cannot be read.
fn key(python: &Python, site: &Site<'_>, project: &Path) -> Option<StoreKey> {
    let mut key = StoreKey::new();
    key.add(site.copy.tree_digest()?);
    key.add(project.as_os_str().as_encoded_bytes());
    key.add(python.interpreter.as_os_str().as_encoded_bytes());
    python.environment.iter().for_each(|part| key.add(part));
    for (name, value) in site.context.passed_variables() {
        key.add(name);
        key.add(value.as_encoded_bytes());
    }
    [PLUGIN, FOLLOWER.1].iter().for_each(|text| key.add(text));
    Some(key)
}

#[cfg(test)]
mod tests {
    use probity_sandbox::Exit;

    use super::*;
    use crate::RunDetail;

    fn test(name: &str, state: &str) -> String {
        format!(
            "{{\"event\": \"test\", \"test\": \"t.py::{name}\", \"state\": \"{state}\"}}\n\
             {{\"event\": \"touched\", \"test\": \"t.py::{name}\", \"files\": [], \"groups\": []}}"
        )
    }

    #[test]
    fn a_map_says_what_it_does_not_show() {
        let selected = r#"{"event": "selected", "tests": ["t.py::a", "t.py::b"]}"#;
        let unloaded = r#"{"event": "unloaded", "file": "u.py"}"#.to_owned();
        let none = r#"{"event": "selected", "tests": []}"#.to_owned();
        let not_run = Gap::NotRun { place: String::new(), detail: RunDetail::NeverBegan };
        for (lines, gaps, is_empty) in [
            (vec![], vec![not_run], true),
            (vec![none.clone()], vec![], false),
            (vec![unloaded.clone(), none], vec![Gap::Unloaded("u.py".to_owned())], false),
            (vec![selected.to_owned()], vec![Gap::Unmapped { tests: 2 }], false),
            (
                vec![selected.to_owned(), test("a", "passed")],
                vec![Gap::Unmapped { tests: 1 }],
                false,
            ),
            (
                vec![selected.to_owned(), test("a", "failed"), test("b", "failed")],
                vec![Gap::NonePasses],
                true,
            ),
            (vec![selected.to_owned(), test("a", "failed"), test("b", "passed")], vec![], false),
        ] {
            let report = Report::of_lines(&lines.join("\n"));
            let map = Map::of(&ran(), report, Path::new(""), Duration::from_secs(9));
            assert_eq!((map.gaps, map.is_empty), (gaps, is_empty), "{lines:?}");
        }
    }

    #[test]
    fn a_map_says_what_tests_did_unless_they_failed() {
        let selected =
            r#"{"event": "selected", "tests": ["t.py::a", "t.py::b[1]", "t.py::c", "u.py::d"]}"#;
        let lines =
            [selected, &test("a", "passed"), &test("b[1]", "failed"), &test("c", "skipped")];
        let map = Map::told(Report::of_lines(&lines.join("\n")));
        assert!(!map.is_whole() && !map.knows_all("u.py") && map.knows_all("t.py"));
        assert!(!map.knows_all("no.py"));
        let (known, others) = map.outcomes(&["t.py".to_owned()].into()).unwrap();
        let skipped = ("t.py::c".to_owned(), Outcome::Skipped);
        assert_eq!(known, [("t.py::a".to_owned(), Outcome::Passed), skipped].into());
        assert_eq!(others, ["t.py::b".to_owned()].into());
        map.remember(&[("t.py::b[1]".to_owned(), Outcome::Failed)].into());
        let (known, others) = map.outcomes(&["t.py::b".to_owned()].into()).unwrap();
        assert_eq!((known.len(), others.len()), (1, 0));
        assert!(
            Map::of(&ran(), Report::default(), Path::new(""), Duration::MAX)
                .outcomes(&BTreeSet::new())
                .is_none()
        );
    }

    fn ran() -> Ran {
        let (stdout, stderr) = (Vec::new(), Vec::new());
        Ran { exit: Exit::Code(1), duration: Duration::ZERO, stdout, stderr }
    }
}
