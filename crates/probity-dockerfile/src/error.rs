//! What is wrong with a Dockerfile, as values; parsing goes on behind every one of them.

use probity_finding::Span;

/// One thing that makes BuildKit reject the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub code: ErrorKind,
    pub span: Span,
    /// The line that BuildKit would name, counted from one.
    pub line: usize,
    pub message: String,
    /// What to write instead, where one can tell.
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    NoInstructions,
    NoStages,
    InstructionBeforeFrom,
    UnknownInstruction,
    LineTooLong,
    DuplicateDirective,
    InvalidEscapeDirective,
    UnterminatedHeredoc,
    InvalidHeredoc,
    HeredocDestination,
    UnknownFlag,
    DuplicateFlag,
    MissingFlagValue,
    InvalidFlagValue,
    MissingArguments,
    WrongArgumentCount,
    BlankName,
    MissingEquals,
    NotJson,
    NonStringJson,
    InvalidOnbuild,
    InvalidStageName,
    InvalidHealthcheck,
    InvalidDuration,
    InvalidPort,
    InvalidSignal,
    InvalidMount,
    EmptyVolume,
}
