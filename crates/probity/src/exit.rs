//! Every exit code, in one place. `docs/exit-codes.md` is the same table for readers.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing to object to, or nothing at or above the fail level.
    Clean,
    /// Findings at or above the fail level; with `--diff`, something would change.
    Findings,
    /// The command could not do its work: usage, configuration, a missing path, a failed write.
    Failure,
    /// `check` found no file to look at.
    NoFiles,
    /// `check` counted nothing but syntax findings.
    SyntaxOnly,
    /// `audit` could not do its work; its specification gives errors this code.
    AuditError,
    /// `audit` wrote its report, and a skill failed.
    SkillFailed,
    /// What the program that was run said, or what a shell would have said in its place.
    Program(u8),
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings | Self::AuditError => 1,
            Self::Failure => 2,
            Self::NoFiles | Self::SkillFailed => 3,
            Self::SyntaxOnly => 4,
            Self::Program(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
