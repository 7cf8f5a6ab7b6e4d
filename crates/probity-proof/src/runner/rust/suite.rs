//! The existing tests of the changed packages and of those in the workspace that depend on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use super::{Rust, arguments, package::Package, source};
use crate::{
    Outcome,
    runner::{Existing, Suite, Trial, context::Site, failed_build},
};

/// Packages whose tests are run for one fix.
const MOST_PACKAGES: usize = 10;

/// Between a package, a program of its tests, and a test.
const SEPARATOR: char = ' ';

pub(super) fn run(rust: &Rust, site: &Site<'_>, wanted: Existing<'_>) -> Result<Suite, Box<Trial>> {
    let until = Instant::now() + site.context.suite_timeout;
    let mut names: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    let packages: Vec<&Package> = match wanted {
        Existing::Touching(files) => dependents(rust, files),
        Existing::Named(tests) => {
            for test in tests {
                let mut parts = test.splitn(3, SEPARATOR);
                if let (Some(package), Some(target), Some(name)) =
                    (parts.next(), parts.next(), parts.next())
                {
                    names.entry((package, target)).or_default().push(name.to_owned());
                }
            }
            let chosen = |package: &&Package| names.keys().any(|(name, _)| *name == package.name);
            rust.packages.iter().filter(chosen).collect()
        }
    };
    let mut suite = Suite::default();
    let Some(first) = packages.first() else { return Ok(suite) };
    rust.seed(site)?;
    let mut task = rust.task(site, &first.workspace, None);
    task.arguments(["test", "--no-run", "--message-format=json"]);
    for package in packages.iter().filter(|package| package.workspace == first.workspace) {
        task.arguments(["--package", &package.name]);
    }
    let ran = site.run(&task)?;
    if let Some((outcome, detail)) = failed_build(ran.exit) {
        let text = source::compiler(&ran);
        return Err(Box::new(Trial::new(outcome, detail).of(site, &ran, &text)));
    }
    for program in source::programs(&ran.stdout) {
        let directory =
            program.manifest.parent().and_then(|it| it.strip_prefix(&site.seen_repo).ok());
        let Some(package) =
            directory.and_then(|it| packages.iter().find(|one| one.directory == it))
        else {
            continue;
        };
        let tests = names.get(&(package.name.as_str(), program.target.as_str()));
        if tests.is_none() && !names.is_empty() {
            continue;
        }
        let limit = until.saturating_duration_since(Instant::now());
        if limit < Duration::from_secs(1) {
            suite.is_cut = true;
            break;
        }
        let arguments = arguments(tests.map_or(&[], Vec::as_slice));
        let ran = rust.execute(site, &package.directory, &program.path, &arguments, limit)?;
        suite.is_cut |= ran.duration >= limit;
        for event in source::events(&ran.stdout) {
            let Some(name) = event.name else { continue };
            let outcome = match event.event.as_str() {
                "ok" => Outcome::Passed,
                "ignored" => Outcome::Skipped,
                // One that only started has failed with its process.
                _ => Outcome::Failed,
            };
            let name = [package.name.as_str(), &program.target, &name].join(&SEPARATOR.to_string());
            suite.outcomes.insert(name, outcome);
        }
    }
    Ok(suite)
}

/// The packages that files belong to, and those that depend on one of them.
fn dependents<'a>(rust: &'a Rust, files: &[String]) -> Vec<&'a Package> {
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
            break;
        }
    }
    let mut packages: Vec<&Package> =
        rust.packages.iter().filter(|package| chosen.contains(package.name.as_str())).collect();
    packages.truncate(MOST_PACKAGES);
    packages
}
