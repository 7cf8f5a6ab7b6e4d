//! What a model may ask to read.

use super::cut::exited_with;
use crate::text::one_line;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    ReadFile { path: String },
    Grep { pattern: String, path: String, context_lines: usize },
    ListDir { path: String },
    FindFiles { path: String, glob: Option<String> },
}

impl Request {
    /// As the model writes it.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Self::ReadFile { .. } => "read_file",
            Self::Grep { .. } => "grep",
            Self::ListDir { .. } => "list_dir",
            Self::FindFiles { .. } => "find_files",
        }
    }

    /// The command whose permission it needs and whose output it has.
    #[must_use]
    pub fn command(&self) -> &'static str {
        match self {
            Self::ReadFile { .. } => "cat",
            Self::Grep { .. } => "grep",
            Self::ListDir { .. } => "ls",
            Self::FindFiles { .. } => "find",
        }
    }

    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::ReadFile { path }
            | Self::Grep { path, .. }
            | Self::ListDir { path }
            | Self::FindFiles { path, .. } => path,
        }
    }

    /// Whether this output shows that the content of files was looked at: a file was read, or
    /// searched, be it in vain.
    pub(crate) fn has_looked(&self, output: &str) -> bool {
        match self {
            Self::ReadFile { .. } => !output.ends_with(&exited_with(1)),
            Self::Grep { .. } => !output.ends_with(&exited_with(2)),
            Self::ListDir { .. } | Self::FindFiles { .. } => false,
        }
    }

    /// In words, for people and for the model.
    #[must_use]
    pub fn summary(&self) -> String {
        let shown = |text: &str| one_line(text, 200);
        match self {
            Self::ReadFile { path } => format!("read file '{}'", shown(path)),
            Self::Grep { pattern, path, context_lines } => format!(
                "grep '{}' in '{}' with {context_lines} lines of context",
                shown(pattern),
                shown(path)
            ),
            Self::ListDir { path } => format!("list directory '{}'", shown(path)),
            Self::FindFiles { path, glob: Some(glob) } => {
                format!("find files '{}' in '{}'", shown(glob), shown(path))
            }
            Self::FindFiles { path, glob: None } => format!("find files in '{}'", shown(path)),
        }
    }
}
