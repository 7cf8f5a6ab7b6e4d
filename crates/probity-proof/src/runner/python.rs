//! Python: pytest, with a plugin of ours that writes down what happens as it happens.
//!
//! The plugin and not JUnit's XML, because that does not say what code was run, and is not written
//! at all by a process that is killed.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use probity_sandbox::Exit;
use serde::Deserialize;

use super::{
    Built, Existing, Groups, Once, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    placement,
    report::Report,
    succeeded,
};
use crate::{
    Claim, Refusal, RunDetail, claim::FlaggedLines, repository::confined, syntax::Grammar,
    workshop::Preparation,
};

const PLUGIN: &str = include_str!("python/probity_pytest.py");

/// What pytest gets on top of the test's time to start, to collect and to say where it hangs.
const GRACE: Duration = Duration::from_secs(10);

/// More than this are not named one by one.
const MOST_TESTS: usize = 2_000;

/// Files that make a directory the root of a project.
const PROJECT: [&str; 5] = ["pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini"];

#[derive(Debug)]
pub(super) struct Python {
    interpreter: PathBuf,
    /// Where the interpreter and the packages are.
    tools: Vec<PathBuf>,
    /// The plugin's name, another in each review.
    plugin: String,
    /// What the tests of each project run code of, on the code as it is.
    coverage: Once<PathBuf, Arc<Coverage>>,
}

#[derive(Debug)]
struct Coverage {
    report: Report,
    /// Whether there was no time for all of them.
    is_cut: bool,
}

#[derive(Deserialize)]
struct Probe {
    executable: PathBuf,
    directories: Vec<PathBuf>,
}

const ASK: &str = "import json, sys, pytest; print(json.dumps({'executable': sys.executable, \
    'directories': [sys.prefix, sys.base_prefix, *sys.path]}))";

