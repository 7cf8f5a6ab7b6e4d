//! Suppressions: directives for the instruction of a finding, or for its whole file.

use gen_lsp_types::{CodeAction, Diagnostic};
use probity_finding::{Edit, Finding, Span};
use probity_lint::{META_RULES, is_syntax_rule};

use super::{View, code_actions::suppression, edits};

/// Stands where a person writes the reason.
const REASON: &str = "TODO: explain";

/// Where directives go in one document. The document is parsed once, however many findings it has.
pub(super) struct Places<'a> {
    view: &'a View<'a>,
    newline: &'static str,
    /// In the order of the text, none within another.
    instructions: Vec<Span>,
    /// After the parser directives, which count only at the top.
    head: usize,
}

impl<'a> Places<'a> {
    pub(super) fn of(view: &'a View<'a>) -> Self {
        let file = probity_dockerfile::parse(view.text());
        let last = file.directives.last().map(|directive| view.lines.line_of(directive.span.start));
        let head = match last {
            Some(line) if line + 1 < view.lines.count() => view.lines.line_span(line + 1).start,
            Some(_) => view.text().len(),
            None if view.text().starts_with('\u{feff}') => '\u{feff}'.len_utf8(),
            None => 0,
        };
        let newline = if view.text().contains("\r\n") { "\r\n" } else { "\n" };
        let instructions = file.instructions.iter().map(|instruction| instruction.span).collect();
        Self { view, newline, instructions, head }
    }

    /// Two actions, or one for a finding of the file as a whole; none for what no directive suppresses.
    pub(super) fn actions(&self, finding: &Finding, diagnostic: &Diagnostic) -> Vec<CodeAction> {
        let Self { view, newline, head, .. } = self;
        let rule = finding.rule.as_ref();
        if is_syntax_rule(rule) || META_RULES.iter().any(|(name, _)| *name == rule) {
            return Vec::new();
        }
        let with = |title: String, offset: usize, scope: &str| {
            let text = format!("# tally {scope}ignore={rule};reason={REASON}{newline}");
            let insert = [Edit::insert(offset, text)];
            let edit = edits::of_document(view.document, &view.lines, view.client, &insert);
            CodeAction { edit: Some(edit), ..suppression(title, diagnostic) }
        };
        let line = self.above_instruction(finding);
        let line =
            line.map(|offset| with(format!("Suppress {rule} for this instruction"), offset, ""));
        let file = with(format!("Suppress {rule} in this file"), *head, "global ");
        line.into_iter().chain([file]).collect()
    }

    /// The start of the line of the instruction that contains a finding.
    fn above_instruction(&self, finding: &Finding) -> Option<usize> {
        let at = finding.span?.start;
        let next = self.instructions.partition_point(|span| span.end < at);
        let span = self.instructions.get(next).filter(|span| span.start <= at)?;
        let lines = &self.view.lines;
        Some(lines.line_span(lines.line_of(span.start)).start)
    }
}
