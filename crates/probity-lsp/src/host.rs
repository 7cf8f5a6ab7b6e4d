//! What the server asks of the binary: everything that has effects or needs the configuration.

use std::path::{Path, PathBuf};

use probity_check::{EditorFixes, OpenTexts};
use probity_finding::{Finding, Severity};

/// A document that a question is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    /// The workspace folder that it lies in: findings are those of `probity check` run there.
    pub folder: Option<&'a Path>,
    pub open_texts: &'a OpenTexts,
}

/// What a document is to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    Dockerfile,
    /// A configuration file of probity, or of a tool whose files it reads.
    Config,
    /// Nothing to check; its text may still matter to a Dockerfile beside it.
    Other,
}

/// What checking one document gave.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// As `probity check` reports them: in report order, without secrets.
    pub findings: Vec<Finding>,
    /// Whether an agent may be asked for fixes of this document.
    pub is_ai_enabled: bool,
    /// The configuration files that were found for the document.
    pub config_files: Vec<ConfigFile>,
}

/// A configuration file and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    pub problems: Vec<ConfigProblem>,
}

/// One thing that is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Counted from one.
    pub line: usize,
    /// Counted from one, in characters.
    pub column: usize,
    pub severity: Severity,
    pub message: String,
}

/// The name of a rule, for completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleName {
    pub name: String,
    pub about: String,
}

/// What an agent is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AiRequest<'a> {
    pub rule: &'a str,
}

/// Hears how an agent gets on, and can call it off.
pub trait AiWatch: Send + Sync {
    fn progress(&self, message: &str);
    fn is_cancelled(&self) -> bool;
}

/// What became of asking an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AiAnswer {
    /// The text with the fix applied, and how far it is proven.
    Fixed {
        text: String,
        level: String,
        reason: String,
    },
    /// Nothing is to be changed, and why.
    Unchanged {
        reason: String,
    },
    Cancelled,
}

/// The binary, as the server sees it.
pub trait Host: Send + Sync {
    fn version(&self) -> &str;

    /// What a document is, by its path and by what the editor calls its language.
    fn kind(&self, path: &Path, language: &str) -> DocumentKind;

    /// Everything that `probity check` would report about the text.
    fn check(&self, subject: &Subject<'_>) -> Report;

    /// The text after fixing; none where nothing changes or no fix may touch the file.
    fn fix(&self, subject: &Subject<'_>, wanted: EditorFixes<'_>) -> Option<String>;

    /// What is wrong with a configuration file.
    fn config_problems(&self, path: &Path, text: &str) -> Vec<ConfigProblem>;

    /// The JSON Schema of a configuration file.
    fn config_schema(&self, path: &Path) -> Option<serde_json::Value>;

    /// Forgets every configuration that was read.
    fn reload(&self);

    /// The manual page of a rule, in markdown.
    fn explain(&self, rule: &str) -> Option<String>;

    /// All rules that a directive can name.
    fn rules(&self) -> Vec<RuleName>;

    /// Whether a process exists.
    fn is_running(&self, process: i32) -> bool;

    /// Asks an agent; it may take minutes and is called on a thread of its own.
    fn ai_fix(&self, subject: &Subject<'_>, wanted: AiRequest<'_>, watch: &dyn AiWatch)
    -> AiAnswer;
}
