//! Lists of commands within compound ones: between keywords or between brackets.

use std::ops::Range;

use shuck_ast::{Stmt, StmtSeq};

use crate::{BlockKind, CommandPlace, Compound, lower::Lower};

impl Lower<'_> {
    /// A list between keywords. Its span is that of its commands.
    pub(super) fn list(
        &mut self,
        place: CommandPlace,
        kind: BlockKind,
        list: &StmtSeq,
        made: &mut Compound,
    ) -> Range<usize> {
        let within = self.range(list.span);
        let statements: Vec<&Stmt> = list.stmts.iter().collect();
        self.nested(place, kind, &statements, within, made)
    }

    pub(super) fn nested(
        &mut self,
        place: CommandPlace,
        kind: BlockKind,
        statements: &[&Stmt],
        within: Range<usize>,
        made: &mut Compound,
    ) -> Range<usize> {
        // Spans of lists begin at the first word, which a parenthesis of a nested one precedes.
        let outer = self.clamp(0..self.text.len());
        let (index, content) = self.statements(kind, Some(place), statements, outer);
        let empty = content.is_empty();
        let content = if empty { within.start..within.start } else { content };
        let span = self.span(content.clone());
        if let Some(block) = self.blocks.get_mut(index) {
            block.span = span;
        }
        made.blocks.push(index);
        content
    }

    /// A list between two brackets; gives the range with them.
    pub(super) fn delimited(
        &mut self,
        place: CommandPlace,
        kind: BlockKind,
        list: &StmtSeq,
        [open, close]: [char; 2],
        made: &mut Compound,
    ) -> Range<usize> {
        let content = self.list(place, kind, list, made);
        let start = self.before(content.start, open).unwrap_or(content.start);
        let rest = self.slice(&self.clamp(content.end..self.text.len()));
        let skipped = rest.trim_start_matches([' ', '\t', '\n', ';', '&']);
        let end = match skipped.strip_prefix(close) {
            Some(_) => content.end + (rest.len() - skipped.len()) + 1,
            None => self.range(list.span).end.max(content.end),
        };
        start..end
    }

    /// Where a bracket stands that only blanks separate from `at`.
    pub(super) fn before(&self, at: usize, open: char) -> Option<usize> {
        let text = self.slice(&self.clamp(0..at));
        let text = text.trim_end_matches([' ', '\t', '\n']).strip_suffix(open)?;
        Some(self.clamp(0..0).start + text.len())
    }
}
