//! The existing tests of a project: all of them once, to learn what they run, then the fitting ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{Asked, Python, project};
use crate::runner::{Existing, Suite, Trouble, context::Site};

/// More than this are not named one by one.
const MOST_TESTS: usize = 2_000;

/// For each project the files that each of its tests runs code of.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    known: Mutex<BTreeMap<PathBuf, Arc<Touched>>>,
}

#[derive(Debug, Default)]
struct Touched {
    by_test: BTreeMap<String, BTreeSet<String>>,
    /// Whether there was no time for all of them.
    is_cut: bool,
}

impl Python {
    pub(super) fn suite(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Suite, Trouble> {
        let until = Instant::now() + site.context.suite_timeout;
        let mut suite = Suite::default();
        let mut projects: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        match wanted {
            Existing::Named(names) => {
                for name in names {
                    let file = name.split("::").next().unwrap_or(name);
                    projects.entry(of_file(site, file)).or_default().insert(name.clone());
                }
            }
            Existing::Touching(files) => {
                for file in files {
                    let project = of_file(site, file);
                    let touched = self.touched(site, &project)?;
                    suite.is_cut |= touched.is_cut;
                    let fitting = touched.by_test.iter().filter(|(_, ran)| ran.contains(file));
                    let names = fitting.map(|(name, _)| name.clone());
                    projects.entry(project).or_default().extend(names);
                }
            }
        }
        for (project, names) in projects {
            let limit = until.saturating_duration_since(Instant::now());
            if names.is_empty() {
                continue;
            }
            if limit < Duration::from_secs(1) || names.len() > MOST_TESTS {
                suite.is_cut = true;
                continue;
            }
            let arguments =
                names.iter().map(|name| site.seen_repo.join(name).display().to_string()).collect();
            let asked = Asked::All { limit, follow: false };
            let session = self.session(site, &project, arguments, asked)?;
            suite.is_cut |= session.ran.duration >= limit;
            suite.outcomes.extend(session.outcomes());
        }
        Ok(suite)
    }

    /// What the tests of a project run code of; found out once, on the code as it is.
    fn touched(&self, site: &Site<'_>, project: &Path) -> Result<Arc<Touched>, Trouble> {
        let mut known = self.coverage.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(touched) = known.get(project) {
            return Ok(Arc::clone(touched));
        }
        let asked = Asked::All { limit: site.context.suite_timeout, follow: true };
        let session = self.session(site, project, Vec::new(), asked)?;
        let is_cut = session.ran.duration >= site.context.suite_timeout;
        let touched = Arc::new(Touched { by_test: session.touched(), is_cut });
        known.insert(project.to_owned(), Arc::clone(&touched));
        Ok(touched)
    }
}

fn of_file(site: &Site<'_>, file: &str) -> PathBuf {
    project(&site.copy.repo, Path::new(file).parent().unwrap_or(Path::new("")))
}