impl Python {
    /// Finds an interpreter that has pytest: the active environment's, the repository's own, or
    /// the machine's.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let Preparation { repo, site, progress, .. } = preparation;
        let context = site.context;
        progress("looking for a Python interpreter with pytest");
        let is_inside = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(*repo));
        let active = context.variable("VIRTUAL_ENV").map(PathBuf::from);
        let (inside, outside): (Vec<_>, Vec<_>) =
            active.into_iter().partition(|root| is_inside(root));
        let own = inside.into_iter().chain([".venv", "venv", "env"].map(|name| repo.join(name)));
        let on_path = ["python3", "python"].into_iter().filter_map(|name| context.tool(name));
        let found = (outside.iter().map(|root| root.join("bin/python")))
            .find_map(|path| Self::ask(site, repo, &path))
            .or_else(|| own.into_iter().find_map(|root| Self::of_repository(site, repo, root)))
            .or_else(|| on_path.into_iter().find_map(|path| Self::ask(site, repo, &path)));
        let found = found.ok_or(Unavailable::NoPytest)?;
        context.add_to_kit(&format!("{}.py", found.plugin), PLUGIN)?;
        Ok(Box::new(found))
    }

    /// An environment in the repository, which anybody may have written: it runs only sandboxed, and
    /// what its tests see is what its own file says of the machine's Python, not what it answers.
    fn of_repository(site: &Site<'_>, repo: &Path, root: PathBuf) -> Option<Self> {
        let interpreter = root.join("bin/python");
        if !root.symlink_metadata().is_ok_and(|found| found.is_dir()) || !interpreter.is_file() {
            return None;
        }
        let settings = confined::read(&root, "pyvenv.cfg").ok()?;
        let home = settings.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "home").then(|| PathBuf::from(value.trim()))
        })?;
        let base = home.parent()?.canonicalize().ok()?;
        if base.starts_with(repo) || !home.join("python3").is_file() {
            return None;
        }
        let tools = vec![root, base];
        let limit = site.context.build_timeout;
        let mut task = Task::new([&interpreter], "", Access::Runs, limit);
        task.tools.clone_from(&tools);
        task.arguments(["-c", "import pytest"]);
        succeeded(site.run(&task)).ok()?;
        Some(Self::new(interpreter, tools))
    }

    fn new(interpreter: PathBuf, tools: Vec<PathBuf>) -> Self {
        let plugin = format!("zz{:x}", RandomState::new().hash_one(0));
        Self { interpreter, tools, plugin, coverage: Once::default() }
    }

    fn ask(site: &Site<'_>, repo: &Path, interpreter: &Path) -> Option<Self> {
        if !interpreter.is_file() {
            return None;
        }
        let mut task = Task::new([interpreter], "", Access::Compiles, site.context.build_timeout);
        task.arguments(["-c", ASK]);
        // pyenv's choice of a version, which is one of those that are installed.
        task.variable("PYENV_DIR", &site.copy.repo);
        let ran = site.ask(&task).ok()?;
        let probe: Probe = serde_json::from_slice(&ran.stdout).ok()?;
        let prefixes: Vec<PathBuf> = probe.directories.iter().take(2).cloned().collect();
        let of_prefix = |path: &Path| prefixes.iter().any(|prefix| path.starts_with(prefix));
        // A package that is installed in place is the repository itself, which the copy stands for.
        let wanted =
            |path: &&PathBuf| path.is_dir() && (!path.starts_with(repo) || of_prefix(path));
        let mut tools = prefixes.clone();
        let others = probe.directories.iter().filter(|path| !of_prefix(path)).filter(wanted);
        tools.extend(others.filter(|path| !path.starts_with(&site.copy.repo)).cloned());
        Some(Self::new(probe.executable, tools))
    }

    /// Runs pytest in a project with these arguments.
    fn session(
        &self,
        site: &Site<'_>,
        project: &Path,
        arguments: Vec<String>,
        asked: Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        let limit = match asked {
            Asked::Test(_) => site.context.test_timeout,
            Asked::All { limit, .. } => limit,
        };
        let mut task = Task::new([&self.interpreter], project, Access::Runs, limit + GRACE);
        task.tools.clone_from(&self.tools);
        task.arguments(["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]);
        task.arguments(["-p", &self.plugin]);
        // What a repository adds for everyday use: workers, coverage, filters.
        task.arguments(["-o", "addopts=", "-o", "python_functions=test*"]);
        task.arguments(["-o".to_owned(), format!("faulthandler_timeout={}", limit.as_secs_f64())]);
        task.arguments(arguments);
        let root = site.seen_repo.join(project);
        let mut path = site.context.seen_kit().into_os_string();
        for directory in [root.join("src"), root] {
            path.push(":");
            path.push(directory);
        }
        task.variable("PYTHONPATH", path);
        task.variable("PYTHONDONTWRITEBYTECODE", "1");
        match asked {
            Asked::Test(name) => task.variable("PROBITY_TEST", name),
            Asked::All { follow: true, .. } => task.variable("PROBITY_FOLLOWS", "1"),
            Asked::All { follow: false, .. } => {}
        }
        let (ran, mut report) = site.run_reported(task)?;
        // Pytest's own for a test that does not exist.
        if matches!(ran.exit, Exit::Code(4 | 5)) {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
        }
        Ok((ran, report))
    }

    /// What the tests of a project run code of; found out once, on the code as it is.
    fn coverage(&self, site: &Site<'_>, project: &Path) -> Result<Arc<Coverage>, Trouble> {
        self.coverage.get(project.to_owned(), || {
            let limit = site.context.suite_timeout;
            let asked = Asked::All { limit, follow: true };
            let (ran, report) = self.session(site, project, Vec::new(), asked)?;
            Ok(Arc::new(Coverage { report, is_cut: ran.duration >= limit }))
        })
    }
}

/// What pytest is to run, and what it is to tell.
#[derive(Debug, Clone, Copy)]
enum Asked<'a> {
    Test(&'a str),
    All { limit: Duration, follow: bool },
}

impl Runner for Python {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn place(&self, repo: &Path, claim: &Claim, flagged: &FlaggedLines) -> Result<Placed, Refusal> {
        let is_test = |name: &str| {
            name.strip_suffix(".py")
                .is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
        };
        let beside = placement::directory(repo, claim, flagged, is_test)?;
        let root = project(repo, &beside);
        let is_chosen = claim.test_file.as_deref().is_some_and(|file| !file.is_empty());
        let tests = ["tests", "test"].map(|name| root.join(name));
        let tests = tests.into_iter().find(|tests| repo.join(tests).is_dir());
        let directory = match tests {
            _ if is_chosen => beside,
            Some(tests) => tests,
            // Inside of a package the test would be a part of it.
            None if repo.join(&beside).join("__init__.py").is_file() => root.clone(),
            None => beside,
        };
        let id = placement::plain(&claim.id);
        let name = |number: &str| format!("test_zz_probity_{id}{number}.py");
        Ok(Placed {
            path: placement::unused(repo, &directory, name),
            name: test_name(claim)?,
            source: claim.test_code.clone(),
            added: None,
            directory: root,
            flagged: flagged.clone(),
        })
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let file = site.seen_repo.join(&placed.path).display().to_string();
        let asked = Asked::Test(&placed.name);
        let (ran, report) = self.session(site, &placed.directory, vec![file], asked)?;
        Ok(Trial::told(site, &ran, &report, |_| true))
    }

    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let of_file = |file: &str| {
            project(&site.copy.repo, Path::new(file).parent().unwrap_or(Path::new("")))
        };
        let mut groups = Groups::default();
        match wanted {
            Existing::Named(names) => {
                for name in names {
                    let file = name.split("::").next().unwrap_or(name);
                    groups.tests.entry(of_file(file)).or_default().insert(name.clone());
                }
            }
            Existing::Touching(files) => {
                for file in files {
                    let project = of_file(file);
                    let coverage = self.coverage(site, &project)?;
                    groups.is_cut |= coverage.is_cut;
                    let touched = coverage.report.touched.iter();
                    let fitting = touched.filter(|(_, ran)| ran.contains(file));
                    let names = fitting.map(|(name, _)| name.clone());
                    groups.tests.entry(project).or_default().extend(names);
                }
            }
        }
        let before = groups.tests.len();
        groups.tests.retain(|_, names| names.len() <= MOST_TESTS);
        groups.is_cut |= groups.tests.len() < before;
        groups.tests.retain(|_, names| !names.is_empty());
        Ok(groups)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let path = |name: &String| site.seen_repo.join(name).display().to_string();
        let asked = Asked::All { limit, follow: false };
        let (ran, report) = self.session(site, project, tests.iter().map(path).collect(), asked)?;
        Ok(Suite::of("", &ran, &report, limit))
    }
}

