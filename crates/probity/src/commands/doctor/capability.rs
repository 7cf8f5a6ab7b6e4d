//! What each capability lacks on this machine, and the command that installs it.

use probity_proof::{LanguageTools, language_tools};
use probity_seat::find_program;
use serde::Serialize;

use super::runners::{LIMIT, Start, start_all};

#[derive(Debug, Serialize)]
pub(super) struct Capability {
    name: &'static str,
    ready: bool,
    /// What is missing, each with the way to get it.
    missing: Vec<String>,
}

/// What the rest of the diagnosis found.
pub(super) struct Findings<'a> {
    /// For agents and commands.
    pub(super) has_sandbox: bool,
    /// For tests, whose tools the images of engines lack.
    pub(super) has_sandbox_for_tests: bool,
    /// The command that installs an agent, if none is installed.
    pub(super) install_agent: Option<&'a str>,
    pub(super) languages: &'a [Language],
}

const INSTALL_SANDBOX: &str =
    "a sandbox: apt-get install bubblewrap; for agents also Docker or Podman";

pub(super) fn capabilities(found: &Findings<'_>) -> Vec<Capability> {
    let sandbox = (!found.has_sandbox).then(|| INSTALL_SANDBOX.to_owned());
    let sandbox_for_tests = (!found.has_sandbox_for_tests).then(|| INSTALL_SANDBOX.to_owned());
    let agent = found.install_agent.map(|install| format!("an agent: {install}"));
    let git = missing_program("git", "apt-get install git");
    let can_test = found.languages.iter().any(|language| language.missing.is_none());
    let tests = (!can_test).then(|| "a test runner: see \"Test tools\" above".to_owned());
    let ready = |name, missing: &[&Option<String>]| {
        let missing: Vec<String> = missing.iter().copied().flatten().cloned().collect();
        Capability { name, ready: missing.is_empty(), missing }
    };
    vec![
        ready("check", &[]),
        ready("check --fix-ai", &[&agent, &sandbox]),
        // Aiken contracts need no model; other sources do.
        ready("audit", &[]),
        ready("audit --prove", &[&sandbox_for_tests, &tests]),
        ready("review", &[&git, &agent, &sandbox_for_tests, &tests]),
        ready("acp", &[&agent, &sandbox]),
        ready("exec", &[&sandbox]),
    ]
}

impl Capability {
    /// Its name, whether it can be used, and what is missing.
    pub(super) fn row(&self) -> (&'static str, &'static str, String) {
        if self.ready {
            return (self.name, "yes", String::new());
        }
        (self.name, "no", format!("missing {}", self.missing.join("; ")))
    }
}

/// Files whose defects `review` can prove, and the tool that runs their tests.
#[derive(Debug, Serialize)]
pub(super) struct Language {
    pub(super) name: String,
    /// Endings of its files.
    endings: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<&'static str>,
    /// Whether a test that passes and one that fails did so; absent if none was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<String>,
}

/// Whether the runners of tests are started, which takes some seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runners {
    Start,
    Skip,
}

/// Every language whose tests `review` can run.
pub(super) fn languages(runners: Runners) -> Vec<Language> {
    let known = language_tools(|program| find_program(program).is_some());
    let there: Vec<&LanguageTools> = known.iter().filter(|tools| tools.missing.is_none()).collect();
    let started = match runners {
        Runners::Start => start_all(&there).into_iter().map(Some).collect(),
        Runners::Skip => Vec::new(),
    };
    let mut started = started.into_iter();
    known
        .iter()
        .map(|tools| {
            let start = if tools.missing.is_none() { started.next().flatten() } else { None };
            language(tools, start)
        })
        .collect()
}

fn language(tools: &LanguageTools, start: Option<Start>) -> Language {
    let install = tools.install;
    let missing = match (tools.missing, &start) {
        (Some((program, install)), _) => Some(format!("{program}; install: {install}")),
        (None, Some(Start::Unavailable(why))) => Some(format!("{why}; install: {install}")),
        (None, Some(Start::Fails(why))) => {
            Some(format!("{} cannot run a test: {why}; install: {install}", tools.runs))
        }
        (None, Some(Start::NoSandbox)) => Some("no test runs without a sandbox".to_owned()),
        (None, Some(Start::OutOfTime)) => Some(format!(
            "{} ran no test within {} s; a review takes longer, `--quick` skips this",
            tools.runs,
            LIMIT.as_secs()
        )),
        (None, Some(Start::Ready) | None) => None,
    };
    Language {
        name: tools.language.to_owned(),
        endings: tools.endings.to_vec(),
        tool: missing.is_none().then_some(tools.runs),
        started: start.map(|start| matches!(start, Start::Ready)),
        missing,
    }
}

fn missing_program(program: &str, install: &str) -> Option<String> {
    find_program(program).is_none().then(|| format!("{program}: {install}"))
}
