//! From the words of an agent to detections: each needs a quote that is where it says.

use std::fmt;

use probity_lint::Detection;
use probity_text::one_line;
use serde::Deserialize;

use super::DetectionRequest;

/// More than this helps nobody.
const MOST_FINDINGS: usize = 20;
const LONGEST_QUOTE: usize = 2_000;
const SHORTEST_QUOTE: usize = 3;
const LONGEST_MESSAGE: usize = 400;
const LONGEST_NAME: usize = 60;

/// A finding as the agent writes it.
#[derive(Debug, Deserialize)]
pub(super) struct Reported {
    name: String,
    line: usize,
    quote: String,
    message: String,
}

#[derive(Deserialize)]
struct Answer {
    findings: Vec<Reported>,
}

/// Why an answer is not one.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("it is not one JSON object")]
    NoObject,
    #[error("{0}")]
    Form(serde_json::Error),
}

/// A reported finding that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unaccepted {
    /// As the agent wrote it, bounded.
    pub name: String,
    pub line: usize,
    pub because: UnacceptedBecause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnacceptedBecause {
    /// It was not asked for this, or the name does not exist.
    UnknownName,
    NoQuote,
    QuoteTooLong,
    /// The quote does not begin on this line.
    QuoteNotThere,
    NoMessage,
}

impl fmt::Display for UnacceptedBecause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UnknownName => "it was not asked to look for this",
            Self::NoQuote => "it quotes nothing",
            Self::QuoteTooLong => "its quote is too long",
            Self::QuoteNotThere => "its quote is not on this line of the file",
            Self::NoMessage => "it has no message",
        })
    }
}

/// The findings of an answer: a JSON object, alone or in the only fenced block.
pub(super) fn read(answer: &str) -> Result<Vec<Reported>, Unreadable> {
    let (Some(start), Some(end)) = (answer.find('{'), answer.rfind('}')) else {
        return Err(Unreadable::NoObject);
    };
    let object = answer.get(start..=end).ok_or(Unreadable::NoObject)?;
    let answer: Answer = serde_json::from_str(object).map_err(Unreadable::Form)?;
    Ok(answer.findings.into_iter().take(MOST_FINDINGS).collect())
}

impl Reported {
    /// `shown` is the text that the agent saw.
    pub(super) fn verified(
        self,
        shown: &str,
        request: &DetectionRequest<'_>,
        hide: &dyn Fn(&str) -> String,
    ) -> Result<Detection, Unaccepted> {
        let unaccepted = |because| Unaccepted {
            name: hide(&one_line(&self.name, LONGEST_NAME)),
            line: self.line,
            because,
        };
        let bare = self.name.strip_prefix("ai/").unwrap_or(&self.name);
        let detector = request.detectors.iter().find(|detector| detector.bare_name() == bare);
        let detector = detector.ok_or_else(|| unaccepted(UnacceptedBecause::UnknownName))?;
        let quote = self.quote.replace("\r\n", "\n");
        let quote = quote.trim();
        if quote.chars().count() < SHORTEST_QUOTE {
            return Err(unaccepted(UnacceptedBecause::NoQuote));
        }
        if quote.len() > LONGEST_QUOTE {
            return Err(unaccepted(UnacceptedBecause::QuoteTooLong));
        }
        let message = hide(&one_line(&self.message, LONGEST_MESSAGE));
        if message.trim().is_empty() {
            return Err(unaccepted(UnacceptedBecause::NoMessage));
        }
        let detection = Detection { detector, quote: quote.to_owned(), line: self.line, message };
        // A quote with a token in the place of a secret is not in the file.
        let own = request.text.replace("\r\n", "\n");
        if !detection.is_in_place(shown) || !own.contains(quote) {
            return Err(unaccepted(UnacceptedBecause::QuoteNotThere));
        }
        Ok(detection)
    }
}
