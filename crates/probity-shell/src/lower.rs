//! From the tree of the parser crate to ours.
//!
//! The parser's spans of whole commands often reach into what follows, so only the spans of words,
//! keywords and operators are taken from it; the rest is put together from those.

mod command;
mod compound;
mod expansion;
mod literal;
mod word;

use std::ops::Range;

use probity_finding::Span;
use shuck_ast::{BinaryOp, Command as Node, CompoundCommand, Stmt, StmtSeq, StmtTerminator};

use crate::{Block, BlockKind, Command, Dialect, Joiner, Pipeline, Place, Stage, StageKind};

/// What has been lowered so far.
pub(crate) struct Lower<'t> {
    pub(crate) text: &'t str,
    pub(crate) dialect: Dialect,
    /// From ranges of the text to spans of the file.
    pub(crate) place: &'t dyn Fn(Range<usize>) -> Span,
    pub(crate) commands: Vec<Command>,
    pub(crate) blocks: Vec<Block>,
    /// What the spans of parts may not leave, whatever the parser says.
    bounds: Range<usize>,
}

/// What stands before a pipeline.
#[derive(Clone, Copy)]
struct Join {
    joiner: Joiner,
    range: Option<(usize, usize)>,
}

/// A pipeline before it is lowered.
struct Members<'s> {
    stages: Vec<(Option<Range<usize>>, &'s Stmt)>,
    negated: bool,
    timed: bool,
    /// Where `!` or `time` is written.
    start: Option<usize>,
}

impl<'t> Lower<'t> {
    pub(crate) fn new(
        text: &'t str,
        dialect: Dialect,
        place: &'t dyn Fn(Range<usize>) -> Span,
    ) -> Self {
        let bounds = 0..text.len();
        Self { text, dialect, place, commands: Vec::new(), blocks: Vec::new(), bounds }
    }

    /// Lowers a list of commands; gives the index of the block and where its content stands.
    pub(crate) fn block(
        &mut self,
        kind: BlockKind,
        parent: Option<Place>,
        list: &StmtSeq,
        within: Range<usize>,
    ) -> (usize, Range<usize>) {
        let statements: Vec<&Stmt> = list.stmts.iter().collect();
        self.statements(kind, parent, &statements, within)
    }

    pub(crate) fn statements(
        &mut self,
        kind: BlockKind,
        parent: Option<Place>,
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
            commands: first..first,
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
            block.commands = first..last;
        }
        self.bounds = outer;
        (index, content.unwrap_or(within.start..within.start))
    }

    /// What joins the statement behind this one.
    fn join_after(&self, statement: &Stmt, terminator: Option<Range<usize>>, end: usize) -> Join {
        let joiner = match statement.terminator {
            Some(StmtTerminator::Background(_)) => Joiner::Background,
            Some(StmtTerminator::Semicolon) => Joiner::Semicolon,
            None => Joiner::Newline,
        };
        if let Some(range) = terminator {
            return Join { joiner, range: Some((range.start, range.end)) };
        }
        // Lists within keywords come without their terminators.
        let rest = self.text.get(end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let at = end + blank;
        let joiner = match rest.as_bytes().get(blank) {
            Some(b';') => Joiner::Semicolon,
            Some(b'&') => Joiner::Background,
            _ => joiner,
        };
        let written = rest.as_bytes().get(blank).is_some_and(|byte| b";&\n".contains(byte));
        Join { joiner, range: written.then_some((at, at + 1)) }
    }

    /// The pipelines of a statement in order. The parser nests them to the left, as deep as there
    /// are operators.
    fn and_or<'s>(&self, statement: &'s Stmt, first: Join) -> Vec<(Join, Members<'s>)> {
        let mut links = Vec::new();
        let mut left = statement;
        while let Node::Binary(binary) = &left.command {
            let joiner = match binary.op {
                BinaryOp::And => Joiner::And,
                BinaryOp::Or => Joiner::Or,
                BinaryOp::Pipe | BinaryOp::PipeAll => break,
            };
            let range = self.range(binary.op_span);
            let join = Join { joiner, range: Some((range.start, range.end)) };
            links.push((join, self.members(&binary.right)));
            left = &binary.left;
        }
        links.push((first, self.members(left)));
        links.reverse();
        links
    }

    /// The commands of a pipeline in order, and what stands before it.
    fn members<'s>(&self, statement: &'s Stmt) -> Members<'s> {
        let mut found = Members { stages: Vec::new(), negated: false, timed: false, start: None };
        let mut left = statement;
        loop {
            if left.negated {
                found.negated = true;
                found.start = Some(self.range(left.span).start);
            }
            match &left.command {
                Node::Compound(CompoundCommand::Time(time)) => {
                    found.timed = true;
                    found.start.get_or_insert(self.range(time.span).start);
                    let Some(inner) = &time.command else { break };
                    left = inner;
                }
                Node::Binary(binary) if matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) => {
                    found.stages.push((Some(self.range(binary.op_span)), &*binary.right));
                    left = &binary.left;
                }
                _ => {
                    found.stages.push((None, left));
                    break;
                }
            }
        }
        found.stages.reverse();
        found
    }

    fn pipeline(
        &mut self,
        block: usize,
        join: Join,
        members: Members<'_>,
        background: bool,
    ) -> Range<usize> {
        let pipeline = self.blocks.get(block).map_or(0, |block| block.pipelines.len());
        let empty = Pipeline {
            span: self.span(self.bounds.clone()),
            joiner: join.joiner,
            joiner_span: join.range.map(|(start, end)| self.span(start..end)),
            negated: members.negated,
            timed: members.timed,
            background,
            stages: Vec::new(),
        };
        if let Some(block) = self.blocks.get_mut(block) {
            block.pipelines.push(empty);
        }
        let mut stages = Vec::new();
        let mut all: Option<Range<usize>> = members.start.map(|start| start..start);
        for (stage, (pipe, statement)) in members.stages.into_iter().enumerate() {
            let place = Place { block, pipeline, stage };
            let (kind, range) = self.stage(place, statement);
            all = Some(all.map_or(range.clone(), |all| union(&all, &range)));
            let pipe = pipe.map(|range| self.span(range));
            stages.push(Stage { span: self.span(range), pipe, kind });
        }
        let all = all.unwrap_or(self.bounds.start..self.bounds.start);
        let span = self.span(all.clone());
        let known = self.blocks.get_mut(block).and_then(|it| it.pipelines.get_mut(pipeline));
        if let Some(known) = known {
            known.stages = stages;
            known.span = span;
        }
        all
    }

    fn stage(&mut self, place: Place, statement: &Stmt) -> (StageKind, Range<usize>) {
        match &statement.command {
            Node::Simple(_) | Node::Builtin(_) | Node::Decl(_) => {
                let (index, range) = self.command(place, statement);
                (StageKind::Command(index), range)
            }
            _ => {
                let (compound, range) = self.compound(place, statement);
                (StageKind::Compound(compound), range)
            }
        }
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
