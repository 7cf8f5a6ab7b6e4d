//! Semantic tokens: what each part of a line is.

use gen_lsp_types::{
    SemanticToken, SemanticTokens, SemanticTokensLegend, SemanticTokensParams,
    SemanticTokensRangeParams,
};
use probity_dockerfile::{Arguments, Dockerfile, Facts, TokenKind};
use probity_finding::Span;
use serde_json::Value;

use super::{Answer, View, places, typed};
use crate::{host::DocumentKind, lines::small};

/// The kinds, by their number in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Keyword,
    Comment,
    Directive,
    Flag,
    Variable,
    Stage,
    Image,
    String,
    Heredoc,
}

const NAMES: [&str; 9] = [
    "keyword",
    "comment",
    "macro",
    "parameter",
    "variable",
    "namespace",
    "type",
    "string",
    "string",
];

pub(crate) fn legend() -> SemanticTokensLegend {
    let token_types = NAMES.map(str::to_owned).into();
    SemanticTokensLegend { token_types, token_modifiers: Vec::new() }
}

pub(super) fn full(view: &View<'_>, params: Value) -> Answer {
    typed(params, |_: SemanticTokensParams| Ok(tokens(view, Span::new(0, view.text().len()))))
}

pub(super) fn range(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: SemanticTokensRangeParams| {
        Ok(tokens(view, view.lines.span(params.range)))
    })
}

fn tokens(view: &View<'_>, wanted: Span) -> SemanticTokens {
    if view.document.kind != DocumentKind::Dockerfile {
        return SemanticTokens { result_id: None, data: Vec::new() };
    }
    let (file, facts) = view.parsed();
    let mut data = Vec::new();
    let (mut last_line, mut last_column) = (0, 0);
    let touches = |span: &Span| span.start < wanted.end && wanted.start < span.end;
    for (span, class) in classified(&file, &facts) {
        for part in by_line(view, span).filter(&touches) {
            let start = view.lines.position(part.start);
            let text = part.slice(view.text()).unwrap_or_default();
            let is_same_line = start.line == last_line;
            data.push(SemanticToken {
                delta_line: start.line - last_line,
                delta_start: if is_same_line {
                    start.character - last_column
                } else {
                    start.character
                },
                length: small(view.lines.encoding().length(text)),
                token_type: class as u32,
                token_modifiers_bitset: 0,
            });
            (last_line, last_column) = (start.line, start.character);
        }
    }
    SemanticTokens { result_id: None, data }
}

/// A span without the ends of its lines: no token reaches over one.
fn by_line<'v>(view: &'v View<'_>, span: Span) -> impl Iterator<Item = Span> + use<'v> {
    let (first, last) = (view.lines.line_of(span.start), view.lines.line_of(span.end));
    (first..=last).filter_map(move |line| {
        let line = view.lines.line_span(line);
        let part = Span { start: line.start.max(span.start), end: line.end.min(span.end) };
        (part.start < part.end).then_some(part)
    })
}

/// In the order of the text, none overlapping another; where two are about one place, the earlier
/// of the list wins.
fn classified(file: &Dockerfile<'_>, facts: &Facts) -> Vec<(Span, Class)> {
    let mut all: Vec<(Span, Class)> =
        places::uses(file, facts).into_iter().map(|used| (used.span, Class::Variable)).collect();
    let names = facts.stages().iter().filter_map(|stage| stage.name_span);
    all.extend(names.map(|span| (span, Class::Stage)));
    for reference in facts.graph().references() {
        let is_stage = reference.target.stage().is_some();
        all.push((reference.span, if is_stage { Class::Stage } else { Class::Image }));
    }
    for instruction in &file.instructions {
        match &instruction.arguments {
            Arguments::From { image, alias, .. } => {
                all.extend(image.iter().map(|word| (word.span, Class::Image)));
                all.extend(alias.iter().map(|alias| (alias.keyword.span, Class::Keyword)));
            }
            Arguments::Pairs { pairs, .. } => {
                all.extend(pairs.iter().map(|pair| (pair.key.span, Class::Variable)));
            }
            _ => {}
        }
        all.extend(instruction.flags.iter().map(|flag| {
            let dashes = flag.name.span.start - flag.span.start;
            (
                Span::new(flag.span.start, flag.span.start + dashes + flag.name.span.len()),
                Class::Flag,
            )
        }));
        all.extend(instruction.heredocs().iter().map(|heredoc| (heredoc.marker, Class::Heredoc)));
    }
    all.extend(file.tokens.iter().filter_map(|token| {
        let class = match token.kind {
            TokenKind::Keyword => Class::Keyword,
            TokenKind::Comment => Class::Comment,
            TokenKind::Directive => Class::Directive,
            TokenKind::HeredocEnd => Class::Heredoc,
            TokenKind::HeredocBody => Class::String,
            _ => return None,
        };
        Some((token.span, class))
    }));
    let mut taken: Vec<(Span, Class)> = Vec::new();
    for (span, class) in all {
        let at = taken.partition_point(|(other, _)| other.start < span.start);
        let is_free = taken.get(at).is_none_or(|(next, _)| span.end <= next.start)
            && at
                .checked_sub(1)
                .and_then(|name| taken.get(name))
                .is_none_or(|(it, _)| it.end <= span.start);
        if is_free && !span.is_empty() {
            taken.insert(at, (span, class));
        }
    }
    taken
}
