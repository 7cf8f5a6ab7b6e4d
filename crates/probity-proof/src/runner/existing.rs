//! The existing tests of a repository: which are wanted, what they did, and which of them could say
//! nothing.
//!
//! A run that shows nothing must never look like one in which nothing broke. So whatever did not
//! run is a gap with a name, and a set of outcomes without gaps is complete.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    Runner, Trouble,
    capture::Ran,
    context::Site,
    placement,
    report::{Report, TestReport},
};
use crate::{Gap, Outcome, RunDetail};

/// Which of the existing tests are run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Existing<'a> {
    /// Those that touch one of these files, or those of its package if nobody knows.
    Touching(&'a [String]),
    /// Those of these names, as an earlier run has told them.
    Named(&'a [String]),
}

/// Which code existing tests run on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side<'a> {
    /// As it is. What another run has shown already need not run again.
    Original,
    /// With a fix. The run may end at the first test that does not pass though it passed before.
    Changed(&'a Suite),
    /// Whichever. Each test runs, and to its end.
    Whole,
}

/// Existing tests by the directory that they run in.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// No tests stand for all of the directory's.
    pub(crate) tests: BTreeMap<PathBuf, BTreeSet<String>>,
    /// The directories whose tests are nearest to the changed files; all of them if it has none.
    pub(crate) nearest: BTreeSet<PathBuf>,
    pub(crate) gaps: Vec<Gap>,
    /// Whether tests that are nearest are among the gaps.
    pub(crate) lacks_nearest: bool,
}

impl Groups {
    fn is_nearest(&self, directory: &Path) -> bool {
        self.nearest.is_empty() || self.nearest.contains(directory)
    }

    /// Keeps so many directories, the nearest before the others.
    pub(crate) fn keep(&mut self, most: usize) {
        let mut directories: Vec<PathBuf> = self.tests.keys().cloned().collect();
        directories.sort_by_key(|directory| !self.is_nearest(directory));
        let left_out: Vec<PathBuf> = directories.into_iter().skip(most).collect();
        if left_out.is_empty() {
            return;
        }
        self.lacks_nearest |= left_out.iter().any(|directory| self.is_nearest(directory));
        self.gaps.push(Gap::TooMany { left_out: left_out.len() });
        self.tests.retain(|directory, _| !left_out.contains(directory));
    }
}

impl Groups {
    /// Of the files of tests of a project so many, those first that mirror one of the changed files.
    pub(crate) fn nearest_files(
        &mut self,
        files: BTreeSet<String>,
        wanted: Existing<'_>,
        most: usize,
    ) -> BTreeSet<String> {
        let mirrors = |test: &String| match wanted {
            Existing::Touching(changed) => changed.iter().any(|file| is_mirror(test, file)),
            Existing::Named(_) => false,
        };
        let mut in_order: Vec<String> = files.into_iter().collect();
        in_order.sort_by_key(|file| !mirrors(file));
        let left_out = in_order.split_off(most.min(in_order.len()));
        if !left_out.is_empty() {
            self.lacks_nearest |= left_out.iter().any(mirrors);
            self.gaps.push(Gap::TooMany { left_out: left_out.len() });
        }
        in_order.into_iter().collect()
    }
}

/// What the existing tests did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    pub(crate) outcomes: BTreeMap<String, Outcome>,
    /// The directories of which the tests were compiled, and whether they could be.
    pub(crate) builds: BTreeMap<PathBuf, bool>,
    pub(crate) gaps: Vec<Gap>,
    /// Whether tests that are nearest are among the gaps.
    pub(crate) lacks_nearest: bool,
    /// Whether some of them had no time left.
    pub(crate) is_cut: bool,
    /// Whether the others did not run because one that passed before does not pass any more.
    pub(crate) is_stopped: bool,
}

impl Suite {
    /// Of tests of which none could be run.
    pub(crate) fn without(gap: Gap) -> Self {
        Self { gaps: vec![gap], lacks_nearest: true, ..Self::default() }
    }

    /// What a process told of the tests of a place; they are known by their names behind a prefix.
    pub(crate) fn of(
        prefix: &str,
        place: &Path,
        ran: &Ran,
        report: &Report,
        limit: Duration,
    ) -> Self {
        let mut suite = Self::default();
        suite.add(prefix, report);
        let detail = report.without_end.clone().filter(|_| report.tests.is_empty());
        match detail {
            _ if ran.duration >= limit => suite.cut(place),
            None | Some(RunDetail::NoSuchTest) => {}
            // The files say so below, by their names.
            Some(RunDetail::Unbuilt) if !report.unloaded.is_empty() => {}
            Some(detail) => suite.stop(place, detail),
        }
        for file in &report.unloaded {
            suite.lack(Gap::Unloaded(file.clone()), false);
        }
        suite
    }

