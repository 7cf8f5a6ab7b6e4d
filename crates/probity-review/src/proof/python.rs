//! Python: pytest, with a plugin of ours that writes down what happens as it happens.
//!
//! The plugin and not JUnit's XML, because that has neither the frame an exception comes from nor
//! what code was run, and is not written at all by a process that is killed.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use serde::Deserialize;

use super::{
    Claim, Control, Evidence, Outcome, Reach,
    alter::{Answer, Mark, Watch},
    placement,
    runner::{Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site, Task},
    tree::Tree,
};

/// By the names under which pytest loads them.
const PLUGINS: [(&str, &str); 2] = [
    (TELLS, include_str!("python/probity_pytest.py")),
    (ALTERS, include_str!("python/probity_control.py")),
];
const TELLS: &str = "probity_pytest";
const ALTERS: &str = "probity_control";

/// What all alterations of one claim may take together, beside the usual time of one test.
const ALTERING: Duration = Duration::from_secs(20);

/// What pytest gets on top of the test's time to start, to collect and to say where it hangs.
const GRACE: Duration = Duration::from_secs(10);

/// Files that make a directory the root of a project.
const PROJECT: [&str; 5] = ["pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini"];

/// Raised in the test's own lines, these are the test's own mistakes.
const OWN_MISTAKES: [&str; 5] =
    ["NameError", "ImportError", "AttributeError", "SyntaxError", "SystemExit"];

#[derive(Debug)]
pub(super) struct Python {
    interpreter: PathBuf,
    /// Where the interpreter and the packages are.
    tools: Vec<PathBuf>,
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
        for (name, text) in PLUGINS {
            if let Err(error) = fs::write(bench.kit.join(format!("{name}.py")), text) {
                return Some(Err(error.to_string()));
            }
        }
        Some(found.ok_or_else(|| "no Python interpreter has pytest".to_owned()))
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
        Some(Self { interpreter: probe.executable, tools })
    }

    fn events(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        plugin: &str,
    ) -> Result<Session, String> {
        let report = site.out.join("report.jsonl");
        fs::remove_file(&report).ok();
        let mut task =
            Task::new([&self.interpreter], &placed.directory, bench.test_timeout + GRACE);
        task.tools.clone_from(&self.tools);
        let seconds = bench.test_timeout.as_secs_f64();
        let words = ["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "-p", plugin];
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
        task.variable("PROBITY_REPORT", site.seen_out.join("report.jsonl"));
        task.variable("PROBITY_ROOT", site.seen_repo.clone());
        task.variable("PROBITY_FLAGGED", site.seen_repo.join(&placed.flagged.file));
        let Flagged { first, last, .. } = placed.flagged;
        task.variable("PROBITY_LINES", format!("{first}-{last}"));
        task.variable("PROBITY_SECONDS", ALTERING.as_secs().to_string());
        if plugin == ALTERS {
            task.wall += ALTERING;
        }
        let ran = bench.run(site, &task)?;
        let text = fs::read_to_string(&report).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Session { ran, events })
    }
}

struct Session {
    ran: super::capture::Ran,
    events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    CollectError,
    Start,
    Reached,
    Lines,
    Phase(Phase),
    /// A run in which nothing was altered.
    Same(Seen),
    Altered(Altered),
}

#[derive(Debug, Deserialize)]
struct Seen {
    outcome: String,
    lines: Vec<u32>,
    kind: String,
    message: String,
}

impl Seen {
    fn mark(&self) -> Mark {
        let Self { lines, kind, message, .. } = self;
        let told = ["AssertionError", "Failed", "Exception"].contains(&kind.as_str());
        Mark {
            complaints: vec![(lines.clone(), message.clone())],
            kind: kind.clone(),
            broken: !told,
        }
    }

    fn outcome(&self) -> Outcome {
        match self.outcome.as_str() {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            "skipped" => Outcome::Skipped,
            _ => Outcome::HarnessError,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Altered {
    function: String,
    value: String,
    /// Whether it is a value, an exception in its place, or the absence of what it does.
    answer: String,
    #[serde(flatten)]
    seen: Seen,
}

#[derive(Debug, Deserialize)]
struct Phase {
    when: String,
    outcome: String,
    xfail: bool,
    /// The exception's class and those above it.
    exception: Vec<String>,
    /// File and line, the innermost last.
    frames: Vec<(String, u32)>,
    constant: Option<String>,
    /// Whether something was asked of nothing.
    #[serde(default)]
    of_nothing: bool,
    /// What the machine lacks that the test itself asked for.
    #[serde(default)]
    environment: Option<String>,
    /// The flagged function, if the test has put something else in its place.
    #[serde(default)]
    replaced: Option<String>,
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
            beside: Vec::new(),
            added: None,
            directory: root,
            flagged: flagged.clone(),
            armed: None,
        })
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, _: &Built) -> Trial {
        let session = match self.events(bench, site, placed, TELLS) {
            Ok(session) => session,
            Err(why) => return Trial::harness(why),
        };
        let file = site.seen_repo.join(&placed.path).display().to_string();
        let (outcome, why) = judge(bench, &session, &file);
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
            trial.of_code = innermost.is_some_and(|(path, _)| *path != file && of_repo(path));
            trial.doubt = own_mistake(phase, &file);
        }
        trial.constant = session.events.iter().find_map(|event| match event {
            Event::Phase(phase) => phase.constant.clone(),
            _ => None,
        });
        trial
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
        let session = match self.events(bench, site, placed, ALTERS) {
            Ok(session) => session,
            Err(why) => return Control::Unavailable(why),
        };
        let same = session.events.iter().filter_map(|event| match event {
            Event::Same(seen) => Some(seen),
            _ => None,
        });
        let same: Vec<&Seen> = same.collect();
        let Some(first) = same.first().filter(|seen| seen.outcome() == Outcome::Failed) else {
            return Control::Unavailable(none.to_owned());
        };
        let original = Trial { mark: first.mark(), noisy: false, ..last.clone() };
        let mut watch = Watch::of(&original).at_most(usize::MAX);
        for seen in &same {
            watch.saw_same(seen.outcome(), &seen.mark());
        }
        for event in &session.events {
            if let Event::Altered(altered) = event {
                let answer = match altered.answer.as_str() {
                    "value" => Answer::Value(&altered.value),
                    "failure" => Answer::Failure,
                    _ => Answer::Nothing,
                };
                let seen = &altered.seen;
                watch.saw(&altered.function, answer, seen.outcome(), &seen.mark());
            }
        }
        watch.end(none)
    }
}

