//! Which existing tests touch a file: those that a run of all of them saw there, and those in the file
//! of tests that is named after it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{Asked, Python, project};
use crate::{
    Gap, Outcome, RunDetail,
    runner::{
        Trouble,
        capture::Ran,
        context::Site,
        existing::{Existing, Groups, Suite, is_mirror},
        files::found,
        placement,
        report::{Report, State},
    },
};

/// What the tests of a project run code of.
#[derive(Debug)]
pub(super) struct Map {
    report: Report,
    gaps: Vec<Gap>,
    /// Whether it shows nothing of any file.
    is_empty: bool,
}

impl Map {
    /// Of what one run of all tests of a project has shown.
    fn of(ran: &Ran, report: Report, project: &Path, limit: Duration) -> Self {
        let mut gaps: Vec<Gap> = report.unloaded.iter().cloned().map(Gap::Unloaded).collect();
        let Some(selected) = &report.selected else {
            gaps.push(not_begun(ran, &report, project, limit));
            return Self { report, gaps, is_empty: true };
        };
        let unmapped = selected.iter().filter(|test| !report.knows(test)).count();
        if unmapped > 0 {
            gaps.push(Gap::Unmapped { tests: unmapped });
        }
        let passes = report.tests.iter().any(|test| test.state == State::Passed);
        // Tests that all stop before they reach any code touch nothing.
        let none_passes = !passes && unmapped < selected.len();
        if none_passes {
            gaps.push(Gap::NonePasses);
        }
        Self { report, gaps, is_empty: none_passes }
    }

    /// Whether a file of tests has some that run here, as far as is known.
    fn has_tests(&self, file: &str) -> bool {
        let is_there = |test: &String| file_of(test) == file;
        self.report.unloaded.contains(file)
            || self.report.selected.as_ref().is_none_or(|tests| tests.iter().any(is_there))
    }
}

pub(super) fn groups(
    python: &Python,
    site: &Site<'_>,
    wanted: Existing<'_>,
) -> Result<Groups, Trouble> {
    let mut groups = Groups::default();
    match wanted {
        Existing::Named(names) => {
            for name in names {
                let tests = groups.tests.entry(project_of(site, file_of(name))).or_default();
                tests.insert(function(name).to_owned());
            }
        }
        Existing::Touching(files) => {
            for file in files {
                add_touching(python, site, file, &mut groups)?;
            }
        }
    }
    groups.tests.retain(|_, names| !names.is_empty());
    Ok(groups)
}

fn add_touching(
    python: &Python,
    site: &Site<'_>,
    file: &str,
    groups: &mut Groups,
) -> Result<(), Trouble> {
    let project = project_of(site, file);
    let map = python.maps.get(project.clone(), || {
        let limit = site.context.suite_timeout;
        let (ran, report) = python.session(site, &project, Asked::Map { limit })?;
        Ok(Arc::new(Map::of(&ran, report, &project, limit)))
    })?;
    let is_python = |name: &str| name.ends_with(".py") && name.contains("test");
    let mirrors = found(site.repo(), &project, is_python);
    let mirrors = mirrors.into_iter().filter(|test| is_mirror(test, file) && map.has_tests(test));
    groups.lacks_nearest |= map.is_empty;
    for gap in &map.gaps {
        if !groups.gaps.contains(gap) {
            groups.gaps.push(gap.clone());
        }
    }
    let touching = map.report.touching(file).map(|test| function(test).to_owned());
    groups.tests.entry(project).or_default().extend(touching.chain(mirrors));
    Ok(())
}

/// Runs the chosen files and functions of a project. All of them are near, so that each has to run.
pub(super) fn run(
    python: &Python,
    site: &Site<'_>,
    project: &Path,
    tests: &BTreeSet<String>,
    limit: Duration,
) -> Result<Suite, Trouble> {
    let (ran, report) = python.session(site, project, Asked::Chosen { tests, limit })?;
    let mut suite = Suite::default();
    suite.add("", &report);
    for file in &report.unloaded {
        let is_chosen = tests.iter().any(|test| file_of(test) == file);
        suite.lack(Gap::Unloaded(file.clone()), is_chosen);
    }
    let Some(selected) = &report.selected else {
        suite.is_cut = ran.duration >= limit;
        suite.lack(not_begun(&ran, &report, project, limit), true);
        return Ok(suite);
    };
    let has_ended = |name: &String| {
        report.tests.iter().any(|test| test.name == *name && test.state != State::Began)
    };
    let (is_late, is_whole) = (ran.duration >= limit, selected.iter().all(has_ended));
    if is_late && !is_whole {
        suite.cut(project);
        // What was interrupted has not failed.
        for test in report.tests.iter().filter(|test| test.state == State::Began) {
            suite.outcomes.insert(test.name.clone(), Outcome::Timeout);
        }
    } else if !is_whole || !report.has_ended {
        suite.stop(project, RunDetail::EndedEarly);
    }
    Ok(suite)
}

/// What a run shows of a project of which no test began.
fn not_begun(ran: &Ran, report: &Report, project: &Path, limit: Duration) -> Gap {
    let place = placement::slashes(project);
    if ran.duration >= limit {
        return Gap::OutOfTime { place };
    }
    let detail = report.without_end.clone().filter(|detail| *detail != RunDetail::Unbuilt);
    Gap::NotRun { place, detail: detail.unwrap_or(RunDetail::NeverBegan) }
}

fn project_of(site: &Site<'_>, file: &str) -> PathBuf {
    project(site.repo(), Path::new(file).parent().unwrap_or(Path::new("")))
}

fn file_of(test: &str) -> &str {
    test.split_once("::").map_or(test, |(file, _)| file)
}

/// A test's name without its parameters.
pub(super) fn function(test: &str) -> &str {
    let begins = test.find("::").unwrap_or(test.len());
    let rest = test.get(begins..).unwrap_or_default();
    let length = rest.find('[').unwrap_or(rest.len());
    test.get(..begins + length).unwrap_or(test)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use probity_sandbox::Exit;

    use super::*;

    #[test]
    fn parameters_are_no_part_of_a_function() {
        for (test, expected) in [
            ("tests/test_a.py::T::test_b[1-[x]]", "tests/test_a.py::T::test_b"),
            ("[odd]/test_a.py::test_b", "[odd]/test_a.py::test_b"),
            ("tests/test_a.py", "tests/test_a.py"),
        ] {
            assert_eq!(function(test), expected);
        }
    }

    #[test]
    fn a_map_says_what_it_does_not_show() {
        let selected = r#"{"event": "selected", "tests": ["t.py::a", "t.py::b"]}"#;
        let test = |name: &str, state: &str| {
            format!(
                "{{\"event\": \"test\", \"test\": \"t.py::{name}\", \"state\": \"{state}\"}}\n\
                 {{\"event\": \"touched\", \"test\": \"t.py::{name}\", \"files\": [], \"groups\": []}}"
            )
        };
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
            let (stdout, stderr) = (Vec::new(), Vec::new());
            let ran = Ran { exit: Exit::Code(1), duration: Duration::ZERO, stdout, stderr };
            let report = Report::of_lines(&lines.join("\n"));
            let map = Map::of(&ran, report, Path::new(""), Duration::from_secs(9));
            assert_eq!((map.gaps, map.is_empty), (gaps, is_empty), "{lines:?}");
        }
    }
}
