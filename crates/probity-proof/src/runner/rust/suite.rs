//! Which packages' existing tests fit: those of the changed ones and of those that depend on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use probity_sandbox::Exit;

use super::{
    Features, Rust, arguments,
    package::Package,
    source::{self, Program},
};
use crate::{
    Gap, Outcome, RunDetail,
    runner::{
        Trial,
        capture::Ran,
        context::Site,
        existing::{Existing, Groups, Suite},
        placement,
        report::State,
    },
};

/// Packages whose tests are run for one fix.
const MOST_PACKAGES: usize = 10;

/// Between a package, a program of its tests, and a test.
const SEPARATOR: &str = " ";

/// The name of a program that is one test.
const ALONE: &str = "main";

/// Each package with the programs and tests that are wanted of it; none stand for all.
pub(super) fn groups(rust: &Rust, wanted: Existing<'_>) -> Groups {
    let chosen: BTreeMap<&str, BTreeSet<String>> = match wanted {
        Existing::Touching(files) => dependents(rust, files),
        Existing::Named(tests) => {
            let mut chosen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
            for (package, test) in tests.iter().filter_map(|test| test.split_once(SEPARATOR)) {
                chosen.entry(package).or_default().insert(test.to_owned());
            }
            chosen
        }
    };
    let fitting = |package: &Package| {
        Some((package.directory.clone(), chosen.get(package.name.as_str())?.clone()))
    };
    let tests = rust.packages.iter().filter_map(fitting).collect();
    let mut groups = Groups { tests, ..Groups::default() };
    if let Existing::Touching(files) = wanted {
        for file in files {
            if let Some(package) = rust.package(file) {
                groups.nearest.insert(package.directory.clone());
            } else {
                let detail = RunDetail::NoSuchTest;
                groups.gaps.push(Gap::NotRun { place: file.clone(), detail });
                groups.lacks_nearest = true;
            }
        }
    }
    groups.keep(MOST_PACKAGES);
    groups
}

/// Compiles the tests of a package, and runs its programs one after the other.
pub(super) fn run(
    rust: &Rust,
    site: &Site<'_>,
    directory: &Path,
    tests: &BTreeSet<String>,
    limit: Duration,
) -> Result<Suite, Box<Trial>> {
    let until = Instant::now() + limit;
    let mut suite = Suite::default();
    let Some(package) = rust.package(directory) else { return Ok(suite) };
    rust.seed(site)?;
    for program in rust.compile(site, package, Features::Usual, None::<&str>)? {
        let prefix = format!("{}{SEPARATOR}", program.target);
        let own = tests.iter().filter_map(|test| test.strip_prefix(&prefix));
        let own: Vec<String> = own.map(str::to_owned).collect();
        if own.is_empty() && !tests.is_empty() {
            continue;
        }
        let program = Own { rust, site, directory, program: &program, tests: &own };
        let told = program.run(until)?;
        suite.join(told.named(&format!("{}{SEPARATOR}{prefix}", package.name)), true);
    }
    Ok(suite)
}

/// Where nextest has its settings, in a workspace.
const NEXTEST: &str = ".config/nextest.toml";

/// Runs each test in a process of its own, as nextest does: some of them share what is global.
const APART: &str = "program=$1; shift; for test in \"$@\"; do \"$program\" \"$test\" --exact \
    --test-threads=1 -Zunstable-options --format=json --report-time; done; true";

/// The tests that are wanted of one program; none stand for all.
struct Own<'a> {
    rust: &'a Rust,
    site: &'a Site<'a>,
    directory: &'a Path,
    program: &'a Program,
    tests: &'a [String],
}

impl Own<'_> {
    fn run(&self, until: Instant) -> Result<Suite, Box<Trial>> {
        let package = self.rust.package(self.directory);
        let apart = package
            .is_some_and(|package| self.site.repo().is_file(package.workspace.join(NEXTEST)));
        let mut suite = Suite::default();
        let left = until.saturating_duration_since(Instant::now());
        let listed = if apart { self.list(left)? } else { Vec::new() };
        let ran = if listed.is_empty() {
            self.execute(&self.program.path, &arguments(self.tests), left)?
        } else {
            let program = self.program.path.display().to_string();
            let words = ["-c", APART, "sh", &program].map(str::to_owned);
            let words = [&words[..], &listed].concat();
            self.execute(Path::new("/bin/sh"), &words, left)?
        };
        let (report, _) = source::report(&ran);
        suite.add("", &report);
        let is_told = |test: &String| {
            report.tests.iter().any(|known| known.name == *test && known.state != State::Began)
        };
        if ran.duration >= left {
            suite.cut(self.directory);
        } else if report.selected.is_none() && matches!(ran.exit, Exit::Code(_)) {
            self.run_alone(until, &mut suite)?;
        } else if !report.has_ended || !listed.iter().all(is_told) {
            let detail = report.without_end.unwrap_or(RunDetail::EndedEarly);
            suite.lack(Gap::NotRun { place: self.place(), detail }, true);
        }
        Ok(suite)
    }

    /// A program without the usual harness is one test, which fails by the way that it ends.
    fn run_alone(&self, until: Instant, suite: &mut Suite) -> Result<(), Box<Trial>> {
        let left = until.saturating_duration_since(Instant::now());
        let ran = self.execute(&self.program.path, &[], left)?;
        if ran.duration >= left {
            suite.cut(self.directory);
            return Ok(());
        }
        let passes = ran.exit == Exit::Code(0);
        let outcome = if passes { Outcome::Passed } else { Outcome::Failed };
        suite.outcomes.insert(ALONE.to_owned(), outcome);
        Ok(())
    }

    /// The names of the wanted tests, if the program has any.
    fn list(&self, limit: Duration) -> Result<Vec<String>, Box<Trial>> {
        if !self.tests.is_empty() {
            return Ok(self.tests.to_vec());
        }
        let words = ["--list", "--format=terse"].map(str::to_owned);
        let told = self.execute(&self.program.path, &words, limit)?;
        let text = String::from_utf8_lossy(&told.stdout);
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(str::to_owned).collect())
    }

    fn execute(
        &self,
        program: &Path,
        words: &[String],
        limit: Duration,
    ) -> Result<Ran, Box<Trial>> {
        Ok(self.rust.execute(self.site, self.directory, program, words, limit)?)
    }

    fn place(&self) -> String {
        format!("{} ({})", placement::slashes(self.directory), self.program.target)
    }
}

/// The packages that files belong to, and those that depend on one of them.
fn dependents<'a>(rust: &'a Rust, files: &[String]) -> BTreeMap<&'a str, BTreeSet<String>> {
    let changed = files.iter().filter_map(|file| rust.package(Path::new(file)));
    let mut chosen: BTreeSet<&str> = changed.map(|package| package.name.as_str()).collect();
    loop {
        let before = chosen.len();
        for package in &rust.packages {
            if package.dependencies.iter().any(|name| chosen.contains(name.as_str())) {
                chosen.insert(&package.name);
            }
        }
        if chosen.len() == before {
            return chosen.into_iter().map(|name| (name, BTreeSet::new())).collect();
        }
    }
}