    /// The tests that passed.
    pub(crate) fn passed(&self) -> impl Iterator<Item = &str> {
        let passed = self.outcomes.iter().filter(|(_, outcome)| **outcome == Outcome::Passed);
        passed.map(|(name, _)| name.as_str())
    }

    /// Whether a test or a build that was good before is not any more.
    pub(crate) fn has_lost(&self, before: &Self) -> bool {
        let is_lost =
            |name: &str| self.outcomes.get(name).is_some_and(|outcome| *outcome == Outcome::Failed);
        let is_unbuilt =
            |(place, built): (&PathBuf, &bool)| *built && self.builds.get(place) == Some(&false);
        before.passed().any(is_lost) || before.builds.iter().any(is_unbuilt)
    }

    /// With this prefix before the names of its tests.
    pub(crate) fn named(mut self, prefix: &str) -> Self {
        let outcomes = std::mem::take(&mut self.outcomes).into_iter();
        self.outcomes =
            outcomes.map(|(name, outcome)| (format!("{prefix}{name}"), outcome)).collect();
        self
    }

    /// Adds what a process told; its tests are known by their names behind this prefix.
    pub(crate) fn add(&mut self, prefix: &str, report: &Report) {
        for TestReport { name, state, .. } in &report.tests {
            // Of several tests with one name the worst counts.
            let outcome = self.outcomes.entry(format!("{prefix}{name}"));
            let known = outcome.or_insert(state.outcome());
            *known = (*known).min(state.outcome());
        }
    }

