//! A simple command: assignments, words, redirections, and where it stands.

use std::borrow::Cow;

use probity_finding::Span;

use crate::{Call, Word, script::compact};

/// A simple command: `A=b name argument >file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// From the first assignment, word or redirection to the last.
    pub span: Span,
    /// The name and the arguments. Empty where only assignments or redirections are written.
    pub words: Box<[Word]>,
    extras: Option<Box<Extras>>,
    pub place: CommandPlace,
    /// How many words belong to wrappers such as `sudo`. Rules ask this of every command, most of
    /// them more than once.
    wrapped: u32,
}

/// What most commands have nothing of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) declarations: Vec<Assignment>,
    pub(crate) redirections: Vec<Redirection>,
}

/// Where something stands: in which block, in which pipeline of it, as which stage of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandPlace {
    block: u32,
    pipeline: u32,
    stage: u32,
}

impl CommandPlace {
    pub(crate) fn new(block: usize, pipeline: usize, stage: usize) -> Self {
        Self { block: compact(block), pipeline: compact(pipeline), stage: compact(stage) }
    }

    /// The index in [`crate::Script::blocks`].
    #[must_use]
    pub fn block(self) -> usize {
        self.block as usize
    }

    /// The index in [`crate::Block::pipelines`].
    #[must_use]
    pub fn pipeline(self) -> usize {
        self.pipeline as usize
    }

    /// The index in [`crate::Pipeline::stages`].
    #[must_use]
    pub fn stage(self) -> usize {
        self.stage as usize
    }
}

/// `NAME=value`, `NAME+=value`, `NAME=(…)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub span: Span,
    pub name: String,
    pub name_span: Span,
    /// `+=`
    pub append: bool,
    /// Absent for an array. `NAME=` has a value that is empty.
    pub value: Option<Word>,
    /// The elements of an array.
    pub elements: Vec<Word>,
}

/// `2>&1`, `>file`, `<<EOF`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    pub span: Span,
    /// The number before the operator.
    pub fd: Option<i32>,
    pub kind: RedirectionKind,
    /// The word behind the operator; absent for a here-document.
    pub target: Option<Word>,
    pub here_document: Option<HereDocument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `>`
    Output,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<`
    Input,
    /// `<>`
    ReadWrite,
    /// `<<`, `<<-`
    HereDocument,
    /// `<<<`
    HereString,
    /// `>&1`
    DuplicateOutput,
    /// `<&0`
    DuplicateInput,
    /// `&>`
    OutputAndError,
}

/// The text of `<<EOF`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    pub delimiter: String,
    pub delimiter_span: Span,
    /// Whole lines, the last line end included; without the terminator.
    pub body: Span,
    /// Whether the shell expands it: no part of the delimiter is quoted.
    pub expand: bool,
    /// `<<-`
    pub strip_tabs: bool,
    /// The body as a word, quoted throughout, where it is expanded; not for the second one of a line.
    pub word: Option<Word>,
}

impl Command {
    pub(crate) fn new(
        span: Span,
        place: CommandPlace,
        words: Vec<Word>,
        mut extras: Extras,
    ) -> Self {
        extras.redirections.shrink_to_fit();
        extras.declarations.shrink_to_fit();
        let extras = (extras != Extras::default()).then(|| Box::new(extras));
        let wrapped = compact(Call::of(&words).peeled().wrappers.len());
        Self { span, words: words.into(), extras, place, wrapped }
    }

    /// Those before the name. What `export A=b` sets is in `declarations`, and a word too.
    #[must_use]
    pub fn assignments(&self) -> &[Assignment] {
        self.extras.as_deref().map(|extras| &*extras.assignments).unwrap_or_default()
    }

    /// The assignments among the arguments of `export`, `local`, `readonly`, `declare`, `typeset`.
    #[must_use]
    pub fn declarations(&self) -> &[Assignment] {
        self.extras.as_deref().map(|extras| &*extras.declarations).unwrap_or_default()
    }

    #[must_use]
    pub fn redirections(&self) -> &[Redirection] {
        self.extras.as_deref().map(|extras| &*extras.redirections).unwrap_or_default()
    }

    /// The command as it is written.
    #[must_use]
    pub fn call(&self) -> Call<'_> {
        Call::of(&self.words)
    }

    /// The command that is run in the end, with `sudo`, `env A=b`, `exec`, `time` and the like taken
    /// off.
    #[must_use]
    pub fn effective(&self) -> Call<'_> {
        let (wrappers, words) =
            self.words.split_at_checked(self.wrapped as usize).unwrap_or_default();
        Call { wrappers, words }
    }

    /// The name as it is written, without directories: `/usr/bin/apt-get` is `apt-get`.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'_, str>> {
        self.call().name()
    }

    /// See [`Call::has_flag`].
    #[must_use]
    pub fn has_flag(&self, flags: &[&str]) -> bool {
        self.call().has_flag(flags)
    }

    /// See [`Call::positional`].
    #[must_use]
    pub fn positional(&self, valued: &[&str]) -> Vec<&Word> {
        self.call().positional(valued)
    }
}
