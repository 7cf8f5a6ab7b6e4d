//! What each capability lacks on this machine, and the command that installs it.

use probity_proof::{LanguageTools, language_tools};
use probity_seat::find_program;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Capability {
    name: &'static str,
    ready: bool,
    /// What is missing, each with the way to get it.
    missing: Vec<String>,
}

/// What the rest of the diagnosis found.
pub(super) struct Found<'a> {
    pub(super) has_sandbox: bool,
    /// The command that installs an agent, if none is installed.
    pub(super) install_agent: Option<&'a str>,
    pub(super) languages: &'a [Language],
}

const INSTALL_SANDBOX: &str = "a sandbox: apt-get install bubblewrap (or Docker, or Podman)";

pub(super) fn capabilities(found: &Found<'_>) -> Vec<Capability> {
    let sandbox = (!found.has_sandbox).then(|| INSTALL_SANDBOX.to_owned());
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
        ready("review", &[&git, &agent, &sandbox, &tests]),
        ready("acp", &[&agent, &sandbox]),
        ready("exec", &[&sandbox]),
    ]
}

impl Capability {
    /// Its name, whether it can be used, and what is missing.
    pub(super) fn row(&self) -> (&'static str, &'static str, String) {
        let mark = if self.ready { "yes" } else { "no" };
        (self.name, mark, self.missing.join("; "))
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<String>,
}

/// How Python's tests are run; the interpreter alone is not enough.
const PYTEST: &str = "apt-get install python3-pytest, or pip install pytest";

/// Every language whose tests `review` can run, as the runners know them.
pub(super) fn languages() -> Vec<Language> {
    let tools = language_tools(|program| find_program(program).is_some());
    tools.into_iter().map(language).collect()
}

fn language(tools: LanguageTools) -> Language {
    let missing = tools.missing.map(|(program, install)| format!("{program}; install: {install}"));
    let pytest = || {
        (tools.language == "Python" && !has_pytest()).then(|| format!("pytest; install: {PYTEST}"))
    };
    let missing = missing.or_else(pytest);
    Language {
        name: tools.language.to_owned(),
        endings: tools.endings.to_vec(),
        tool: missing.is_none().then_some(tools.program),
        missing,
    }
}

fn has_pytest() -> bool {
    let Some(python) = find_program("python3") else { return false };
    let mut command = std::process::Command::new(python);
    // From a directory of nobody's: Python imports modules of the directory that it starts in.
    command.args(["-I", "-c", "import pytest"]).current_dir("/");
    command.output().is_ok_and(|output| output.status.success())
}

fn missing_program(program: &str, install: &str) -> Option<String> {
    find_program(program).is_none().then(|| format!("{program}: {install}"))
}
