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
    /// An older name of the check.
    #[serde(skip)]
    pub second_name: Option<&'static str>,
    /// Whether a proof of both images outranks it.
    #[serde(skip)]
    pub(crate) is_heuristic: bool,
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
            second_name: None,
            is_heuristic: false,
            message: shortened(message, LONGEST_MESSAGE),
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

/// The beginning of a message that does not end within a quotation.
fn shortened(message: &str, most: usize) -> String {
    if message.chars().count() <= most {
        return message.to_owned();
    }
    let cut = beginning(message, most);
    let cut = cut.trim_end_matches('…');
    let is_open = cut.matches('`').count() % 2 == 1;
    let end = if is_open { cut.rfind('`') } else { cut.rfind(' ') };
    format!("{}…", cut.get(..end.unwrap_or(cut.len())).unwrap_or(cut))
}

impl Change<'_> {
    pub(crate) fn issue(&self, check: &Check, message: &str) -> Issue {
        Issue {
            second_name: check.second_name,
            is_heuristic: check.is_heuristic,
            ..Issue::new(check.name, message, self.file_name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_message_is_never_cut_within_a_quotation() {
        assert_eq!(shortened("it was `CMD [\"a\"]`", 100), "it was `CMD [\"a\"]`");
        assert_eq!(shortened("it was `CMD [\"a\", \"b\"]` and more", 16), "it was …");
        assert_eq!(shortened("it was `CMD x` and more than that", 22), "it was `CMD x` and…");
    }
}
