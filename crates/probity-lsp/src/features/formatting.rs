//! Formatting by the layout rules: spaces, newlines and continuations, and never a word.

use gen_lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, TextEdit};
use probity_finding::Edit;
use serde_json::Value;

use super::{Answer, View, edits, typed};
use crate::host::{FixRequest, Kind};

pub(super) fn whole(view: &View<'_>, params: Value) -> Answer {
    typed(params, |_: DocumentFormattingParams| Ok(edits::text_edits(&view.lines, &layout(view))))
}

/// The same, as far as it changes lines of the range.
pub(super) fn range(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: DocumentRangeFormattingParams| {
        let wanted = view.lines.span(params.range);
        let (first, last) = (view.lines.line_of(wanted.start), view.lines.line_of(wanted.end));
        let is_within = |edit: &Edit| {
            // An edit ends where the line behind its last one begins.
            let end = edit.span.end.saturating_sub(1).max(edit.span.start);
            first <= view.lines.line_of(edit.span.start) && view.lines.line_of(end) <= last
        };
        let edits: Vec<Edit> = layout(view).into_iter().filter(is_within).collect();
        let edits: Vec<TextEdit> = edits::text_edits(&view.lines, &edits);
        Ok(edits)
    })
}

fn layout(view: &View<'_>) -> Vec<Edit> {
    if view.document.kind != Kind::Dockerfile {
        return Vec::new();
    }
    let formatted = view.host.fix(&view.subject(), FixRequest::Layout);
    // Whatever a rule of layout may come to do, a formatter changes no word.
    let formatted = formatted.filter(|text| words(text) == words(view.text()));
    formatted.map(|text| edits::between(view.text(), &text)).unwrap_or_default()
}

/// The text without what layout consists of.
fn words(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace() && !matches!(char, '\\' | '`')).collect()
}
