//! Folding ranges and selection ranges.

use gen_lsp_types::{
    FoldingRange, FoldingRangeKind, FoldingRangeParams, Range, SelectionRange, SelectionRangeParams,
};
use probity_dockerfile::{Dockerfile, Facts, TokenKind};
use probity_finding::Span;
use serde_json::Value;

use super::{Answer, View, places, typed};
use crate::{host::DocumentKind, lines::small};

/// Stages, instructions of several lines, heredocs, and blocks of comments.
pub(super) fn folding(view: &View<'_>, params: Value) -> Answer {
    typed(params, |_: FoldingRangeParams| {
        if view.document.kind != DocumentKind::Dockerfile {
            return Ok(Vec::new());
        }
        let (file, facts) = view.parsed();
        let mut found: Vec<(Span, Option<FoldingRangeKind>)> = Vec::new();
        for stage in facts.stages() {
            let own = file.instructions.get(stage.instructions.clone()).unwrap_or_default();
            let whole = own.iter().map(|instruction| instruction.span).reduce(Span::to);
            found.extend(whole.map(|span| (span, Some(FoldingRangeKind::Region))));
        }
        for instruction in &file.instructions {
            found.push((instruction.span, None));
            found.extend(instruction.heredocs().iter().map(|heredoc| (heredoc.body, None)));
        }
        found.extend(comments(view, &file).map(|span| (span, Some(FoldingRangeKind::Comment))));
        let mut ranges: Vec<FoldingRange> = Vec::new();
        for (span, kind) in found {
            let text = span.slice(view.text()).unwrap_or_default();
            let end = span.start + text.trim_end().len();
            let (first, last) = (view.lines.line_of(span.start), view.lines.line_of(end));
            let is_known = |range: &FoldingRange| {
                (range.start_line, range.end_line) == (small(first), small(last))
            };
            if first < last && !ranges.iter().any(is_known) {
                ranges.push(FoldingRange {
                    start_line: small(first),
                    end_line: small(last),
                    kind,
                    ..FoldingRange::default()
                });
            }
        }
        ranges.sort_by_key(|range| (range.start_line, std::cmp::Reverse(range.end_line)));
        Ok(ranges)
    })
}

/// Comment lines that follow each other.
fn comments(view: &View<'_>, file: &Dockerfile<'_>) -> impl Iterator<Item = Span> {
    let mut blocks: Vec<Span> = Vec::new();
    for token in file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
        let line = view.lines.line_of(token.span.start);
        match blocks.last_mut() {
            Some(last) if view.lines.line_of(last.end) + 1 == line => last.end = token.span.end,
            _ => blocks.push(token.span),
        }
    }
    blocks.into_iter()
}

/// From the word to the part of the line, the instruction, the stage and the file.
pub(super) fn selection(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: SelectionRangeParams| {
        let (file, facts) = view.parsed();
        let of = |position| selected(view, &file, &facts, view.lines.offset(position));
        Ok(params.positions.into_iter().map(of).collect::<Vec<_>>())
    })
}

fn selected(view: &View<'_>, file: &Dockerfile<'_>, facts: &Facts, at: usize) -> SelectionRange {
    let touches = |span: Span| span.start <= at && at <= span.end;
    let mut spans = vec![Span::new(0, view.text().len())];
    if let Some((index, instruction)) = places::instruction_at(file, at) {
        if let Some(stage) = facts.stage_of(index) {
            let own = file.instructions.get(stage.instructions.clone()).unwrap_or_default();
            spans.extend(own.iter().map(|instruction| instruction.span).reduce(Span::to));
        }
        spans.push(instruction.span);
        spans.extend(
            instruction.heredocs().iter().map(|heredoc| heredoc.body).filter(|body| touches(*body)),
        );
    }
    let line = view.lines.line_span(view.lines.line_of(at));
    let tokens = file.tokens.iter().filter(|token| token.kind != TokenKind::LineEnd);
    spans.extend(tokens.map(|token| token.span).find(|span| touches(*span) && !span.is_empty()));
    let text = line.slice(view.text()).unwrap_or_default();
    let column = at - line.start;
    let is_space = |char: char| char.is_whitespace();
    let start = text[..column].rfind(is_space).map_or(0, |space| space + 1);
    let end = text[column..].find(is_space).map_or(text.len(), |space| column + space);
    spans.push(Span::new(line.start + start, line.start + end));
    // Each has to lie in the one before, and to be another.
    let mut chain: Option<SelectionRange> = None;
    let mut outer: Option<Span> = None;
    spans.sort_by_key(|span| std::cmp::Reverse(span.len()));
    for span in spans {
        let fits = outer.is_none_or(|outer| outer.encloses(span) && outer != span);
        if fits && touches(span) {
            let range = view.range(span);
            chain = Some(SelectionRange { range, parent: chain.map(Box::new) });
            outer = Some(span);
        }
    }
    let nowhere = SelectionRange { range: Range::default(), parent: None };
    chain.unwrap_or(nowhere)
}
