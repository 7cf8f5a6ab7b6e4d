//! The tree: directives, instructions, and every word of them with its place in the source.

mod instruction;

use std::{borrow::Cow, ops::Range};

use probity_finding::{Span, TextSlice};

pub(crate) use self::instruction::Extras;
pub use self::instruction::Instruction;
use crate::{SyntaxError, Tokens};

/// A whole Dockerfile.
#[derive(Clone, Debug)]
pub struct Dockerfile<'a> {
    pub text: &'a str,
    /// Every byte of the text, in order.
    pub tokens: Tokens,
    pub directives: Vec<Directive>,
    /// `\` or a backtick.
    pub escape: char,
    pub instructions: Vec<Instruction>,
    /// In the order of the source.
    pub errors: Vec<SyntaxError>,
}

impl Dockerfile<'_> {
    /// The tree without its text, which can then move.
    #[must_use]
    pub fn detached(self) -> DetachedTree {
        let Self { text: _, tokens, directives, escape, instructions, errors } = self;
        DetachedTree { tokens, directives, escape, instructions, errors }
    }
}

/// A tree that has let go of its text.
#[derive(Clone, Debug)]
pub struct DetachedTree {
    tokens: Tokens,
    directives: Vec<Directive>,
    escape: char,
    instructions: Vec<Instruction>,
    errors: Vec<SyntaxError>,
}

impl DetachedTree {
    /// The tree with the text that it was parsed from; with another one its spans mean nothing.
    #[must_use]
    pub fn attached(self, text: &str) -> Dockerfile<'_> {
        let Self { tokens, directives, escape, instructions, errors } = self;
        Dockerfile { text, tokens, directives, escape, instructions, errors }
    }
}

/// A parser directive at the top of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    pub name: DirectiveName,
    pub name_span: Span,
    pub value: String,
    pub value_span: Span,
    /// From `#` to the end of the value.
    pub span: Span,
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DirectiveName {
    Syntax,
    Escape,
    Check,
}

/// A comment line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From `#` to the end of the line.
    pub span: Span,
    /// The text that BuildKit keeps: everything but the first byte of the line, trimmed.
    pub text: Span,
    pub line: usize,
}

/// A part of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub span: Span,
    pub(crate) in_line: Range<u32>,
    /// As BuildKit sees it: joined over continuations. Quotes and escapes are kept in arguments, gone
    /// in flags, and decoded in JSON.
    pub text: TextSlice,
}

/// `--name`, `--name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub span: Span,
    /// Without the dashes.
    pub name: Word,
    pub value: Option<Word>,
    /// The comma-separated parts of the value of `--mount` and `--device`.
    pub options: Box<[FlagOption]>,
}

/// `key` or `key=value` within the value of a flag; the key is in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagOption {
    pub span: Span,
    pub key: Word,
    pub value: Option<Word>,
}

/// The arguments, by the shape that the instruction gives them. What is rare is behind a box, since every
/// instruction has room for the largest shape.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// FROM
    From { image: Option<Box<Word>>, alias: Option<Box<Alias>>, surplus: Box<[Word]> },
    /// ARG, where a value is optional; ENV and LABEL, where `legacy` is `KEY value`.
    Pairs { legacy: bool, pairs: Box<[Pair]> },
    /// COPY, ADD. The source that is a heredoc marker is a word like the others.
    Transfer { json: bool, sources: Box<[Word]>, destination: Option<Box<Word>> },
    /// RUN, CMD, ENTRYPOINT, SHELL
    Command(Command),
    /// HEALTHCHECK: `NONE` or `CMD`, and what follows.
    Healthcheck { kind: Option<Box<Word>>, command: Command },
    /// EXPOSE, VOLUME
    Words { json: bool, words: Box<[Word]> },
    /// USER, WORKDIR, STOPSIGNAL, MAINTAINER, and whatever follows an unknown keyword.
    Text(Option<Word>),
    /// ONBUILD
    Onbuild(Option<Box<Instruction>>),
}

/// A command line in one of its two forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Nothing was written.
    Missing,
    Shell(Word),
    /// The words of the array: spans include the quotes, texts are decoded.
    Json {
        span: Span,
        words: Box<[Word]>,
    },
}

/// `AS name`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    pub keyword: Word,
    pub name: Word,
}

/// `key=value`, or `key` where a value may be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub span: Span,
    pub key: Word,
    pub value: Option<Word>,
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heredoc {
    /// `<<EOF`, with a file descriptor before and quotes behind.
    pub marker: Span,
    pub name: String,
    pub fd: Option<u64>,
    /// Whether variables are expanded in it: no part of the name is quoted.
    pub expand: bool,
    /// `<<-`
    pub strip_tabs: bool,
    /// Whole lines, the last line end included.
    pub body: Span,
    /// The terminator without leading tabs and line end; absent where the file ends first.
    pub terminator: Option<Span>,
}

impl Heredoc {
    /// The content as a build uses it: without leading tabs if the marker was `<<-`.
    #[must_use]
    pub fn content<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let body = self.body.slice(text).unwrap_or_default();
        if !self.strip_tabs {
            return Cow::Borrowed(body);
        }
        let lines = body.split_inclusive('\n').map(|line| line.trim_start_matches('\t'));
        Cow::Owned(lines.collect())
    }
}

impl Flag {
    /// The value of an option of `--mount` or `--device`, by its lower-case key.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&Word> {
        let option = self.options.iter().find(|option| option.key.text == key)?;
        option.value.as_ref()
    }
}
