//! The tree: directives, instructions, and every word of them with its place in the source.

use std::{borrow::Cow, ops::Range};

use probity_finding::{Span, TextSlice};

use crate::{Keyword, Logical, SyntaxError, Tokens, word::BLANKS};

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

/// One instruction, its continuation lines and heredocs included.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// From the keyword to the last byte of the content, terminators of heredocs included.
    pub span: Span,
    pub keyword: Keyword,
    pub keyword_span: Span,
    /// The first and the last line as BuildKit reports them, counted from one.
    pub lines: (usize, usize),
    /// The whole logical line, keyword included. The ranges of words lie in it.
    pub line: Logical,
    /// What stands behind the keyword, in `line`, trimmed.
    pub body: Range<usize>,
    /// What stands behind the flags, in `line`, trimmed.
    pub rest: Range<usize>,
    pub flags: Vec<Flag>,
    pub arguments: Arguments,
    /// In the order of their markers. Those of an `ONBUILD` are held by the nested instruction too.
    pub heredocs: Vec<Heredoc>,
    /// The comment lines above that BuildKit attaches to the instruction.
    pub comments: Vec<Comment>,
    /// The comment lines between continuation lines, which are no part of the instruction.
    pub inner_comments: Vec<Comment>,
    /// Blank lines inside a continuation, each without its line end.
    pub empty_continuations: Vec<Span>,
    /// What is wrong with an instruction behind `ONBUILD` and comes out when it runs, in another build.
    pub trigger_errors: Vec<SyntaxError>,
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
    /// Where the word stands in [`Instruction::line`].
    pub range: Range<usize>,
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
    pub options: Vec<FlagOption>,
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
    From { image: Option<Word>, alias: Option<Box<Alias>>, surplus: Vec<Word> },
    /// ARG, where a value is optional; ENV and LABEL, where `legacy` is `KEY value`.
    Pairs { legacy: bool, pairs: Vec<Pair> },
    /// COPY, ADD. The source that is a heredoc marker is a word like the others.
    Transfer { json: bool, sources: Vec<Word>, destination: Option<Word> },
    /// RUN, CMD, ENTRYPOINT, SHELL
    Command(Command),
    /// HEALTHCHECK: `NONE` or `CMD`, and what follows.
    Healthcheck { kind: Option<Box<Word>>, command: Command },
    /// EXPOSE, VOLUME
    Words { json: bool, words: Vec<Word> },
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
        words: Vec<Word>,
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

impl Instruction {
    /// Gives back the memory that its lists do not need: most have one member and room for four.
    pub(crate) fn shrink(&mut self) {
        self.flags.iter_mut().for_each(|flag| flag.options.shrink_to_fit());
        self.flags.shrink_to_fit();
        self.heredocs.shrink_to_fit();
        self.comments.shrink_to_fit();
        self.inner_comments.shrink_to_fit();
        self.empty_continuations.shrink_to_fit();
        match &mut self.arguments {
            Arguments::Pairs { pairs, .. } => pairs.shrink_to_fit(),
            Arguments::From { surplus: words, .. }
            | Arguments::Transfer { sources: words, .. }
            | Arguments::Words { words, .. }
            | Arguments::Command(Command::Json { words, .. })
            | Arguments::Healthcheck { command: Command::Json { words, .. }, .. } => {
                words.shrink_to_fit();
            }
            Arguments::Onbuild(Some(nested)) => nested.shrink(),
            Arguments::Command(_)
            | Arguments::Healthcheck { .. }
            | Arguments::Text(_)
            | Arguments::Onbuild(None) => {}
        }
    }

    /// The keyword as it is written, joined.
    #[must_use]
    pub fn keyword_text(&self) -> &str {
        let text = self.line.text.trim_start();
        text.split(BLANKS).next().unwrap_or_default()
    }

    /// The text behind the keyword, joined.
    #[must_use]
    pub fn body_text(&self) -> &str {
        self.line.slice(self.body.clone())
    }

    /// The text behind the flags, joined.
    #[must_use]
    pub fn rest_text(&self) -> &str {
        self.line.slice(self.rest.clone())
    }

    /// The flags of this name.
    pub fn flags_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Flag> {
        self.flags.iter().filter(move |flag| flag.name.text == name)
    }

    /// The value of the first flag of this name.
    #[must_use]
    pub fn flag_value<'a>(&'a self, name: &'a str) -> Option<&'a Word> {
        self.flags_named(name).find_map(|flag| flag.value.as_ref())
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