fn reach(events: &[Event]) -> Reach {
    let told = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    if told(|event| matches!(event, Event::Reached)) {
        let lines = told(|event| matches!(event, Event::Lines));
        Reach::Reached { by: Evidence::Coverage, lines }
    } else {
        Reach::NotReached
    }
}

fn judge(bench: &Bench, session: &Session, file: &str) -> (Outcome, String) {
    let Session { ran, events } = session;
    let phases = || {
        events.iter().filter_map(|event| match event {
            Event::Phase(phase) => Some(phase),
            _ => None,
        })
    };
    let started = events.iter().any(|event| matches!(event, Event::Start));
    if events.iter().any(|event| matches!(event, Event::CollectError)) {
        return (Outcome::BuildError, "the test could not be loaded".to_owned());
    }
    let failed =
        |when: &str| phases().find(|phase| phase.when == when && phase.outcome == "failed");
    if let Some(name) = phases().find_map(|phase| phase.replaced.as_ref()) {
        let why = format!("the test replaces {name}, which it is about, so it shows nothing of it");
        return (Outcome::Rejected, why);
    }
    if let Some(phase) = failed("call") {
        return failure(phase, file);
    }
    if failed("setup").is_some() {
        return (Outcome::HarnessError, "what the test needs could not be set up".to_owned());
    }
    if ran.exit == Exit::Timeout {
        return (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout));
    }
    if failed("teardown").is_some() {
        return (Outcome::HarnessError, "the test failed only while cleaning up".to_owned());
    }
    let called = phases().any(|phase| phase.when == "call");
    let skipped = phases().find(|phase| phase.outcome == "skipped");
    match (started, skipped, called) {
        (_, Some(phase), _) if phase.xfail => {
            (Outcome::Skipped, "the test is marked as expected to fail".to_owned())
        }
        (_, Some(_), _) => (Outcome::Skipped, "the test skipped itself".to_owned()),
        (true, None, true) if ran.exit == Exit::Code(0) => {
            (Outcome::Passed, "the test passes, so the defect is not there".to_owned())
        }
        (true, None, true) => {
            (Outcome::HarnessError, "the test passed, and its process failed".to_owned())
        }
        (true, None, false) if crashed(ran.exit) => {
            (Outcome::Failed, "the process crashed while the test ran".to_owned())
        }
        (true, None, false) => {
            (Outcome::HarnessError, "the test's process ended before the test did".to_owned())
        }
        // 4 and 5 are pytest's for a test that does not exist.
        (false, ..) if matches!(ran.exit, Exit::Code(4 | 5)) => {
            (Outcome::NotRun, "no test of that name ran".to_owned())
        }
        (false, ..) => (Outcome::HarnessError, "pytest failed before the test began".to_owned()),
    }
}

/// Whether a failure is the code's or the test's own.
fn failure(phase: &Phase, file: &str) -> (Outcome, String) {
    let own = |frame: &&(String, u32)| frame.0 == file;
    let kind = phase.exception.first().map_or("no exception", String::as_str);
    if !phase.frames.iter().any(|frame| own(&frame)) {
        let why = format!("pytest could not run the test ({kind})");
        return (Outcome::HarnessError, why);
    }
    // Nothing is what the code may have returned; the control tells.
    if let Some(why) = own_mistake(phase, file).filter(|_| !phase.of_nothing) {
        return (Outcome::HarnessError, why);
    }
    if let Some(lack) = &phase.environment {
        return (Outcome::HarnessError, format!("the test needs what is not here: {lack}"));
    }
    (Outcome::Failed, format!("it ends with {kind}"))
}

/// What is wrong with the test, if the exception is one that its own lines raise by mistake.
fn own_mistake(phase: &Phase, file: &str) -> Option<String> {
    let mistaken = phase.exception.iter().any(|class| OWN_MISTAKES.contains(&class.as_str()));
    let own = phase.frames.last().is_some_and(|frame| frame.0 == file);
    let kind = phase.exception.first().map_or("no exception", String::as_str);
    (mistaken && own).then(|| format!("the test has a mistake of its own ({kind})"))
}

/// Ended by one of the signals of a crash. Contained processes have it as a code above 128.
fn crashed(exit: Exit) -> bool {
    let signal = match exit {
        Exit::Signal(signal) => signal,
        Exit::Code(code) => code - 128,
        _ => 0,
    };
    [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL].contains(&signal)
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
