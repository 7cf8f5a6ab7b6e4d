//! One instruction. A long file has a hundred thousand of them, so what most lack is behind a box, and
//! what follows from the line is not kept.

use std::ops::Range;

use probity_finding::Span;

use crate::{
    Arguments, Comment, Flag, Heredoc, Keyword, Logical, SyntaxError, Word,
    compact::compact,
    word::{self, BLANKS},
};

/// One instruction, its continuation lines and heredocs included.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// From the keyword to the last byte of the content, terminators of heredocs included.
    pub span: Span,
    /// The whole logical line, keyword included. The ranges of words lie in it.
    pub line: Logical,
    pub flags: Box<[Flag]>,
    pub arguments: Arguments,
    pub(crate) extras: Option<Box<Extras>>,
    first_line: u32,
    last_line: u32,
    /// Where the text behind the flags begins, in `line`.
    rest_start: u32,
    pub keyword: Keyword,
}

/// What stands around an instruction or is wrong with it. Most instructions have nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    pub(crate) heredocs: Box<[Heredoc]>,
    pub(crate) comments: Box<[Comment]>,
    pub(crate) inner_comments: Box<[Comment]>,
    pub(crate) empty_continuations: Box<[Span]>,
    pub(crate) trigger_errors: Box<[SyntaxError]>,
}

impl Extras {
    pub(crate) fn unless_empty(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

impl Instruction {
    /// An instruction of one line, without what stands around it.
    pub(crate) fn new(
        line: Logical,
        keyword: Keyword,
        flags: Vec<Flag>,
        rest_start: usize,
        arguments: Arguments,
    ) -> Self {
        let mut made = Self {
            span: Span::at(0),
            line,
            flags: flags.into(),
            arguments,
            extras: None,
            first_line: 0,
            last_line: 0,
            rest_start: compact(rest_start),
            keyword,
        };
        let (keyword, body) = (made.keyword_range(), made.body());
        let end = if body.is_empty() { keyword.end } else { body.end };
        made.span = made.line.span(keyword.start..end);
        made
    }

    pub(crate) fn set_lines(&mut self, first: usize, last: usize) {
        (self.first_line, self.last_line) = (compact(first), compact(last));
        if let Arguments::Onbuild(Some(nested)) = &mut self.arguments {
            nested.set_lines(first, last);
        }
    }

    /// The first and the last line as BuildKit reports them, counted from one.
    #[must_use]
    pub fn lines(&self) -> (usize, usize) {
        (self.first_line as usize, self.last_line as usize)
    }

    fn keyword_range(&self) -> Range<usize> {
        let whole = word::trim(&self.line, 0..self.line.text.len());
        let text = self.line.slice(whole.clone());
        whole.start..whole.start + text.find(BLANKS).unwrap_or(text.len())
    }

    #[must_use]
    pub fn keyword_span(&self) -> Span {
        self.line.span(self.keyword_range())
    }

    /// The keyword as it is written, joined.
    #[must_use]
    pub fn keyword_text(&self) -> &str {
        self.line.slice(self.keyword_range())
    }

    /// What stands behind the keyword, in `line`, trimmed.
    fn body(&self) -> Range<usize> {
        word::trim(&self.line, self.keyword_range().end..self.line.text.trim_end().len())
    }

    /// The text behind the keyword, joined.
    #[must_use]
    pub fn body_text(&self) -> &str {
        self.line.slice(self.body())
    }

    /// What stands behind the flags, in `line`, trimmed.
    #[must_use]
    pub fn rest(&self) -> Range<usize> {
        let start = self.rest_start as usize;
        start..self.line.text.trim_end().len().max(start)
    }

    /// The text behind the flags, joined.
    #[must_use]
    pub fn rest_text(&self) -> &str {
        self.line.slice(self.rest())
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

    /// In the order of their markers. Those of an `ONBUILD` are held by the nested instruction too.
    #[must_use]
    pub fn heredocs(&self) -> &[Heredoc] {
        self.extras.as_deref().map(|extras| &*extras.heredocs).unwrap_or_default()
    }

    /// The comment lines above that BuildKit attaches to the instruction.
    #[must_use]
    pub fn comments(&self) -> &[Comment] {
        self.extras.as_deref().map(|extras| &*extras.comments).unwrap_or_default()
    }

    /// The comment lines between continuation lines. They do not belong to the instruction.
    #[must_use]
    pub fn inner_comments(&self) -> &[Comment] {
        self.extras.as_deref().map(|extras| &*extras.inner_comments).unwrap_or_default()
    }

    /// Blank lines inside a continuation, each without its line end.
    #[must_use]
    pub fn empty_continuations(&self) -> &[Span] {
        self.extras.as_deref().map(|extras| &*extras.empty_continuations).unwrap_or_default()
    }

    /// What is wrong with an instruction behind `ONBUILD` and comes out when it runs, in another build.
    #[must_use]
    pub fn trigger_errors(&self) -> &[SyntaxError] {
        self.extras.as_deref().map(|extras| &*extras.trigger_errors).unwrap_or_default()
    }
}
