//! What a model may ask to read.

use probity_text::one_line;
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// From a line on, as many lines as are wanted; all of them without a limit.
    ReadFile {
        path: String,
        offset: u64,
        limit: Option<u64>,
    },
    Grep {
        pattern: String,
        path: String,
        context_lines: usize,
    },
    ListDir {
        path: String,
    },
    FindFiles {
        path: String,
        glob: Option<String>,
    },
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
            Self::ReadFile { path, .. }
            | Self::Grep { path, .. }
            | Self::ListDir { path }
            | Self::FindFiles { path, .. } => path,
        }
    }

    /// As a model would have to write it.
    pub(crate) fn as_json(&self) -> String {
        let mut object = json!({"action": self.action(), "path": self.path()});
        if let Self::ReadFile { offset, .. } = self {
            object["offset"] = json!(offset);
        }
        object.to_string()
    }

    /// In words, for people and for the model.
    #[must_use]
    pub fn summary(&self) -> String {
        let shown = |text: &str| one_line(text, 200);
        match self {
            Self::ReadFile { path, offset: 1, limit: None } => {
                format!("read file '{}'", shown(path))
            }
            Self::ReadFile { path, offset, limit } => {
                let limit = limit.map_or_else(String::new, |limit| format!(", {limit} lines"));
                format!("read file '{}' from line {offset}{limit}", shown(path))
            }
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
