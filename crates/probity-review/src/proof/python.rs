//! Python: pytest, with a plugin of ours that writes down what happens as it happens.
//!
//! The plugin and not JUnit's XML, because that has neither the frame an exception comes from nor
//! what code was run, and is not written at all by a process that is killed.

mod report;

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use super::{
    Claim, Control, Outcome, Reach,
    alter::{Answer, Noise, Watch},
    placement, regard,
    runner::{Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site, Task},
    tree::Tree,
    untrusted,
};
use report::{Event, Seen, Session, judge, own_exception, own_mistake, reach};

/// The modules of the package that pytest loads.
const PLUGIN: [(&str, &str); 4] = [
    ("__init__.py", include_str!("python/probity_pytest.py")),
    ("control.py", include_str!("python/probity_control.py")),
    ("values.py", include_str!("python/probity_values.py")),
    ("told.py", include_str!("python/probity_told.py")),
];

/// What is done with the test. Either way the same is loaded in the same way, so that a test cannot
/// tell the one from the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Watches,
    Alters,
}

/// What the plugin tells.
const REPORT: &str = "report.jsonl";

/// What all alterations of one claim may take together, beside the usual time of one test.
const ALTERING: Duration = Duration::from_secs(20);

/// What pytest gets on top of the test's time to start, to collect and to say where it hangs.
const GRACE: Duration = Duration::from_secs(10);

/// Files that make a directory the root of a project.
const PROJECT: [&str; 5] = ["pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini"];

