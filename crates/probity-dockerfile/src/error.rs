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
    /// A pair without a value: `ENV name`.
    MissingValue,
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

/// Takes the errors of one instruction, or of one line that is not part of any.
#[derive(Debug)]
pub(crate) struct Report<'e> {
    pub(crate) errors: &'e mut Vec<SyntaxError>,
    pub(crate) line: usize,
}

impl Report<'_> {
    pub(crate) fn error(&mut self, code: ErrorKind, span: Span, message: impl Into<String>) {
        self.errors.push(SyntaxError {
            code,
            span,
            line: self.line,
            message: message.into(),
            help: None,
        });
    }

    pub(crate) fn error_with_help(
        &mut self,
        code: ErrorKind,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        let help = help.into();
        self.errors.push(SyntaxError {
            code,
            span,
            line: self.line,
            message: message.into(),
            help,
        });
    }
}
