//! The existing tests of the changed packages and of those that are built on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use probity_sandbox::Exit;

use super::{Go, module, output::Events, pattern, succeeded};
use crate::{
    Outcome,
    runner::{BUILD, Existing, Suite, Trial, Trouble, context::Site},
};

/// Packages whose tests are run for one fix.
const MOST_PACKAGES: usize = 30;

/// Between a package and its test.
const SEPARATOR: &str = " ";

pub(super) fn run(go: &Go, site: &Site<'_>, wanted: Existing<'_>) -> Result<Suite, Box<Trial>> {
    let until = Instant::now() + site.context.suite_timeout;
    let mut suite = Suite::default();
    for (number, (package, names)) in packages(go, site, wanted)?.into_iter().enumerate() {
        let left = until.saturating_duration_since(Instant::now());
        if left < Duration::from_secs(1) {
            suite.is_cut = true;
            break;
        }
        let program = format!("suite-{number}.test");
        let built = go.compile(site, &package, &program, &[])?;
        let is_built = built.exit == Exit::Code(0);
        let outcome = if is_built { Outcome::Passed } else { Outcome::BuildError };
        let name = |test: &str| format!("{}{SEPARATOR}{test}", package.display());
        suite.outcomes.insert(name(BUILD), outcome);
        if !is_built || !site.build.join(&program).is_file() {
            continue;
        }
        let filter = match &names {
            Some(names) => format!("^({})$", names.iter().cloned().collect::<Vec<_>>().join("|")),
            None => ".".to_owned(),
        };
        let ran = go.execute(site, &package, &program, &filter, left);
        let ran = ran?;
        suite.is_cut |= ran.duration >= left;
        let outcomes = Events::parse(&ran.stdout).outcomes();
        suite.outcomes.extend(outcomes.map(|(test, outcome)| (name(&test), outcome)));
    }
    Ok(suite)
}

/// Each package with the tests that are wanted of it; none stands for all.
type Packages = BTreeMap<PathBuf, Option<BTreeSet<String>>>;

fn packages(go: &Go, site: &Site<'_>, wanted: Existing<'_>) -> Result<Packages, Box<Trial>> {
    match wanted {
        Existing::Named(names) => {
            let mut packages: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
            for name in names {
                let Some((package, test)) = name.rsplit_once(SEPARATOR) else { continue };
                packages.entry(package.into()).or_default().insert(test.to_owned());
            }
            Ok(packages.into_iter().map(|(package, names)| (package, Some(names))).collect())
        }
        Existing::Touching(files) => {
            let parent = |file: &String| Path::new(file).parent().map(Path::to_owned);
            let changed: BTreeSet<PathBuf> = files.iter().filter_map(parent).collect();
            let mut packages: Packages =
                changed.iter().map(|package| (package.clone(), None)).collect();
            for package in &changed {
                let dependents = dependents(go, site, package)?;
                packages.extend(dependents.into_iter().map(|package| (package, None)));
            }
            while packages.len() > MOST_PACKAGES {
                packages.pop_last();
            }
            Ok(packages)
        }
    }
}

/// The packages of the module that use this one, or whose tests do.
fn dependents(go: &Go, site: &Site<'_>, package: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let Some(root) = module(&site.copy.repo, package) else { return Ok(Vec::new()) };
    let list = |format: &str, packages: &str| {
        let mut task = go.task(site, &root);
        task.arguments(["list", "-e", "-f", format, packages]);
        let told = succeeded(site.run(&task)).map_err(Trouble::Machine)?;
        Ok(String::from_utf8_lossy(&told.stdout).into_owned())
    };
    let own = list("{{.ImportPath}}", &pattern(package, &root))?;
    let uses =
        "{{.Dir}}\t{{join .Deps \" \"}} {{join .TestImports \" \"}} {{join .XTestImports \" \"}}";
    let all = list(uses, "./...")?;
    let own = own.trim();
    let uses_it = |line: &str| {
        let (directory, used) = line.split_once('\t')?;
        let inside = Path::new(directory).strip_prefix(&site.seen_repo).ok()?;
        used.split(' ').any(|name| name == own).then(|| inside.to_owned())
    };
    Ok(all.lines().filter_map(uses_it).collect())
}
