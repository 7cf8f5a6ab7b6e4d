//! Which packages' existing tests fit: those of the changed ones and of those that are built on them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_scope::HeldDirectory;

use super::{Go, module, source};
use crate::{
    places::read_text,
    runner::{
        Trouble,
        context::Site,
        existing::{Existing, Groups},
        succeeded,
    },
};

/// Packages whose tests are run for one fix.
const MOST_PACKAGES: usize = 30;

/// Between a package and its test.
pub(super) const SEPARATOR: &str = " ";

/// Each package with the tests that are wanted of it; none stands for all.
pub(super) fn groups(go: &Go, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
    let mut groups = Groups::default();
    match wanted {
        Existing::Named(names) => {
            for (package, test) in names.iter().filter_map(|name| name.rsplit_once(SEPARATOR)) {
                groups.tests.entry(package.into()).or_default().insert(test.to_owned());
            }
        }
        Existing::Touching(files) => {
            let parent = |file: &String| Path::new(file).parent().map(Path::to_owned);
            let changed: BTreeSet<PathBuf> = files.iter().filter_map(parent).collect();
            for package in changed {
                for user in dependents(go, site, &package)? {
                    groups.tests.entry(user).or_default();
                }
                groups.tests.entry(package.clone()).or_default();
                groups.nearest.insert(package);
            }
            groups.keep(MOST_PACKAGES);
        }
    }
    Ok(groups)
}

/// Sets of tags with which one package is compiled, beside none.
const MOST_TAGS: usize = 4;

/// The tags that files of a package ask for, set by set.
pub(super) fn tags(repo: &HeldDirectory, package: &Path) -> BTreeSet<Vec<String>> {
    let entries = repo.entries(package).into_iter().flatten();
    let sources = entries.filter(|entry| entry.name.to_string_lossy().ends_with(".go"));
    let tags = sources.filter_map(|entry| {
        let text = read_text(repo, package.join(&entry.name)).ok()?;
        Some(source::tags(&text)).filter(|tags| !tags.is_empty())
    });
    tags.take(MOST_TAGS).collect()
}

/// A package: its name, its directory in the copy, and the names of all that it and its tests use.
#[derive(Debug)]
pub(super) struct Listed {
    name: String,
    directory: PathBuf,
    uses: BTreeSet<String>,
}

/// The packages of the module that use this one, or whose tests do.
fn dependents(go: &Go, site: &Site<'_>, package: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let Some(root) = module(site.repo(), package) else { return Ok(Vec::new()) };
    let listed = go.listings.get(root.clone(), || list(go, site, &root).map(Arc::new))?;
    let Some(own) = listed.iter().find(|one| one.directory == package) else {
        return Ok(Vec::new());
    };
    let users = listed.iter().filter(|one| one.uses.contains(&own.name));
    Ok(users.map(|one| one.directory.clone()).collect())
}

fn list(go: &Go, site: &Site<'_>, root: &Path) -> Result<Vec<Listed>, Trouble> {
    let uses = "{{join .Deps \" \"}} {{join .TestImports \" \"}} {{join .XTestImports \" \"}}";
    let mut task = go.task(site, root)?;
    let format = format!("{{{{.ImportPath}}}}\t{{{{.Dir}}}}\t{uses}");
    task.arguments(["list", "-e", "-f", &format, "./..."]);
    let told = succeeded(site.run(&task))?;
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
