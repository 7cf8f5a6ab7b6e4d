//! Which packages' existing tests fit: those of the changed ones and of those that depend on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{Rust, package::Package};
use crate::runner::{Existing, Groups};

/// Packages whose tests are run for one fix.
const MOST_PACKAGES: usize = 10;

/// Between a package, a program of its tests, and a test.
pub(super) const SEPARATOR: &str = " ";

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
    let tests = rust.packages.iter().filter_map(fitting).take(MOST_PACKAGES).collect();
    Groups { tests, is_cut: false }
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