/// The root of the project that a directory belongs to.
fn project(repo: &Path, directory: &Path) -> PathBuf {
    let is_project =
        |above: &&Path| PROJECT.iter().any(|name| repo.join(above).join(name).is_file());
    directory.ancestors().find(is_project).unwrap_or(Path::new("")).to_owned()
}

/// The name of the wanted test, or of the first one; pytest knows which class it is in.
fn test_name(claim: &Claim) -> Result<String, Refusal> {
    let wanted = claim.test_name.as_deref().filter(|name| !name.is_empty());
    let bare = wanted.map(|name| {
        let name = name.split('[').next().unwrap_or(name);
        name.rsplit([':', '.']).next().unwrap_or(name)
    });
    let functions = Grammar::Python.parse(&claim.test_code).map(|parsed| parsed.functions());
    let names = functions.into_iter().flatten().map(|function| function.name);
    // What is no program has no functions, and pytest says best what is wrong with it.
    let written = claim.test_code.lines().filter_map(|line| {
        let (name, _) =
            line.trim().trim_start_matches("async ").strip_prefix("def ")?.split_once('(')?;
        Some(name.to_owned())
    });
    let found = names.chain(written).find(|name| match bare {
        Some(bare) => name == bare,
        None => name.starts_with("test"),
    });
    found.ok_or_else(|| Refusal::NoSuchTest(wanted.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::{Claim, test_name};

    #[test]
    fn the_test_is_found_wherever_it_is() {
        let code = "import x\n\ndef helper(): pass\n\nclass TestA(Base):\n    def test_b(self):\n        \
            pass\n\nasync def test_c():\n    pass\n";
        for (wanted, expected) in [
            (None, Some("test_b")),
            (Some("test_b"), Some("test_b")),
            (Some("tests/x.py::TestA::test_b[1]"), Some("test_b")),
            (Some("test_c"), Some("test_c")),
            (Some("test_d"), None),
        ] {
            let claim = Claim {
                test_code: code.to_owned(),
                test_name: wanted.map(str::to_owned),
                ..Claim::default()
            };
            assert_eq!(test_name(&claim).ok().as_deref(), expected, "{wanted:?}");
        }
    }
}
