//! Which packages' existing tests fit: those of the changed ones and of those that depend on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use super::{Features, Rust, arguments, package::Package, source};
use crate::{
    Gap, RunDetail,
    runner::{
        Trial,
        context::Site,
        existing::{Existing, Groups, Suite},
        placement,
    },
};

/// Packages whose tests are run for one fix.
const MOST_PACKAGES: usize = 10;

/// Between a package, a program of its tests, and a test.
const SEPARATOR: &str = " ";

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
        let left = until.saturating_duration_since(Instant::now());
        let arguments = arguments(&own);
        let ran = rust.execute(site, directory, &program.path, &arguments, left)?;
        let (report, _) = source::report(&ran);
        let prefix = format!("{}{SEPARATOR}{prefix}", package.name);
        suite.add(&prefix, &report);
        if ran.duration >= left {
            suite.cut(directory);
        } else if !report.has_ended {
            // A program without the usual harness tells nothing of its tests.
            let has_begun = report.selected.is_some();
            let detail = report.without_end.unwrap_or(RunDetail::EndedEarly);
            let place = format!("{} ({})", placement::slashes(directory), program.target);
            suite.lack(Gap::NotRun { place, detail }, has_begun);
        }
    }
    Ok(suite)
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