    /// Notes a gap, once.
    pub(crate) fn lack(&mut self, gap: Gap, is_nearest: bool) {
        self.lacks_nearest |= is_nearest;
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Notes that the tests of a place had no time left.
    pub(crate) fn cut(&mut self, place: &Path) {
        self.is_cut = true;
        self.lack(Gap::OutOfTime { place: placement::slashes(place) }, true);
    }

    /// Notes that the tests of a place did not run to their end.
    pub(crate) fn stop(&mut self, place: &Path, detail: RunDetail) {
        self.lack(Gap::NotRun { place: placement::slashes(place), detail }, true);
    }

    /// Takes over what the tests of another place did.
    pub(crate) fn join(&mut self, other: Self, is_nearest: bool) {
        self.is_cut |= other.is_cut;
        self.is_stopped |= other.is_stopped;
        self.outcomes.extend(other.outcomes);
        self.builds.extend(other.builds);
        let lacks_nearest = is_nearest && other.lacks_nearest;
        other.gaps.into_iter().for_each(|gap| self.lack(gap, false));
        self.lacks_nearest |= lacks_nearest;
    }
}

/// Runs existing tests, group by group, the nearest first, as long as there is time.
pub(crate) fn run_existing(
    runner: &dyn Runner,
    site: &Site<'_>,
    wanted: Existing<'_>,
    side: Side<'_>,
) -> Suite {
    let groups = match runner.groups(site, wanted) {
        Ok(groups) => groups,
        Err(Trouble::NoSuite) => return Suite::without(Gap::NoSuite),
        Err(trouble) => {
            let detail = RunDetail::Trouble(trouble);
            return Suite::without(Gap::NotRun { place: String::new(), detail });
        }
    };
    // To find them may have taken a run of all tests, which has a limit of its own.
    let until = Instant::now() + site.context.suite_timeout;
    let (gaps, lacks_nearest) = (groups.gaps.clone(), groups.lacks_nearest);
    let mut suite = Suite { gaps, lacks_nearest, ..Suite::default() };
    let mut in_order: Vec<_> = groups.tests.iter().collect();
    in_order.sort_by_key(|(directory, _)| !groups.is_nearest(directory));
    for (directory, tests) in in_order {
        let is_nearest = groups.is_nearest(directory);
        let limit = until.saturating_duration_since(Instant::now());
        let mut ran = Suite::default();
        if limit < Duration::from_secs(1) {
            ran.cut(directory);
            suite.join(ran, is_nearest);
            continue;
        }
        let told = match side {
            Side::Original => runner.run_original(site, directory, tests, limit),
            Side::Changed(before) => runner.run_changed(site, directory, tests, before, limit),
            Side::Whole => runner.run_group(site, directory, tests, limit),
        };
        match told {
            Ok(told) => {
                ran = told;
                ran.builds.insert(directory.clone(), true);
            }
            Err(trial) => {
                if matches!(trial.detail, RunDetail::Unbuilt | RunDetail::PackageUnbuilt) {
                    ran.builds.insert(directory.clone(), false);
                }
                ran.stop(directory, trial.detail);
            }
        }
        suite.join(ran, is_nearest);
        if let Side::Changed(before) = side
            && suite.has_lost(before)
        {
            suite.is_stopped = true;
            break;
        }
    }
    if let Existing::Touching(files) = wanted {
        let is_near = |gap: &Gap| match gap {
            Gap::Unloaded(test) => files.iter().any(|file| is_mirror(test, file)),
            _ => false,
        };
        suite.lacks_nearest |= suite.gaps.iter().any(is_near);
    }
    suite
}

/// Whether a file of tests is named after a file of code, whatever marks a test in its language.
pub(crate) fn is_mirror(test: &str, code: &str) -> bool {
    let (of_test, of_code) = (bare_name(test), bare_name(code));
    !of_code.is_empty() && of_test == of_code
}

/// The name of a file without its ending and the marks of tests and of what is private; of a file that
/// stands for its directory the name of that.
fn bare_name(path: &str) -> String {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let mut name = file.split('.').next().unwrap_or_default();
    if ["__init__", "index", "mod", "lib"].contains(&name) {
        name = parts.next().unwrap_or_default();
    }
    let mut bare = name.to_lowercase();
    for mark in ["test", "tests", "spec"] {
        for joint in ["_", "-"] {
            if let Some(rest) = bare.strip_prefix(&format!("{mark}{joint}")) {
                bare = rest.to_owned();
            }
            if let Some(rest) = bare.strip_suffix(&format!("{joint}{mark}")) {
                bare = rest.to_owned();
            }
        }
    }
    bare.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_file_mirrors_the_code_that_it_is_named_after() {
        for (test, code, expected) in [
            ("tests/test_calc.py", "src/pkg/calc.py", true),
            ("tests/test_make.py", "src/attr/_make.py", true),
            ("tests/calc_test.py", "calc.py", true),
            ("tests/test_pkg.py", "src/pkg/__init__.py", true),
            ("src/calc.test.ts", "src/calc.ts", true),
            ("spec/calc_spec.rb", "lib/calc.rb", true),
            ("tests/test_calculus.py", "calc.py", false),
            ("tests/test.py", "__init__.py", false),
            ("tests/test_.py", "_.py", false),
        ] {
            assert_eq!(is_mirror(test, code), expected, "{test} {code}");
        }
    }

    #[test]
    fn the_nearest_directories_are_left_out_last() {
        let tests = ["a", "b", "z"].map(|name| (PathBuf::from(name), BTreeSet::new())).into();
        let mut groups = Groups { tests, nearest: ["z".into()].into(), ..Groups::default() };
        groups.keep(2);
        assert!(groups.tests.keys().map(|path| path.to_str().unwrap()).eq(["a", "z"]));
        assert_eq!(groups.gaps, [Gap::TooMany { left_out: 1 }]);
        assert!(!groups.lacks_nearest);
        groups.keep(0);
        assert!(groups.lacks_nearest);
    }

    #[test]
    fn what_a_process_did_not_show_is_a_gap() {
        let limit = Duration::from_secs(10);
        let ran = |seconds| Ran {
            exit: probity_sandbox::Exit::Code(1),
            duration: Duration::from_secs(seconds),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        let of = |report: &Report, seconds| {
            let suite = Suite::of("", Path::new("a"), &ran(seconds), report, limit);
            (suite.gaps, suite.lacks_nearest, suite.is_cut)
        };
        let place = || "a".to_owned();
        let empty = Report::default();
        assert_eq!(of(&empty, 1), (Vec::new(), false, false));
        assert_eq!(of(&empty, 10), (vec![Gap::OutOfTime { place: place() }], true, true));
        let stopped = Report { without_end: Some(RunDetail::EndedEarly), ..Report::default() };
        let not_run = Gap::NotRun { place: place(), detail: RunDetail::EndedEarly };
        assert_eq!(of(&stopped, 1), (vec![not_run], true, false));
        let unloaded = Report { unloaded: ["t".to_owned()].into(), ..Report::default() };
        assert_eq!(of(&unloaded, 1), (vec![Gap::Unloaded("t".to_owned())], false, false));
    }
}
