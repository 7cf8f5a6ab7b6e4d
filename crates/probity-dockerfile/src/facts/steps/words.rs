//! Expanding words and heredocs, and finding their variables in the source again.

use std::{collections::HashSet, ops::Range};

use probity_finding::Span;

use crate::{
    ExpandError, ExpandErrorKind, Heredoc, Instruction, Keyword, Logical, Word,
    facts::{
        ExpansionError,
        contract::StepHeredoc,
        text::{self, Expanded, Reading, Surroundings, Text},
        variables::{Environments, STEERING_ARGUMENTS, VariableReference},
        walk::{Current, Walk},
    },
    logical::LogicalBuilder,
};

impl Walk<'_> {
    /// Expands a word and notes the variables it refers to.
    pub(in crate::facts) fn word(
        &mut self,
        current: &Current,
        at: &Instruction,
        word: &Word,
    ) -> Text {
        let written = at.line.slice(word.range());
        if written == word.text {
            let start = word.range().start;
            return self.expand(current, at, &word.text, Reading::Word, |range| {
                at.line.span(start + range.start..start + range.end)
            });
        }
        // Quotes or escapes are gone from the text, so that offsets in it say nothing; but what a
        // reference looks like is the same on both sides.
        let mut from = 0;
        self.expand(current, at, &word.text, Reading::Word, |range| {
            let reference = word.text.get(range).unwrap_or_default();
            let found = written.get(from..).and_then(|rest| rest.find(reference));
            let Some(start) = found.map(|found| from + found) else { return word.span };
            from = start + 1;
            let start = word.range().start + start;
            at.line.span(start..start + reference.len())
        })
    }

    /// Expands a word that can become several.
    pub(super) fn list(&mut self, current: &Current, at: &Instruction, word: &Word) -> Vec<Text> {
        let around = surroundings(self.dockerfile.escape, &self.environments, current);
        let (texts, error) = text::expand_list(around, &word.text, &mut self.budget);
        if let Some(error) = error {
            let start = word.range().start;
            let span = at.line.span(start + error.range.start..start + error.range.end);
            self.note_error(current, at, &word.text, &error, span);
        }
        texts
    }

    pub(super) fn heredoc(
        &mut self,
        current: &Current,
        at: &Instruction,
        heredoc: &Heredoc,
    ) -> StepHeredoc {
        let name = heredoc.name.clone();
        if !heredoc.expand {
            let content = Text::constant(heredoc.content(self.dockerfile.text));
            return StepHeredoc { name, content };
        }
        let body = heredoc.body.slice(self.dockerfile.text).unwrap_or_default();
        let content = logical(body, heredoc.body.start, heredoc.strip_tabs);
        let content =
            self.expand(current, at, &content.text, Reading::Heredoc, |range| content.span(range));
        StepHeredoc { name, content }
    }

    fn expand(
        &mut self,
        current: &Current,
        at: &Instruction,
        word: &str,
        reading: Reading,
        mut locate: impl FnMut(Range<usize>) -> Span,
    ) -> Text {
        let around = surroundings(self.dockerfile.escape, &self.environments, current);
        let Expanded { text, references, error } =
            text::expand(around, word, reading, &mut self.budget);
        if let Some(error) = error {
            let span = locate(error.range.clone());
            self.note_error(current, at, word, &error, span);
        }
        let mut seen = HashSet::new();
        for reference in references {
            let known = self.environments.get(current.environment, &reference.name).is_some();
            let steering = STEERING_ARGUMENTS.contains(&reference.name.as_str());
            let matched = known || (steering && current.in_stage);
            let first = seen.insert(reference.name.clone());
            let suggestion = if matched || !first {
                None
            } else {
                self.suggestions.nearest(&self.environments, current, &reference.name)
            };
            self.references.push(VariableReference {
                span: locate(reference.range),
                matched,
                first,
                suggestion,
                name: reference.name,
            });
        }
        text
    }

    /// A build argument replaces the default of an ARG unread, so that a default may ask for one.
    fn note_error(
        &mut self,
        current: &Current,
        at: &Instruction,
        word: &str,
        error: &ExpandError,
        span: Span,
    ) {
        let asks = matches!(error.kind, ExpandErrorKind::Required { .. });
        if asks && at.keyword == Keyword::Arg {
            return;
        }
        let short: String = word.chars().take(LONGEST_QUOTE).collect();
        let dots = if short.len() < word.len() { "…" } else { "" };
        let message = format!("failed to process {:?}: {error}", short + dots);
        // What a reference quotes from a heredoc may hold line ends.
        let message = message.replace(char::is_control, " ");
        self.expansion_errors.push(ExpansionError { instruction: current.index, span, message });
    }
}

/// How many characters of a word a message quotes.
const LONGEST_QUOTE: usize = 80;

fn surroundings<'e>(
    escape: char,
    environments: &'e Environments,
    current: &Current,
) -> Surroundings<'e> {
    let Current { environment, closed, bare, .. } = *current;
    Surroundings { escape, environments, environment, closed, bare }
}

/// The text of a heredoc and the way back to the source.
fn logical(body: &str, start: usize, strip_tabs: bool) -> Logical {
    let mut content = LogicalBuilder::default();
    if !strip_tabs {
        content.push(body, start);
        return content.finish();
    }
    let mut offset = start;
    for line in body.split_inclusive('\n') {
        let kept = line.trim_start_matches('\t');
        content.push(kept, offset + line.len() - kept.len());
        offset += line.len();
    }
    content.finish()
}
