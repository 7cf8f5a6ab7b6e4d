//! Why a patch was refused, each reason under a name that does not change.

/// Why a patch was not taken. Lines are counted from one.
///
/// No variant carries text of the file: what an error says may end up in a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("the patch has {found} {what}, more than the {limit} that are read")]
    TooLarge { what: &'static str, found: usize, limit: usize },
    #[error("line {line} of the patch: {reason}")]
    Unreadable { line: usize, reason: String },
    #[error("line {line} of the patch: the hunk header contains a line number that is too large")]
    NumberTooLarge { line: usize },
    #[error("the patch changes nothing")]
    Empty,
    #[error("the patch has more than one file section; it must change one file, in one section")]
    SeveralFiles,
    #[error("the patch creates a file; it must change the given one")]
    CreatesFile,
    #[error("the patch deletes the file; it must change it")]
    DeletesFile,
    #[error("the patch renames the file")]
    RenamesFile,
    #[error("the patch copies the file")]
    CopiesFile,
    #[error("the patch changes the file's mode")]
    ChangesMode,
    #[error("the patch is binary; it must be text")]
    Binary,
    #[error("the patch names a path outside the directory: {name}")]
    PathEscapes { name: String },
    #[error("the patch is for {name}, not for {expected}")]
    FileMismatch { name: String, expected: String },
    #[error("hunk {hunk} of the patch (its line {patch_line}) does not apply: {failure}")]
    ApplyFailed { hunk: usize, patch_line: usize, failure: ApplyFailure },
}

impl PatchError {
    /// The name under which reports and agents hear of it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "patch_too_large",
            Self::Unreadable { .. } => "patch_parse_failed",
            Self::NumberTooLarge { .. } => "patch_number_too_large",
            Self::Empty => "patch_empty",
            Self::SeveralFiles => "patch_several_files",
            Self::CreatesFile => "patch_creates_file",
            Self::DeletesFile => "patch_deletes_file",
            Self::RenamesFile => "patch_renames_file",
            Self::CopiesFile => "patch_copies_file",
            Self::ChangesMode => "patch_changes_mode",
            Self::Binary => "patch_binary",
            Self::PathEscapes { .. } => "patch_path_escapes",
            Self::FileMismatch { .. } => "patch_file_mismatch",
            Self::ApplyFailed { .. } => "patch_apply_failed",
        }
    }

    /// The line of the patched file that it is about, where there is one.
    #[must_use]
    pub fn base_line(&self) -> Option<usize> {
        match self {
            Self::ApplyFailed { failure, .. } => Some(failure.base_line()),
            _ => None,
        }
    }

    /// The line of the patch that it is about, where there is one.
    #[must_use]
    pub fn patch_line(&self) -> Option<usize> {
        match self {
            Self::Unreadable { line, .. } | Self::NumberTooLarge { line } => Some(*line),
            Self::ApplyFailed { patch_line, .. } => Some(*patch_line),
            _ => None,
        }
    }
}

/// Why a hunk has no place in the file. Lines are those of the file, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyFailure {
    #[error(
        "line {line} of the file is not the line that the patch expects there, and its lines occur nowhere else"
    )]
    NotFound { line: usize },
    #[error(
        "its lines are not at line {line} but occur more than once, at lines {first} and {second}"
    )]
    Ambiguous { line: usize, first: usize, second: usize },
    #[error("it has no lines of the file to find its place by, and its header is wrong")]
    NoContext { line: usize },
    #[error("at line {line} it overlaps the hunk before it or comes before it")]
    OutOfOrder { line: usize },
}

impl ApplyFailure {
    /// The line of the file that it is about.
    #[must_use]
    pub fn base_line(self) -> usize {
        match self {
            Self::NotFound { line }
            | Self::Ambiguous { line, .. }
            | Self::NoContext { line }
            | Self::OutOfOrder { line } => line,
        }
    }
}
