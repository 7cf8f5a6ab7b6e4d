//! Which existing tests touch a file: those that a run of all of them saw there, those in the file
//! of tests that is named after it, and those that commits often changed with it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{Asked, Python, map::Map, project};
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

/// Files of tests that run because commits often changed them with the code, such as those that start
/// it as a program.
const MOST_TOGETHER: usize = 3;

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
    let map = map(python, site, &project)?;
    let is_python = |name: &str| name.ends_with(".py") && name.contains("test");
    let files = found(site.repo(), &project, is_python);
    let is_tested = |test: &str| files.contains(test) && map.knows_all(test);
    let together = site.context.history().together(file, MOST_TOGETHER, is_tested);
    let mirrors = files.iter().filter(|test| is_mirror(test, file) && map.has_tests(test));
    groups.lacks_nearest |= map.is_empty;
    for gap in &map.gaps {
        if !groups.gaps.contains(gap) {
            groups.gaps.push(gap.clone());
        }
    }
    let touching = map.report.touching(file).map(|test| function(test).to_owned());
    let tests = groups.tests.entry(project).or_default();
    tests.extend(touching.chain(mirrors.cloned()).chain(together));
    Ok(())
}

fn map(python: &Python, site: &Site<'_>, project: &Path) -> Result<Arc<Map>, Trouble> {
    python.maps.get(project.to_owned(), || Map::make(python, site, project).map(Arc::new))
}

/// Runs those of the chosen tests of which the map does not say what they do. One that fails there is
/// not believed: it may mind being followed.
pub(super) fn run_original(
    python: &Python,
    site: &Site<'_>,
    project: &Path,
    tests: &BTreeSet<String>,
    limit: Duration,
) -> Result<Suite, Trouble> {
    let map = map(python, site, project)?;
    let Some((known, others)) = map.outcomes(tests) else {
        return run(python, site, project, tests, &BTreeSet::new(), limit);
    };
    let mut suite = Suite { outcomes: known, ..Suite::default() };
    if !others.is_empty() {
        let ran = run(python, site, project, &others, &BTreeSet::new(), limit)?;
        map.remember(&ran.outcomes);
        suite.join(ran, true);
    }
    // Files that the map could not load are gaps of the chosen ones.
    for gap in &map.gaps {
        let is_chosen = matches!(gap, Gap::Unloaded(file) if tests.contains(file));
        suite.lack(gap.clone(), is_chosen);
    }
    Ok(suite)
}

/// Runs the chosen files and functions of a project, up to the first that passed before and does not
/// any more. All of them are near, so that each has to run.
pub(super) fn run(
    python: &Python,
    site: &Site<'_>,
    project: &Path,
    tests: &BTreeSet<String>,
    passed: &BTreeSet<String>,
    limit: Duration,
) -> Result<Suite, Trouble> {
    let (ran, report) = python.session(site, project, Asked::Chosen { tests, passed, limit })?;
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
    let state = |name: &str| report.tests.iter().find(|test| test.name == name);
    let has_ended = |name: &String| state(name).is_some_and(|test| test.state != State::Began);
    let is_lost = |name: &String| {
        passed.contains(name)
            && has_ended(name)
            && suite.outcomes.get(name) == Some(&Outcome::Failed)
    };
    let (is_late, is_whole) = (ran.duration >= limit, selected.iter().all(has_ended));
    if !is_whole && selected.iter().any(is_lost) {
        suite.is_stopped = true;
    } else if is_late && !is_whole {
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
pub(super) fn not_begun(ran: &Ran, report: &Report, project: &Path, limit: Duration) -> Gap {
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

pub(super) fn file_of(test: &str) -> &str {
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
    use super::function;

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
}