#[derive(Debug)]
pub(super) struct Python {
    interpreter: PathBuf,
    /// Where the interpreter and the packages are.
    tools: Vec<PathBuf>,
    /// The plugin's name, another in each review.
    plugin: String,
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
    /// the machine's. None for a repository without Python.
    pub(super) fn prepare(
        bench: &Bench,
        site: &Site,
        repo: &Path,
        tree: &Tree,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Option<Result<Self, String>> {
        if !tree.files().iter().any(|file| file.extension() == Some("py".as_ref())) {
            return None;
        }
        progress("looking for an interpreter with pytest");
        let active =
            bench.variable("VIRTUAL_ENV").map(|active| Path::new(active).join("bin/python"));
        let own = [".venv", "venv", "env"].map(|name| repo.join(name).join("bin/python"));
        let on_path = ["python3", "python"].into_iter().filter_map(|name| bench.tool(name));
        let candidates = active.into_iter().chain(own).chain(on_path).filter(|path| path.is_file());
        let found = candidates.filter_map(|path| Self::ask(bench, site, repo, &path)).next();
        let found = found.ok_or_else(|| "no Python interpreter has pytest".to_owned());
        Some(found.and_then(|found| found.write_plugin(bench)))
    }

    fn write_plugin(self, bench: &Bench) -> Result<Self, String> {
        let package = bench.kit.join(&self.plugin);
        let named = |error: std::io::Error| format!("{}: {error}", package.display());
        fs::create_dir_all(&package).map_err(named)?;
        for (name, text) in PLUGIN {
            fs::write(package.join(name), text).map_err(named)?;
        }
        Ok(self)
    }

    fn ask(bench: &Bench, site: &Site, repo: &Path, interpreter: &Path) -> Option<Self> {
        let mut task = Task::new([interpreter], "", bench.build_timeout);
        task.argv.extend(["-c", ASK].map(Into::into));
        let ran = bench.fetch(site, &task).ok()?;
        let probe: Probe = serde_json::from_slice(&ran.stdout).ok()?;
        let prefixes: Vec<PathBuf> = probe.directories.iter().take(2).cloned().collect();
        let of_prefix = |path: &Path| prefixes.iter().any(|prefix| path.starts_with(prefix));
        // A package that is installed in place is the repository itself, which the copy stands for.
        let wanted =
            |path: &&PathBuf| path.is_dir() && (!path.starts_with(repo) || of_prefix(path));
        let mut tools = prefixes.clone();
        let others = probe.directories.iter().filter(|path| !of_prefix(path)).filter(wanted);
        tools.extend(others.filter(|path| !path.starts_with(&site.repo)).cloned());
        let plugin = format!("zz{:x}", RandomState::new().hash_one(0));
        Some(Self { interpreter: probe.executable, tools, plugin })
    }

    fn events(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        role: Role,
    ) -> Result<Session, String> {
        let told = if role == Role::Alters { "alters" } else { "watches" };
        untrusted::write(&site.out, REPORT, told).map_err(|error| error.to_string())?;
        let mut task =
            Task::new([&self.interpreter], &placed.directory, bench.test_timeout + GRACE);
        task.tools.clone_from(&self.tools);
        let seconds = bench.test_timeout.as_secs_f64();
        let words =
            ["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "-p", &self.plugin];
        task.argv.extend(words.map(Into::into));
        // What a repository adds for everyday use: workers, coverage, filters.
        task.argv.extend(["-o", "addopts=", "-o", "python_functions=test*"].map(Into::into));
        task.argv.extend(["-o".into(), format!("faulthandler_timeout={seconds}").into()]);
        let node = format!("{}::{}", site.seen_repo.join(&placed.path).display(), placed.name);
        task.argv.push(node.into());
        let root = site.seen_repo.join(&placed.directory);
        let mut path = bench.seen_kit().into_os_string();
        for directory in [root.join("src"), root] {
            path.push(":");
            path.push(directory);
        }
        task.variable("PYTHONPATH", path);
        task.variable("PYTHONDONTWRITEBYTECODE", "1");
        task.variable("PROBITY_REPORT", site.seen_out.join(REPORT));
        task.variable("PROBITY_ROOT", site.seen_repo.clone());
        task.variable("PROBITY_FLAGGED", site.seen_repo.join(&placed.flagged.file));
        let Flagged { first, last, .. } = placed.flagged;
        task.variable("PROBITY_LINES", format!("{first}-{last}"));
        task.variable("PROBITY_SECONDS", ALTERING.as_secs().to_string());
        if role == Role::Alters {
            task.wall += ALTERING;
        }
        let ran = bench.run(site, &task)?;
        let text = untrusted::read(&site.out, REPORT).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Session { ran, events })
    }
}

impl Runner for Python {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn place(&self, site: &Site, claim: &Claim, flagged: &Flagged) -> Result<Placed, Refusal> {
        let is_test = |name: &str| {
            name.strip_suffix(".py")
                .is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
        };
        let beside = placement::directory(site, claim, flagged, is_test)?;
        let is_project =
            |above: &&Path| PROJECT.iter().any(|name| site.repo.join(above).join(name).is_file());
        let root = beside.ancestors().find(is_project).unwrap_or(Path::new("")).to_owned();
        let own = claim.test_file.as_deref().is_some_and(|file| !file.is_empty());
        let tests = ["tests", "test"].map(|name| root.join(name));
        let directory = match tests.into_iter().find(|tests| site.repo.join(tests).is_dir()) {
            _ if own => beside,
            Some(tests) => tests,
            // Inside of a package the test would be a part of it.
            None if site.repo.join(&beside).join("__init__.py").is_file() => root.clone(),
            None => beside,
        };
        let id = placement::plain(&claim.id);
        let name = |number: &str| format!("test_zz_probity_{id}{number}.py");
        let path = placement::unused(site, &directory, name);
        let name =
            test_name(&claim.test_code, claim.test_name.as_deref()).map_err(Refusal::not_run)?;
        Ok(Placed {
            path,
            name,
            source: claim.test_code.clone(),
            added: None,
            directory: root,
            flagged: flagged.clone(),
            armed: None,
        })
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, _: &Built) -> Trial {
        let session = match self.events(bench, site, placed, Role::Watches) {
            Ok(session) => session,
            Err(why) => return Trial::harness(why),
        };
        let file = site.seen_repo.join(&placed.path).display().to_string();
        let (outcome, why) = judge(bench, &session, &file, &site.seen_repo);
        let failed = session.events.iter().find_map(|event| match event {
            Event::Phase(phase) if phase.when == "call" && phase.outcome == "failed" => Some(phase),
            _ => None,
        });
        let text = [&session.ran.stdout[..], &session.ran.stderr].concat();
        let mut trial = Trial::new(outcome, why).of(bench, site, &session.ran, &text);
        trial.reach = Some(reach(&session.events));
        if let Some(phase) = failed.filter(|_| outcome == Outcome::Failed) {
            let of_repo = |path: &str| {
                Path::new(path).starts_with(&site.seen_repo) && !path.contains("site-packages")
            };
            let innermost = phase.frames.last();
            trial.mark = phase.mark(&file);
            trial.of_code = innermost.is_some_and(|(path, _)| *path != file && of_repo(path));
            trial.doubt = own_mistake(phase, &file);
            trial.own = own_exception(phase, &file, &placed.source);
        }
        trial.constant = session.events.iter().find_map(|event| match event {
            Event::Phase(phase) => phase.constant.clone(),
            _ => None,
        });
        trial
    }

