//! Python: pytest, with a plugin of ours that writes down what happens as it happens.
//!
//! The plugin and not JUnit's XML, because that does not say what code was run, and is not written
//! at all by a process that is killed.

mod environments;
mod existing;
mod interpreter;
mod map;

use std::{
    collections::BTreeSet,
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use probity_sandbox::Exit;
use probity_scope::HeldDirectory;

pub(super) use self::interpreter::{Interpreter, Interpreters, interpreters};
pub use self::interpreter::{NotTaken, TriedInterpreter};
use self::{interpreter::is_managed, map::Map};
use super::{
    Built, Existing, Groups, Missing, Once, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    placement,
    report::Report,
    succeeded,
};
use crate::{
    Claim, Refusal, RunDetail, claim::FlaggedLines, host, places::read_text, syntax::Grammar,
    workshop::Preparation,
};

const PLUGIN: &str = include_str!("python/probity_pytest.py");
const FOLLOWER: (&str, &str) = ("probity_touched.py", include_str!("python/probity_touched.py"));

/// The names of the wanted tests, and of those that passed before, in the directory for what a run
/// writes.
const CHOSEN: &str = "chosen.json";
const PASSED: &str = "passed.json";

/// What pytest gets on top of the test's time to start, to collect and to say where it hangs.
const GRACE: Duration = Duration::from_secs(10);

/// How pytest ends if it has found no test.
const NO_TESTS: i32 = 5;

/// Files that make a directory the root of a project.
const PROJECT: [&str; 5] = ["pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini"];

#[derive(Debug)]
pub(super) struct Python {
    interpreter: PathBuf,
    /// Where the interpreter and the packages are.
    tools: Vec<PathBuf>,
    /// The plugin's name, another in each review.
    plugin: String,
    /// What the tests of each project run code of, and what they did, on the code as it is.
    maps: Once<PathBuf, Arc<Map>>,
    /// What pytest and the packages are, by their names, for what is kept from one review to the next.
    environment: Vec<String>,
    /// The command that installs what the project needs.
    install: &'static str,
}

impl Python {
    /// Finds an interpreter that has pytest: the active environment's, the repository's own, or
    /// the machine's.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        (preparation.progress)("looking for a Python interpreter with pytest");
        let context = preparation.site.context;
        let Interpreters { found: known, silent } = &preparation.asked.pythons;
        let active = context.variable("VIRTUAL_ENV").map(Path::new);
        let is_active = |one: &&Interpreter| {
            active.is_some_and(|root| one.directories.first().is_some_and(|own| own == root))
        };
        let install = environments::install_command(preparation.files);
        let of_machine = |one: &Interpreter| Self::of_machine(preparation.repo, one, install);
        let with_pytest = || known.iter().filter(|one| one.has_pytest);
        let mut found = with_pytest().find(is_active).map(of_machine);
        let mut tried: Vec<TriedInterpreter> = Vec::new();
        if found.is_none() {
            let inside = active.and_then(|root| {
                host::real_path(root)?.strip_prefix(preparation.repo).ok().map(Path::to_owned)
            });
            let own = environments::of_repository(preparation.repo);
            for root in inside.into_iter().chain(own) {
                match Self::of_repository(preparation, &root, install) {
                    Some(Ok(own)) => {
                        found = Some(own);
                        break;
                    }
                    Some(Err(why)) => tried.push(TriedInterpreter { path: root, why }),
                    None => {}
                }
            }
        }
        let of_machine = |one: &Interpreter| Self::of_machine(preparation.repo, one, install);
        let found = found.or_else(|| with_pytest().next().map(of_machine)).ok_or_else(|| {
            let lacking = known.iter().map(|one| (&one.executable, NotTaken::NoPytest));
            let silent = silent.iter().map(|path| (path, NotTaken::Silent));
            let others = lacking.chain(silent);
            tried.extend(others.map(|(path, why)| TriedInterpreter { path: path.clone(), why }));
            Unavailable::NoPytest { tried, install }
        })?;
        context.add_to_kit(&format!("{}.py", found.plugin), PLUGIN)?;
        context.add_to_kit(FOLLOWER.0, FOLLOWER.1)?;
        Ok(Box::new(found))
    }

    /// An environment in the repository, which anybody may have written: it runs only sandboxed, and
    /// what its tests see is what interpreters of the machine say of themselves, not what it answers.
    /// None where there is no environment.
    fn of_repository(
        preparation: &mut Preparation<'_>,
        root: &Path,
        install: &'static str,
    ) -> Option<Result<Self, NotTaken>> {
        let root = preparation.installed(root)?;
        let held = HeldDirectory::open(&root).ok()?;
        held.kind("bin/python")?;
        Some(Self::of_environment(preparation, root, &held, install))
    }

    fn of_environment(
        preparation: &Preparation<'_>,
        root: PathBuf,
        held: &HeldDirectory,
        install: &'static str,
    ) -> Result<Self, NotTaken> {
        let site = preparation.site;
        let settings = read_text(held, "pyvenv.cfg").map_err(|_| NotTaken::NoSettings)?;
        let home = settings.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "home").then(|| PathBuf::from(value.trim()))
        });
        let home = home.ok_or(NotTaken::NoSettings)?;
        let unknown = || NotTaken::UnknownBase(home.clone());
        let base = home.parent().and_then(host::real_path).ok_or_else(unknown)?;
        let known = &preparation.asked.pythons.found;
        let is_known =
            known.iter().any(|one| one.is_made_from(&base)) || is_managed(site.context, &base);
        if !is_known || base.starts_with(preparation.repo) || !host::is_file(&home.join("python3"))
        {
            return Err(unknown());
        }
        let interpreter = root.join("bin/python");
        let tools = vec![root, base];
        let limit = site.context.build_timeout;
        let mut task = Task::new([&interpreter], "", Access::Runs, limit);
        task.tools.clone_from(&tools);
        task.arguments(["-c", "import pytest"]);
        succeeded(site.run(&task)).map_err(|_| NotTaken::NoPytest)?;
        Ok(Self::new(interpreter, tools, install))
    }

    fn new(interpreter: PathBuf, tools: Vec<PathBuf>, install: &'static str) -> Self {
        let plugin = format!("zz{:x}", RandomState::new().hash_one(0));
        let environment = packages(&tools);
        Self { interpreter, tools, plugin, maps: Once::default(), environment, install }
    }

    fn of_machine(repo: &Path, interpreter: &Interpreter, install: &'static str) -> Self {
        let prefixes: Vec<PathBuf> = interpreter.directories.iter().take(2).cloned().collect();
        let of_prefix = |path: &Path| prefixes.iter().any(|prefix| path.starts_with(prefix));
        // A package that is installed in place is the repository itself, which the copy stands for.
        let wanted = |path: &&PathBuf| host::is_directory(path) && !path.starts_with(repo);
        let others = interpreter.directories.iter().filter(|path| !of_prefix(path)).filter(wanted);
        let tools = prefixes.iter().chain(others).cloned().collect();
        Self::new(interpreter.executable.clone(), tools, install)
    }

    /// Runs pytest in a project.
    fn session(
        &self,
        site: &Site<'_>,
        project: &Path,
        asked: Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        let (ran, told) = self.told(site, project, asked)?;
        let report = read_report(&told, &ran);
        Ok((ran, report))
    }

    /// Runs pytest in a project, and gives what our plugin wrote.
    fn told(
        &self,
        site: &Site<'_>,
        project: &Path,
        asked: Asked<'_>,
    ) -> Result<(Ran, String), Trouble> {
        let limit = match asked {
            Asked::Test(_) => site.context.test_timeout,
            Asked::Map { limit } | Asked::Chosen { limit, .. } => limit,
        };
        let mut task = Task::new([&self.interpreter], project, Access::Runs, limit + GRACE);
        task.tools.clone_from(&self.tools);
        task.arguments(["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]);
        task.arguments(["-p", &self.plugin]);
        // What a repository adds for everyday use, workers and coverage; our plugin keeps the rest.
        task.arguments(["-o", "addopts="]);
        task.arguments(["-o".to_owned(), format!("faulthandler_timeout={}", limit.as_secs_f64())]);
        let root = site.seen_repo.join(project);
        let mut path = site.context.seen_kit().into_os_string();
        for directory in [root.join("src"), root] {
            path.push(":");
            path.push(directory);
        }
        task.variable("PYTHONPATH", path);
        task.variable("PYTHONDONTWRITEBYTECODE", "1");
        match asked {
            Asked::Test(placed) => {
                task.variable("PROBITY_TEST", &placed.name);
                task.arguments(["-o", "python_functions=test*"]);
                task.arguments([site.seen_repo.join(&placed.path)]);
            }
            Asked::Map { .. } => task.variable("PROBITY_FOLLOWS", "1"),
            Asked::Chosen { tests, passed, .. } => {
                task.variable("PROBITY_CHOSEN", list(site, CHOSEN, tests)?);
                task.variable("PROBITY_PASSED", list(site, PASSED, passed)?);
            }
        }
        if !matches!(asked, Asked::Test(_)) {
            // A file that cannot be loaded keeps no other from running.
            task.arguments(["--continue-on-collection-errors"]);
        }
        site.run_told(task)
    }
}

/// Writes names where the plugin finds them.
fn list(site: &Site<'_>, file: &str, names: &BTreeSet<String>) -> Result<PathBuf, Trouble> {
    let text = serde_json::to_string(names).unwrap_or_default();
    let written = site.scratch.held.write(file, text.as_bytes());
    written.map_err(|error| Trouble::at(Path::new(file), &error))?;
    Ok(site.seen_scratch.join(file))
}

/// What the plugin wrote, and what the end of the process says beside that.
fn read_report(told: &str, ran: &Ran) -> Report {
    let mut report = Report::of_lines(told);
    if report.selected.is_none() && ran.exit == Exit::Code(NO_TESTS) {
        report.selected = Some(BTreeSet::new());
    }
    if report.selected.as_ref().is_some_and(BTreeSet::is_empty) {
        report.without_end.get_or_insert(RunDetail::NoSuchTest);
    }
    report
}

/// What pytest is to run, and what it is to tell.
#[derive(Debug, Clone, Copy)]
enum Asked<'a> {
    /// The one of a claim.
    Test(&'a Placed),
    /// All existing ones, and what each of them runs code of.
    Map { limit: Duration },
    /// Existing ones: files as a whole, and functions. It ends at the first that does not pass though
    /// it passed before.
    Chosen { tests: &'a BTreeSet<String>, passed: &'a BTreeSet<String>, limit: Duration },
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
        let (ran, report) = self.session(site, &placed.directory, Asked::Test(placed))?;
        Ok(Trial::told(site, &ran, &report, |_| true))
    }

    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        existing::groups(self, site, wanted)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        Ok(existing::run(self, site, project, tests, &BTreeSet::new(), limit)?)
    }

    /// One run of all tests has shown most of it.
    fn run_original(
        &self,
        site: &Site<'_>,
        project: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        Ok(existing::run_original(self, site, project, tests, limit)?)
    }

    fn run_changed(
        &self,
        site: &Site<'_>,
        project: &Path,
        tests: &BTreeSet<String>,
        before: &Suite,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let passed = before.passed().map(str::to_owned).collect();
        Ok(existing::run(self, site, project, tests, &passed, limit)?)
    }

    /// The parameters of a test may be others in each run.
    fn function<'a>(&self, test: &'a str) -> &'a str {
        existing::function(test)
    }

    fn missing(&self, output: &str) -> Option<Missing> {
        let (_, rest) = output.split_once("No module named '")?;
        let (module, _) = rest.split_once('\'')?;
        let package = module.split('.').next()?;
        let interpreter = self.interpreter.display();
        Some(Missing {
            name: package.to_owned(),
            what: format!("the Python package `{package}` is not installed for {interpreter}"),
            help: format!("run `{}`", self.install),
        })
    }

    /// Imports the flagged module as well: where that needs what is not installed, no test of it runs.
    fn empty_test(&self, repo: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let mut top = Path::new(&placed.flagged.file).parent().unwrap_or(Path::new(""));
        let mut module = vec![Path::new(&placed.flagged.file).file_stem()?.to_str()?];
        while repo.is_file(top.join("__init__.py")) {
            module.insert(0, top.file_name()?.to_str()?);
            top = top.parent()?;
        }
        module.retain(|part| *part != "__init__");
        let (module, top) = (module.join("."), top.to_str()?);
        let source = format!(
            "import importlib, os, sys\n\n\ndef test_starts():\n    \
             sys.path.insert(0, os.path.join(os.environ['PROBITY_ROOT'], {top:?}))\n    \
             try:\n        importlib.import_module({module:?})\n    \
             except ImportError:\n        raise\n    \
             except BaseException:\n        pass\n"
        );
        Some(Placed { name: "test_starts".to_owned(), source, added: None, ..placed.clone() })
    }
}

/// What is installed, as names of directories say it, and when that changed last.
fn packages(directories: &[PathBuf]) -> Vec<String> {
    let library = |root: &PathBuf| {
        let versions = host::names_in(&root.join("lib")).into_iter();
        let versions = versions.filter(|name| name.starts_with("python"));
        let places = versions.map(|name| root.join("lib").join(name).join("site-packages"));
        places.collect::<Vec<_>>()
    };
    let all = directories.iter().flat_map(|root| [vec![root.clone()], library(root)].concat());
    let mut found = Vec::new();
    for directory in all.filter(|path| host::is_directory(path)) {
        let mut names = host::names_in(&directory);
        names.sort();
        let changed = HeldDirectory::open(&directory).ok().and_then(|held| held.stat(""));
        found.push(format!("{} {:?}", directory.display(), changed.map(|stat| stat.modified)));
        found.extend(names);
    }
    found
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
