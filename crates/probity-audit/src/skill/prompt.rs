//! What a skill says to a model.

use std::fmt::Write as _;

use crate::{Skill, text::bounded};

/// The longest part of a skill that is sent; a skill is a page, not a book.
const MOST_CHARS: usize = 20_000;

impl Skill {
    /// The skill in words. Sections without content are left out.
    #[must_use]
    pub fn mini_prompt(&self) -> String {
        let mut text = String::new();
        for (label, value) in [
            ("Skill ID", self.id.as_str()),
            ("Name", &self.name),
            ("Severity", self.severity.as_str()),
            ("Description", &self.description),
            ("Prompt Fragment", &self.prompt_fragment),
        ] {
            // Writing to a string cannot fail.
            _ = writeln!(text, "{label}: {}", bounded(value, MOST_CHARS));
        }
        if !self.tags.is_empty() {
            _ = writeln!(text, "Tags: {}", self.tags.join(", "));
        }
        if let Some(hint) = &self.confidence_hint {
            _ = writeln!(text, "Confidence Hint: {}", bounded(hint, MOST_CHARS));
        }
        for (label, items) in [
            ("Examples", &self.examples),
            ("False Positives", &self.false_positives),
            ("References", &self.references),
        ] {
            if !items.is_empty() {
                _ = writeln!(text, "{label}:");
                for item in items {
                    _ = writeln!(text, "- {}", bounded(item, MOST_CHARS));
                }
            }
        }
        if !self.guidance_markdown.is_empty() {
            _ = writeln!(text, "Guidance:\n{}", bounded(&self.guidance_markdown, MOST_CHARS));
        }
        text
    }
}
