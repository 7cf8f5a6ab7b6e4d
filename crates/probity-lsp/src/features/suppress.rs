//! Suppressions: directives for the instruction of a finding, or for its whole file.

use gen_lsp_types::{CodeAction, Diagnostic};
use probity_finding::{Edit, Finding};
use probity_lint::{META_RULES, is_syntax_rule};

use super::{View, code_actions::suppression, edits};

/// Stands where a person writes the reason.
const REASON: &str = "TODO: explain";

/// Two actions, or one for a finding of the file as a whole; none for what no directive suppresses.
pub(super) fn actions(
    view: &View<'_>,
    finding: &Finding,
    diagnostic: &Diagnostic,
) -> Vec<CodeAction> {
    let rule = finding.rule.as_ref();
    if is_syntax_rule(rule) || META_RULES.iter().any(|(name, _)| *name == rule) {
        return Vec::new();
    }
    let newline = if view.text().contains("\r\n") { "\r\n" } else { "\n" };
    let with = |title: String, offset: usize, scope: &str| {
        let text = format!("# tally {scope}ignore={rule};reason={REASON}{newline}");
        let insert = [Edit::insert(offset, text)];
        let edit = edits::of_document(view.document, &view.lines, view.client, &insert);
        CodeAction { edit: Some(edit), ..suppression(title, diagnostic) }
    };
    let line = above_instruction(view, finding);
    let line = line.map(|offset| with(format!("Suppress {rule} for this instruction"), offset, ""));
    let file = with(format!("Suppress {rule} in this file"), file_head(view), "global ");
    line.into_iter().chain([file]).collect()
}

/// The start of the line of the instruction that a finding lies in.
fn above_instruction(view: &View<'_>, finding: &Finding) -> Option<usize> {
    let (file, _) = view.parsed();
    let at = finding.span?.start;
    let ends_before = |span: probity_finding::Span| span.end < at;
    let mut instructions = file.instructions.iter().map(|instruction| instruction.span);
    let span = instructions.find(|span| !ends_before(*span))?;
    (span.start <= at).then(|| view.lines.line_span(view.lines.line_of(span.start)).start)
}

/// Behind the parser directives, which count only at the top.
fn file_head(view: &View<'_>) -> usize {
    let (file, _) = view.parsed();
    let last = file.directives.last().map(|directive| view.lines.line_of(directive.span.start));
    match last {
        Some(line) if line + 1 < view.lines.count() => view.lines.line_span(line + 1).start,
        Some(_) => view.text().len(),
        None if view.text().starts_with('\u{feff}') => '\u{feff}'.len_utf8(),
        None => 0,
    }
}
