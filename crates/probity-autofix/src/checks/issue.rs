//! What is wrong with a proposal, in the words and the shape that the agent gets.

use probity_finding::{LineIndex, Span};
use probity_text::beginning;
use serde::Serialize;

use super::{Change, Check, View};

const LONGEST_MESSAGE: usize = 400;
const LONGEST_SNIPPET: usize = 300;

/// One reason why a proposal is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// A check, or the rule of a finding.
    pub rule: String,
    pub message: String,
    pub file: String,
    /// From one, in the text that the agent is shown next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// In bytes, from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
}

impl Issue {
    /// An issue of the whole file.
    pub fn new(rule: impl Into<String>, message: &str, file: &str) -> Self {
        Self {
            rule: rule.into(),
            message: beginning(message, LONGEST_MESSAGE),
            file: file.to_owned(),
            line: None,
            column: None,
            snippet: None,
        }
    }

    /// Places the issue in a text, and quotes the line.
    pub(crate) fn at(mut self, view: &View<'_>, span: Span) -> Self {
        let lines = LineIndex::new(view.text);
        let place = lines.position(span.start);
        self.line = Some(place.line + 1);
        self.column = Some(place.column);
        self.quoting(lines.line_text(place.line))
    }

    pub(crate) fn quoting(mut self, text: &str) -> Self {
        let text = text.trim();
        self.snippet = (!text.is_empty()).then(|| beginning(text, LONGEST_SNIPPET));
        self
    }
}

impl Change<'_> {
    pub(crate) fn issue(&self, check: &Check, message: &str) -> Issue {
        Issue::new(check.name, message, self.file_name)
    }
}
