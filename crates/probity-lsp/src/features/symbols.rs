//! Document symbols: stages with their instructions.

use gen_lsp_types::{DocumentSymbol, DocumentSymbolParams, SymbolKind};
use probity_dockerfile::{Dockerfile, Facts, Instruction, Keyword, Stage};
use probity_finding::Span;
use serde_json::Value;

use super::{Answer, View, typed};
use crate::host::DocumentKind;

/// Longer texts are cut: an outline is read at a glance.
const LONGEST: usize = 60;

pub(super) fn answer(view: &View<'_>, params: Value) -> Answer {
    typed(params, |_: DocumentSymbolParams| {
        if view.document.kind != DocumentKind::Dockerfile {
            return Ok(Vec::new());
        }
        let (file, facts) = view.parsed();
        let before = file.instructions.iter().enumerate();
        let before = before.filter(|(index, _)| facts.stage_of(*index).is_none());
        let mut symbols: Vec<DocumentSymbol> =
            before.map(|(_, instruction)| of_instruction(view, instruction)).collect();
        symbols.extend(facts.stages().iter().map(|stage| of_stage(view, &file, &facts, stage)));
        Ok(symbols)
    })
}

fn of_stage(
    view: &View<'_>,
    file: &Dockerfile<'_>,
    facts: &Facts,
    stage: &Stage,
) -> DocumentSymbol {
    let own = file.instructions.get(stage.instructions.clone()).unwrap_or_default();
    let whole = own.iter().map(|instruction| instruction.span).reduce(Span::to);
    let whole = whole.unwrap_or(Span::at(0));
    let from = own.first().map_or(whole, |from| from.span);
    let is_final = facts.final_stage().is_some_and(|last| last.index == stage.index);
    let image = stage.image.to_string();
    let name = stage.name.clone().unwrap_or_else(|| format!("stage {}", stage.index));
    let detail = if is_final { format!("{image} (final)") } else { image };
    let children = own.iter().skip(1).map(|instruction| of_instruction(view, instruction));
    let name_span = stage.name_span.filter(|span| from.encloses(*span));
    symbol(
        view,
        name,
        detail,
        SymbolKind::Module,
        whole,
        name_span.unwrap_or(from),
        children.collect(),
    )
}

fn of_instruction(view: &View<'_>, instruction: &Instruction) -> DocumentSymbol {
    let kind = match instruction.keyword {
        Keyword::Arg | Keyword::Env => SymbolKind::Variable,
        Keyword::Label => SymbolKind::Property,
        Keyword::Run | Keyword::Cmd | Keyword::Entrypoint | Keyword::Healthcheck => {
            SymbolKind::Function
        }
        Keyword::Copy | Keyword::Add => SymbolKind::File,
        _ => SymbolKind::Field,
    };
    let text: String = instruction.rest_text().split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(LONGEST).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    let name = instruction.keyword_text().to_ascii_uppercase();
    let detail = format!("{shown}{dots}");
    let place = instruction.keyword_span();
    symbol(view, name, detail, kind, instruction.span, place, Vec::new())
}

fn symbol(
    view: &View<'_>,
    name: String,
    detail: String,
    kind: SymbolKind,
    whole: Span,
    name_span: Span,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    #[expect(deprecated, reason = "the struct has the field, and we leave it empty")]
    DocumentSymbol {
        name,
        detail: Some(detail),
        kind,
        tags: None,
        deprecated: None,
        range: view.range(whole),
        selection_range: view.range(name_span),
        children: Some(children),
    }
}
