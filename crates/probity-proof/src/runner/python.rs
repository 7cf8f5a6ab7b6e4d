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
use probity_scope::HeldDirectory;
use serde::Deserialize;

use super::{
    Built, Existing, Groups, Once, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, RunnerContext, Site, Task},
    placement,
    report::Report,
    succeeded,
};
use crate::{
    Claim, Refusal, RunDetail,
    claim::FlaggedLines,
    host::{self, HostTools},
    places::read_text,
    syntax::Grammar,
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

/// An interpreter of the machine, by what it says of itself.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Interpreter {
    executable: PathBuf,
    /// Its own directory, that of the installation it is made from, and those that it imports from.
    directories: Vec<PathBuf>,
    has_pytest: bool,
}

const ASK: &str = "import importlib.util, json, sys; print(json.dumps({'executable': sys.executable, \
    'directories': [sys.prefix, sys.base_prefix, *sys.path], \
    'has_pytest': importlib.util.find_spec('pytest') is not None}))";

/// Where version managers keep interpreters, from the directory that a variable names or, below the
/// home, from the usual one.
const MANAGED: [(&str, &str, &str); 5] = [
    ("PYENV_ROOT", ".pyenv", "versions"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", ""),
    ("ASDF_DATA_DIR", ".asdf", "installs/python"),
    ("MISE_DATA_DIR", ".local/share/mise", "installs/python"),
    ("AGENT_TOOLSDIRECTORY", "/opt/hostedtoolcache", "Python"),
];

/// All interpreters that the machine has on its path, the active environment's first.
pub(super) fn interpreters(
    host: &HostTools<'_>,
    repo: &Path,
    files: &HeldDirectory,
) -> Vec<Interpreter> {
    let context = host.context;
    let active = context.variable("VIRTUAL_ENV").map(|root| Path::new(root).join("bin/python"));
    let is_inside = |path: &Path| {
        let directory = host::real_path(path.parent().unwrap_or(path));
        directory.is_none_or(|real| real.starts_with(repo))
    };
    let active = active.filter(|path| !is_inside(path));
    let on_path = context.programs(|name| {
        let rest = name.strip_prefix("python");
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    });
    // pyenv's choice of a version, by its name alone: one that is not installed is not asked for.
    let wanted = read_text(files, ".python-version").unwrap_or_default();
    let wanted = wanted.lines().next().map(str::trim).filter(|version| {
        !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
    });
    let mut found: Vec<Interpreter> = Vec::new();
    for path in active.into_iter().chain(on_path).filter(|path| host::is_file(path)) {
        let answer = |variables: &[(&str, &str)]| {
            let ran = succeeded(host.ask(&path, &["-I", "-c", ASK], variables)).ok()?;
            serde_json::from_slice::<Interpreter>(&ran.stdout).ok()
        };
        let chosen = wanted.and_then(|version| answer(&[("PYENV_VERSION", version)]));
        let answer = chosen.or_else(|| answer(&[]));
        let is_new =
            |one: &Interpreter| found.iter().all(|known| known.executable != one.executable);
        found.extend(answer.filter(is_new));
    }
    found
}

impl Python {
    /// Finds an interpreter that has pytest: the active environment's, the repository's own, or
    /// the machine's.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        (preparation.progress)("looking for a Python interpreter with pytest");
        let site = preparation.site;
        let known = &preparation.asked.pythons;
        let active = site.context.variable("VIRTUAL_ENV").map(Path::new);
        let is_active = |one: &&Interpreter| {
            active.is_some_and(|root| one.directories.first().is_some_and(|own| own == root))
        };
        let of_machine = |one: &Interpreter| Self::of_machine(preparation.repo, one);
        let with_pytest = || known.iter().filter(|one| one.has_pytest);
        let mut found = with_pytest().find(is_active).map(of_machine);
        if found.is_none() {
            let inside = active.and_then(|root| {
                host::real_path(root)?.strip_prefix(preparation.repo).ok().map(Path::to_owned)
            });
            let own = inside.into_iter().chain([".venv", "venv", "env"].map(PathBuf::from));
            for root in own {
                found = found.or_else(|| Self::of_repository(preparation, &root));
            }
        }
        let found = found
            .or_else(|| with_pytest().next().map(|one| Self::of_machine(preparation.repo, one)));
        let found = found.ok_or(Unavailable::NoPytest)?;
        site.context.add_to_kit(&format!("{}.py", found.plugin), PLUGIN)?;
        Ok(Box::new(found))
    }

    /// An environment in the repository, which anybody may have written: it runs only sandboxed, and
    /// what its tests see is what interpreters of the machine say of themselves, not what it answers.
    fn of_repository(preparation: &mut Preparation<'_>, root: &Path) -> Option<Self> {
        let root = preparation.installed(root)?;
        let site = preparation.site;
        let settings = HeldDirectory::open(&root).ok()?;
        let settings = read_text(&settings, "pyvenv.cfg").ok()?;
        let home = settings.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "home").then(|| PathBuf::from(value.trim()))
        })?;
        let base = host::real_path(home.parent()?)?;
        let is_known = preparation.asked.pythons.iter().any(|one| one.is_made_from(&base))
            || is_managed(site.context, &base);
        if !is_known || base.starts_with(preparation.repo) || !host::is_file(&home.join("python3"))
        {
            return None;
        }
        let interpreter = root.join("bin/python");
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

    fn of_machine(repo: &Path, interpreter: &Interpreter) -> Self {
        let prefixes: Vec<PathBuf> = interpreter.directories.iter().take(2).cloned().collect();
        let of_prefix = |path: &Path| prefixes.iter().any(|prefix| path.starts_with(prefix));
        // A package that is installed in place is the repository itself, which the copy stands for.
        let wanted = |path: &&PathBuf| host::is_directory(path) && !path.starts_with(repo);
        let others = interpreter.directories.iter().filter(|path| !of_prefix(path)).filter(wanted);
        let tools = prefixes.iter().chain(others).cloned().collect();
        Self::new(interpreter.executable.clone(), tools)
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

impl Interpreter {
    /// Whether this directory is the one that it is installed in.
    fn is_made_from(&self, base: &Path) -> bool {
        let installed = self.directories.get(1).and_then(|path| host::real_path(path));
        installed.is_some_and(|installed| installed == base)
    }
}

/// Whether a directory is one in which a version manager has installed an interpreter.
fn is_managed(context: &RunnerContext, base: &Path) -> bool {
    let home = context.variable("HOME").map(Path::new).unwrap_or(Path::new("/nonexistent"));
    MANAGED.iter().any(|(variable, usual, below)| {
        let root = context.variable(variable).map_or_else(|| home.join(usual), PathBuf::from);
        let real = host::real_path(&root.join(below));
        real.is_some_and(|real| {
            base.parent().is_some_and(|parent| parent == real || parent.parent() == Some(&real))
        })
    })
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

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let is_test = |name: &str| {
            name.strip_suffix(".py")
                .is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
        };
        let beside = placement::directory(repo, claim, flagged, is_test)?;
        let root = project(repo, &beside);
        let is_chosen = claim.test_file.as_deref().is_some_and(|file| !file.is_empty());
        let tests = ["tests", "test"].map(|name| root.join(name));
        let tests = tests.into_iter().find(|tests| repo.is_directory(tests));
        let directory = match tests {
            _ if is_chosen => beside,
            Some(tests) => tests,
            // Inside of a package the test would be a part of it.
            None if repo.is_file(beside.join("__init__.py")) => root.clone(),
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
        let of_file =
            |file: &str| project(site.repo(), Path::new(file).parent().unwrap_or(Path::new("")));
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
fn project(repo: &HeldDirectory, directory: &Path) -> PathBuf {
    let is_project = |above: &&Path| PROJECT.iter().any(|name| repo.is_file(above.join(name)));
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