    fn reach(&self, _: &Bench, site: &Site, placed: &Placed, _: &Built, last: &Trial) -> Reach {
        let unknown = || Reach::Unmeasured("the test left no trace of what it ran".to_owned());
        let reach = last.reach.clone().unwrap_or_else(unknown);
        let code = untrusted::read(&site.repo, &placed.flagged.file).unwrap_or_default();
        let classes = classes(&code, &placed.flagged);
        let lines = last.mark.complaints.iter().flat_map(|(lines, _)| lines.iter().copied());
        let lines = lines.collect();
        // What breaks in the test's own line is no complaint about the class.
        if reach == Reach::NotReached
            && ["AssertionError", "Failed"].contains(&last.mark.kind.as_str())
            && !classes.is_empty()
            && regard::looks_at(&placed.source, &lines, &classes, true)
        {
            return Reach::Unmeasured("a class is made before any test runs".to_owned());
        }
        reach
    }

    fn control(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        _: &Built,
        last: &Trial,
    ) -> Control {
        let none = "the code cannot be made to return other values";
        let session = match self.events(bench, site, placed, Role::Alters) {
            Ok(session) => session,
            Err(why) => return Control::Unavailable(why),
        };
        let same = session.events.iter().filter_map(|event| match event {
            Event::Same(seen) => Some(seen),
            _ => None,
        });
        let same: Vec<&Seen> = same.collect();
        let Some(first) = same.first() else {
            let is_content = |event: &Event| match event {
                Event::Alone(seen) => {
                    matches!(seen.outcome(), Outcome::Passed | Outcome::Skipped)
                }
                _ => false,
            };
            return match session.events.iter().any(is_content) {
                true => Control::Unlike,
                false => Control::Unavailable(none.to_owned()),
            };
        };
        if last.noise < Noise::Places && !first.mark().is_like(&last.mark) {
            return Control::Unlike;
        }
        let original = Trial { mark: first.mark(), noise: Noise::Nothing, ..last.clone() };
        let names = session.events.iter().filter_map(|event| match event {
            // A method that nobody calls by its name is told by its class.
            Event::Altered(altered) if altered.function.contains(".__") => {
                Some(altered.function.clone())
            }
            Event::Altered(altered) => altered.function.rsplit('.').next().map(str::to_owned),
            _ => None,
        });
        let mut names: Vec<String> = names.collect();
        names.dedup();
        let mut watch = Watch::of(&original).at_most(usize::MAX);
        let code = fs::read_to_string(site.repo.join(&placed.flagged.file)).unwrap_or_default();
        watch = watch.beside(&placed.source, &names, Some(&held(&code)));
        for seen in &same {
            watch.saw_same(seen.outcome(), &seen.mark());
        }
        for event in &session.events {
            let altered = match event {
                Event::Altered(altered) => altered,
                Event::Partial => {
                    watch.is_incomplete();
                    continue;
                }
                Event::Inert(inert) if inert.seen.outcome() == Outcome::Passed => {
                    let why = "the test does something else if the code is loaded before it";
                    return match inert.loaded {
                        true => Control::Unavailable(why.to_owned()),
                        false => Control::Unlike,
                    };
                }
                _ => continue,
            };
            let answer = match altered.answer.as_str() {
                "value" => Answer::Value(&altered.value),
                "failure" => Answer::Failure,
                _ => Answer::Nothing,
            };
            let seen = &altered.seen;
            watch.saw(&altered.function, answer, seen.outcome(), &seen.mark());
        }
        watch.end(none)
    }
}

/// The names that functions of the code bind outside of themselves.
fn held(code: &str) -> Vec<String> {
    let global = code.lines().filter_map(|line| line.trim().strip_prefix("global "));
    let names = global.flat_map(|names| names.split(',').map(|name| name.trim().to_owned()));
    names.collect()
}

/// The classes of which the flagged lines are a part, if no function of theirs is.
fn classes(code: &str, flagged: &Flagged) -> Vec<String> {
    let mut found = Vec::new();
    let mut around = None;
    let mut within = false;
    for (number, line) in (1..).zip(code.lines()) {
        let words = line.trim_start();
        if !line.starts_with([' ', '\t']) && !words.is_empty() {
            around = words.strip_prefix("class ").and_then(|rest| {
                rest.split(|end: char| !end.is_alphanumeric() && end != '_').next()
            });
            within = false;
        }
        within |= ["def ", "async def "].iter().any(|word| words.starts_with(word));
        if flagged.holds(number, number) && !within {
            found.extend(around.map(str::to_owned));
        }
    }
    found.dedup();
    found
}

/// The name as pytest has it: with its class, if it is in one.
fn test_name(code: &str, wanted: Option<&str>) -> Result<String, String> {
    let wanted = wanted.filter(|name| !name.is_empty());
    // What the agent may have put before and behind it: a file, a class, a parameter.
    let bare = wanted.map(|name| {
        let name = name.split('[').next().unwrap_or(name);
        name.rsplit([':', '.']).next().unwrap_or(name)
    });
    let mut class = None;
    for line in code.lines() {
        let indented = line.starts_with([' ', '\t']);
        let words = line.trim_start();
        let word = |rest: &'_ str| {
            rest.split(|end: char| !end.is_alphanumeric() && end != '_').next().map(str::to_owned)
        };
        if let Some(rest) = words.strip_prefix("class ").filter(|_| !indented) {
            class = word(rest);
            continue;
        }
        let definition = words.strip_prefix("async ").unwrap_or(words).trim_start();
        let Some(name) = definition.strip_prefix("def ").and_then(word) else {
            if !indented && !words.is_empty() && !words.starts_with(['#', '@', ')']) {
                class = None;
            }
            continue;
        };
        if !indented {
            class = None;
        }
        let is_it = bare.map_or_else(|| name.starts_with("test"), |bare| bare == name);
        match &class {
            Some(class) if is_it && indented => return Ok(format!("{class}::{name}")),
            None if is_it && !indented => return Ok(name),
            _ => {}
        }
    }
    Err(wanted.map_or_else(
        || "the code holds no test".to_owned(),
        |wanted| format!("the code holds no test named {wanted:?}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::test_name;

    #[test]
    fn the_test_is_named_as_pytest_has_it() {
        let code = "import x\n\ndef helper():\n    def test_inner(): pass\n\nclass TestA(Base):\n    \
            def test_b(self):\n        pass\n\nasync def test_c():\n    pass\n";
        for (wanted, expected) in [
            (None, Some("TestA::test_b")),
            (Some("test_b"), Some("TestA::test_b")),
            (Some("TestA::test_b"), Some("TestA::test_b")),
            (Some("tests/x.py::TestA::test_b[1]"), Some("TestA::test_b")),
            (Some("test_c"), Some("test_c")),
            (Some("test_inner"), None),
            (Some("test_d"), None),
        ] {
            assert_eq!(test_name(code, wanted).ok().as_deref(), expected, "{wanted:?}");
        }
        assert_eq!(test_name("x = 1", None).unwrap_err(), "the code holds no test");
    }
}
