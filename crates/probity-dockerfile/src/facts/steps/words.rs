//! Expanding words and heredocs, and finding their variables in the source again.

use std::{collections::HashSet, ops::Range};

use probity_finding::Span;

use crate::{
    Heredoc, Instruction, Logical, Word,
    facts::{
        contract::StepHeredoc,
        text::{self, Reading, Surroundings, Text},
        variables::{Environments, STEERING_ARGUMENTS, VariableReference},
        walk::{Current, Walk},
    },
};

impl Walk<'_> {
    /// Expands a word and notes the variables it refers to.
    pub(in crate::facts) fn word(
        &mut self,
        current: &Current,
        at: &Instruction,
        word: &Word,
    ) -> Text {
        let written = at.line.slice(word.range.clone());
        if written == word.text {
            let start = word.range.start;
            return self.expand(current, &word.text, Reading::Word, |range| {
                at.line.span(start + range.start..start + range.end)
            });
        }
        // Quotes or escapes are gone from the text, so that offsets in it say nothing; but what a
        // reference looks like is the same on both sides.
        let mut from = 0;
        self.expand(current, &word.text, Reading::Word, |range| {
            let reference = word.text.get(range).unwrap_or_default();
            let found = written.get(from..).and_then(|rest| rest.find(reference));
            let Some(start) = found.map(|found| from + found) else { return word.span };
            from = start + 1;
            let start = word.range.start + start;
            at.line.span(start..start + reference.len())
        })
    }

    /// Expands a word that can become several.
    pub(super) fn list(&mut self, current: &Current, word: &Word) -> Vec<Text> {
        let around = surroundings(self.dockerfile.escape, &self.environments, current);
        text::expand_list(around, &word.text, &mut self.budget)
    }

    pub(super) fn heredoc(&mut self, current: &Current, heredoc: &Heredoc) -> StepHeredoc {
        let name = heredoc.name.clone();
        if !heredoc.expand {
            let content = Text::constant(heredoc.content(self.dockerfile.text));
            return StepHeredoc { name, content };
        }
        let body = heredoc.body.slice(self.dockerfile.text).unwrap_or_default();
        let content = logical(body, heredoc.body.start, heredoc.strip_tabs);
        let content =
            self.expand(current, &content.text, Reading::Heredoc, |range| content.span(range));
        StepHeredoc { name, content }
    }

    fn expand(
        &mut self,
        current: &Current,
        word: &str,
        reading: Reading,
        mut locate: impl FnMut(Range<usize>) -> Span,
    ) -> Text {
        let around = surroundings(self.dockerfile.escape, &self.environments, current);
        let (text, references) = text::expand(around, word, reading, &mut self.budget);
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
}

fn surroundings<'e>(
    escape: char,
    environments: &'e Environments,
    current: &Current,
) -> Surroundings<'e> {
    Surroundings { escape, environments, environment: current.environment, closed: current.closed }
}

/// The text of a heredoc and the way back to the source.
fn logical(body: &str, start: usize, strip_tabs: bool) -> Logical {
    let mut content = Logical::default();
    if !strip_tabs {
        content.push(body, start);
        return content;
    }
    let mut offset = start;
    for line in body.split_inclusive('\n') {
        let kept = line.trim_start_matches('\t');
        content.push(kept, offset + line.len() - kept.len());
        offset += line.len();
    }
    content
}
