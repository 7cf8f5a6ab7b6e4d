//! What each capability lacks on this machine, and the command that installs it.

use probity_proof::{LanguageTools, ProofOptions, TestTool, Unavailable, Workshop, language_tools};
use probity_sandbox::Backend;
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
pub(super) struct Findings<'a> {
    pub(super) has_sandbox: bool,
    /// The command that installs an agent, if none is installed.
    pub(super) install_agent: Option<&'a str>,
    pub(super) languages: &'a [Language],
}

const INSTALL_SANDBOX: &str = "a sandbox: apt-get install bubblewrap (or Docker, or Podman)";

pub(super) fn capabilities(found: &Findings<'_>) -> Vec<Capability> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<String>,
}

/// Files that some runners look for before they look for their tools.
const SAMPLE: [(&str, &str); 3] = [
    ("Cargo.toml", "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/lib.rs", ""),
    ("package.json", "{}\n"),
];

/// Every language whose tests `review` can run. A program that is there is tried: each runner
/// prepares for a sample of its files.
pub(super) fn languages() -> anyhow::Result<Vec<Language>> {
    let known = language_tools(|program| find_program(program).is_some());
    let sample = tempfile::tempdir()?;
    std::fs::create_dir(sample.path().join("src"))?;
    let there = known.iter().filter(|tools| tools.missing.is_none());
    let files = there.filter_map(|tools| tools.endings.first());
    let files = files.map(|ending| (format!("sample.{ending}"), ""));
    for (name, text) in files.chain(SAMPLE.map(|(name, text)| (name.to_owned(), text))) {
        std::fs::write(sample.path().join(name), text)?;
    }
    let options = ProofOptions::new(sample.path(), Backend::None);
    let tried = Workshop::prepare(options, &|_| {})?.test_tools();
    Ok(known.into_iter().map(|tools| language(&tools, &tried)).collect())
}

fn language(tools: &LanguageTools, tried: &[TestTool]) -> Language {
    let tried = tried.iter().find(|tool| tool.endings == tools.endings);
    let missing = match (tools.missing, tried.map(|tool| &tool.runner)) {
        (Some((program, install)), _) => Some(format!("{program}; install: {install}")),
        // The sample lacks it, and a repository may have it.
        (None, Some(Err(Unavailable::NoBuildFile(_)))) => None,
        (None, Some(Err(why))) => Some(format!("{why}; install: {}", tools.install)),
        (None, _) => None,
    };
    let tool = missing.is_none().then_some(tools.runs);
    Language { name: tools.language.to_owned(), endings: tools.endings.to_vec(), tool, missing }
}

fn missing_program(program: &str, install: &str) -> Option<String> {
    find_program(program).is_none().then(|| format!("{program}: {install}"))
}
