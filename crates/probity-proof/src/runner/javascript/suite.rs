//! The existing tests: those that the framework says are related to the changed files, or all of the
//! package where it cannot say.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{Asked, Framework, JavaScript, events::outcomes, framework, is_test, project};
use crate::runner::{Existing, Suite, Trouble, context::Site};

/// Test files of one package that are run.
const MOST_FILES: usize = 300;

impl JavaScript {
    pub(super) fn suite(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Suite, Trouble> {
        let until = Instant::now() + site.context.suite_timeout;
        let repo = &site.copy.repo;
        let mut suite = Suite::default();
        let mut projects: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        let (files, touching) = match wanted {
            Existing::Touching(files) => (files, true),
            Existing::Named(names) => (names, false),
        };
        for name in files {
            let file = if touching { name } else { name.split(" > ").next().unwrap_or(name) };
            let directory = Path::new(file).parent().unwrap_or(Path::new(""));
            projects.entry(project(repo, directory)).or_default().insert(file.to_owned());
        }
        for (project, files) in projects {
            let limit = until.saturating_duration_since(Instant::now());
            if limit < Duration::from_secs(1) {
                suite.is_cut = true;
                break;
            }
            let related = touching && framework(repo, &project) != Framework::Node;
            let files: Vec<String> = match touching && !related {
                true => tests(repo, &project),
                false => files.into_iter().collect(),
            };
            if files.is_empty() {
                continue;
            }
            let asked = Asked::Files { files: &files, related, limit };
            let (ran, events) = self.session(site, &project, &asked)?;
            suite.is_cut |= ran.duration >= limit;
            let root = site.seen_repo.display().to_string();
            suite.outcomes.extend(outcomes(&events, &root));
        }
        Ok(suite)
    }
}

/// The test files of a package, without those of packages in it.
fn tests(repo: &Path, project: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![project.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(repo.join(&directory)).into_iter().flatten().flatten();
        for entry in entries {
            let path = directory.join(entry.file_name());
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            let is_own = !repo.join(&path).join("package.json").is_file();
            if kind.is_dir() && name != "node_modules" && is_own {
                pending.push(path);
            } else if kind.is_file() && (is_test(&name) || is_in_tests(&path)) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort_unstable();
    found.truncate(MOST_FILES);
    found
}

/// Node takes every file of code in a directory named `test` for a test.
fn is_in_tests(path: &Path) -> bool {
    let is_code = path
        .extension()
        .is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|known| ending == *known));
    is_code && path.parent().is_some_and(|parent| parent.iter().any(|part| part == "test"))
}
