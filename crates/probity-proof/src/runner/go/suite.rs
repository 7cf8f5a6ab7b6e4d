//! The existing tests of the changed packages and of those that are built on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use probity_sandbox::Exit;

use super::{Go, module, output::Events, succeeded};
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

/// What each module's packages use; found out once, on the code as it is.
#[derive(Debug, Default)]
pub(super) struct Listings {
    known: Mutex<BTreeMap<PathBuf, Arc<Vec<Listed>>>>,
}

/// A package: its name, its directory in the copy, and the names of all that it and its tests use.
#[derive(Debug)]
struct Listed {
    name: String,
    directory: PathBuf,
    uses: BTreeSet<String>,
}

/// The packages of the module that use this one, or whose tests do.
fn dependents(go: &Go, site: &Site<'_>, package: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let Some(root) = module(&site.copy.repo, package) else { return Ok(Vec::new()) };
    let mut known = go.listings.known.lock().unwrap_or_else(PoisonError::into_inner);
    let listed = match known.get(&root) {
        Some(listed) => Arc::clone(listed),
        None => {
            let listed = Arc::new(list(go, site, &root)?);
            known.insert(root, Arc::clone(&listed));
            listed
        }
    };
    let Some(own) = listed.iter().find(|one| one.directory == package) else {
        return Ok(Vec::new());
    };
    let users = listed.iter().filter(|one| one.uses.contains(&own.name));
    Ok(users.map(|one| one.directory.clone()).collect())
}

fn list(go: &Go, site: &Site<'_>, root: &Path) -> Result<Vec<Listed>, Trouble> {
    let uses = "{{join .Deps \" \"}} {{join .TestImports \" \"}} {{join .XTestImports \" \"}}";
    let mut task = go.task(site, root);
    let format = format!("{{{{.ImportPath}}}}\t{{{{.Dir}}}}\t{uses}");
    task.arguments(["list", "-e", "-f", &format, "./..."]);
    let told = succeeded(site.run(&task)).map_err(Trouble::Machine)?;
    let listed = |line: &str| {
        let mut parts = line.split('\t');
        let (name, directory, uses) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Listed {
            name: name.to_owned(),
            directory: Path::new(directory).strip_prefix(&site.seen_repo).ok()?.to_owned(),
            uses: uses.split(' ').map(str::to_owned).collect(),
        })
    };
    Ok(String::from_utf8_lossy(&told.stdout).lines().filter_map(listed).collect())
}
