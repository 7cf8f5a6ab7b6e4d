//! Pipelines and what joins them.

use std::ops::Range;

use shuck_ast::{BinaryOp, Command as Node, CompoundCommand, Stmt, StmtTerminator};

use crate::{
    CommandPlace, Joiner, Pipeline, Stage, StageKind,
    lower::{Lower, union},
};

/// What stands before a pipeline.
#[derive(Clone, Copy)]
pub(super) struct Join {
    pub(super) joiner: Joiner,
    pub(super) range: Option<(usize, usize)>,
}

/// A pipeline before it is lowered.
pub(super) struct Members<'s> {
    stages: Vec<(Option<Range<usize>>, &'s Stmt)>,
    negated: bool,
    timed: bool,
    /// Where `!` or `time` is written.
    start: Option<usize>,
}

impl Lower<'_> {
    /// What joins the statement behind this one.
    pub(super) fn join_after(
        &self,
        statement: &Stmt,
        terminator: Option<Range<usize>>,
        end: usize,
    ) -> Join {
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
        // The parser was given a line end in place of these.
        for (operator, joiner) in [("&&", Joiner::And), ("||", Joiner::Or)] {
            if rest.get(blank..).is_some_and(|rest| rest.starts_with(operator)) {
                return Join { joiner, range: Some((at, at + operator.len())) };
            }
        }
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
    pub(super) fn and_or<'s>(&self, statement: &'s Stmt, first: Join) -> Vec<(Join, Members<'s>)> {
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
        let mut found =
            Members { stages: Vec::with_capacity(1), negated: false, timed: false, start: None };
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

    pub(super) fn pipeline(
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
            joiner_span: join.range.map(|(start, end)| self.span(start..end)).into(),
            negated: members.negated,
            timed: members.timed,
            background,
            stages: Box::default(),
            is_in_last_chain: false,
        };
        if let Some(block) = self.blocks.get_mut(block) {
            block.pipelines.push(empty);
        }
        let mut stages = Vec::with_capacity(members.stages.len());
        let mut all: Option<Range<usize>> = members.start.map(|start| start..start);
        for (stage, (pipe, statement)) in members.stages.into_iter().enumerate() {
            let place = CommandPlace::new(block, pipeline, stage);
            let (kind, range) = self.stage(place, statement);
            all = Some(all.map_or(range.clone(), |all| union(&all, &range)));
            let pipe = pipe.map(|range| self.span(range)).into();
            stages.push(Stage { span: self.span(range), pipe, kind });
        }
        let all = all.unwrap_or(self.bounds.start..self.bounds.start);
        let span = self.span(all.clone());
        let known = self.blocks.get_mut(block).and_then(|block| block.pipelines.get_mut(pipeline));
        if let Some(known) = known {
            known.stages = stages.into();
            known.span = span;
        }
        all
    }

    fn stage(&mut self, place: CommandPlace, statement: &Stmt) -> (StageKind, Range<usize>) {
        match &statement.command {
            Node::Simple(_) | Node::Builtin(_) | Node::Decl(_) => {
                let (index, range) = self.command(place, statement);
                (StageKind::Command(index), range)
            }
            _ => {
                let (compound, range) = self.compound(place, statement);
                (StageKind::Compound(Box::new(compound)), range)
            }
        }
    }
}
