//! From the tree of the parser crate to ours.
//!
//! The parser's spans of whole commands often reach into what follows, so only the spans of words,
//! keywords and operators are taken from it; the rest is put together from those.

mod command;
mod compound;
mod expansion;
mod list;
mod literal;
mod pipeline;
mod redirection;
mod word;

use std::ops::Range;

use probity_finding::{Span, TextSlice};
use shuck_ast::{Stmt, StmtSeq, StmtTerminator};

use crate::{
    Block, BlockKind, Command, CommandPlace, Dialect, Joiner, inner::Inner, lower::pipeline::Join,
    script::compact,
};

/// What has been lowered so far.
pub(crate) struct Lower<'t> {
    pub(crate) text: &'t str,
    pub(crate) dialect: Dialect,
    /// From ranges of the text to spans of the file.
    pub(crate) place: &'t dyn Fn(Range<usize>) -> Span,
    pub(crate) commands: Vec<Command>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) inner: Vec<Inner>,
    /// The text again; words are pieces of it.
    whole: TextSlice,
    /// What the spans of parts may not leave, whatever the parser says.
    bounds: Range<usize>,
}

impl<'t> Lower<'t> {
    pub(crate) fn new(
        text: &'t TextSlice,
        dialect: Dialect,
        place: &'t dyn Fn(Range<usize>) -> Span,
    ) -> Self {
        let bounds = 0..text.len();
        let (commands, blocks, inner) = (Vec::new(), Vec::new(), Vec::new());
        let whole = text.clone();
        Self { text, dialect, place, commands, blocks, inner, whole, bounds }
    }

    /// Lowers a list of commands; gives the index of the block and where its content stands.
    pub(crate) fn block(
        &mut self,
        kind: BlockKind,
        parent: Option<CommandPlace>,
        list: &StmtSeq,
        within: Range<usize>,
    ) -> (usize, Range<usize>) {
        let statements: Vec<&Stmt> = list.stmts.iter().collect();
        self.statements(kind, parent, &statements, within)
    }

    pub(crate) fn statements(
        &mut self,
        kind: BlockKind,
        parent: Option<CommandPlace>,
        statements: &[&Stmt],
        within: Range<usize>,
    ) -> (usize, Range<usize>) {
        let outer = std::mem::replace(&mut self.bounds, within.clone());
        let index = self.blocks.len();
        let first = self.commands.len();
        let block = Block {
            kind,
            span: self.span(within.clone()),
            parent,
            command_range: compact(first)..compact(first),
            pipelines: Vec::new(),
        };
        self.blocks.push(block);
        let mut join = Join { joiner: Joiner::First, range: None };
        let mut content: Option<Range<usize>> = None;
        for statement in statements {
            let background = matches!(statement.terminator, Some(StmtTerminator::Background(_)));
            let terminator = statement.terminator_span.map(|span| self.range(span));
            for (link, member) in self.and_or(statement, join) {
                let range = self.pipeline(index, link, member, background);
                content = Some(content.map_or(range.clone(), |all| union(&all, &range)));
            }
            let end = content.as_ref().map_or(within.start, |range| range.end);
            join = self.join_after(statement, terminator, end);
        }
        let last = self.commands.len();
        if let Some(block) = self.blocks.get_mut(index) {
            block.command_range = compact(first)..compact(last);
            block.pipelines.shrink_to_fit();
            for pipeline in block.pipelines.iter_mut().rev() {
                pipeline.is_in_last_chain = true;
                if pipeline.joiner != Joiner::And {
                    break;
                }
            }
        }
        self.bounds = outer;
        (index, content.unwrap_or(within.start..within.start))
    }

    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        (self.place)(range)
    }

    /// A range of the text that is sure to lie within the bounds and on borders of characters.
    pub(crate) fn range(&self, span: shuck_ast::Span) -> Range<usize> {
        self.clamp(span.start.offset()..span.end.offset())
    }

    pub(crate) fn clamp(&self, range: Range<usize>) -> Range<usize> {
        let clamp = |offset: usize| {
            let offset = offset.clamp(self.bounds.start, self.bounds.end);
            self.text.floor_char_boundary(offset)
        };
        let (start, end) = (clamp(range.start), clamp(range.end));
        start..end.max(start)
    }

    pub(crate) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The same as a piece of the text that all words share.
    pub(crate) fn shared(&self, range: &Range<usize>) -> TextSlice {
        self.whole.slice(range.clone())
    }

    /// A piece of the text where it says just that, or else the other text.
    pub(crate) fn same_or_own(&self, range: &Range<usize>, text: &str) -> TextSlice {
        let written = self.shared(range);
        if written == *text { written } else { text.into() }
    }

    /// Runs with bounds that are at most these.
    pub(crate) fn within<T>(
        &mut self,
        range: &Range<usize>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let inner = self.clamp(range.clone());
        let outer = std::mem::replace(&mut self.bounds, inner);
        let result = run(self);
        self.bounds = outer;
        result
    }
}

pub(crate) fn union(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}
