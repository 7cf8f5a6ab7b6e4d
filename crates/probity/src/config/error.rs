//! What can be wrong with a configuration, said so that it can be found and mended.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::nearest::nearest;

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("{}: cannot read the configuration: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{}: is a directory, not a configuration file", path.display())]
    Directory { path: PathBuf },
    #[error("{}: is not a regular file", path.display())]
    Special { path: PathBuf },
    #[error("{}: is a FIFO, and its writer may never come", path.display())]
    Fifo { path: PathBuf },
    #[error("{}: is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    /// A file of a repository, of which nothing is shown.
    #[error("{}: leads out of its repository, so it is not read", path.display())]
    Outside { path: PathBuf },
    /// Everything that is wrong in one file, in the order of the file.
    #[error("{}", lines(problems))]
    Invalid { problems: Vec<Problem> },
    /// A variable that others set too, whose value may be a secret that is in the wrong place.
    #[error("{name} cannot be read: expected {expected}")]
    Variable { name: String, expected: String },
    /// The flag or the variable, and what is wrong with its value.
    #[error("{name}: {reason}")]
    Setting { name: String, reason: String },
}

impl ConfigError {
    /// What is wrong in a text, with its lines.
    pub(super) fn invalid(mut problems: Vec<Problem>, text: &str) -> Self {
        for problem in problems.iter_mut().take(MOST_EXCERPTS) {
            let line = text.lines().nth(problem.line.saturating_sub(1));
            problem.source = line.map(str::to_owned);
        }
        Self::Invalid { problems }
    }

    /// What to do about it.
    pub(crate) fn way_out(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable { .. } | Self::Directory { .. } | Self::Special { .. } => {
                Some("pass an existing file with --config, or remove the flag")
            }
            Self::Outside { .. } => {
                Some("replace the link by a file, or name the file with --config")
            }
            Self::Setting { name, .. } if name.starts_with("--") => {
                Some("`--help` describes every flag")
            }
            Self::Invalid { .. } | Self::Setting { .. } => {
                Some("fix it; then `probity config` shows every key and its value")
            }
            _ => None,
        }
    }

    /// The lines of the file that are wrong, each with a mark below the place.
    pub(crate) fn excerpt(&self) -> String {
        let Self::Invalid { problems } = self else { return String::new() };
        let mut shown = String::new();
        for problem in problems.iter().take(MOST_EXCERPTS) {
            let Some(line) = &problem.source else { continue };
            // A line that is as long as a file was not written by hand, and may hide a secret.
            if line.chars().count() > LONGEST_LINE {
                continue;
            }
            let number = problem.line.to_string();
            let margin = " ".repeat(number.len());
            let before = " ".repeat(problem.column.saturating_sub(1));
            let line: String =
                line.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
            shown.push_str(&format!("  {number} | {line}\n  {margin} | {before}^\n"));
        }
        shown
    }
}

/// More mistakes than these are shown by their places alone.
const MOST_EXCERPTS: usize = 3;
const LONGEST_LINE: usize = 160;

/// One thing that is wrong, or odd, at one place of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: PathBuf,
    /// Counted from one.
    pub(crate) line: usize,
    /// Counted from one, in characters.
    pub(crate) column: usize,
    pub(crate) message: String,
    /// The line of the file as it was read: whatever has its name later is not shown.
    source: Option<String>,
}

impl Problem {
    pub(crate) fn new(path: &Path, line: usize, column: usize, message: String) -> Self {
        Self { path: path.to_owned(), line, column, message, source: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, message, .. } = self;
        write!(f, "{}:{line}:{column}: {message}", path.display())
    }
}

/// The line and the column of a byte, both counted from one. A byte order mark has no width.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let before = before.strip_prefix('\u{feff}').unwrap_or(before);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// The tail of a message about an unknown name: what was probably meant, and nothing if nothing is
/// near.
pub(crate) fn did_you_mean<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    let meant = nearest(wanted, candidates);
    meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.join("\n")
}
