//! Secrets: whether a file that holds some may be sent, and how they come back.
//!
//! What is looked through is what would be sent, byte for byte, before every prompt.

use std::collections::BTreeMap;

use probity_dockerfile::parse;
use probity_finding::LineIndex;
use probity_secrets::{FindSecrets, Secret, Tokenized, mask_same_length, tokenize};

use crate::{checks::Issue, outcome::Reason};

/// What happens to a file that holds secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretsPolicy {
    /// The agent is not started.
    Deny,
    /// They are sent.
    Allow,
    /// Tokens are sent in their place.
    Tokenize,
}

/// The name of the issue when a proposal does not keep the tokens.
pub(crate) const TOKENS: &str = "patch/secret-tokens";

/// The file as the agent may see it.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) text: String,
    /// How many secrets were found.
    pub(crate) secrets: usize,
    tokenized: Option<Tokenized>,
}

impl Payload {
    /// Fails, with the reason, where nothing may be sent.
    pub(crate) fn of(
        text: &str,
        policy: SecretsPolicy,
        detector: Option<&dyn FindSecrets>,
    ) -> Result<Self, (Reason, String)> {
        let Some(detector) = detector else {
            let secrets = 0;
            return match policy {
                SecretsPolicy::Allow => {
                    Ok(Self { text: text.to_owned(), secrets, tokenized: None })
                }
                SecretsPolicy::Deny | SecretsPolicy::Tokenize => Err((
                    Reason::SecretsFound,
                    "probity cannot determine whether the file contains secrets".to_owned(),
                )),
            };
        };
        let found = detector.find(text);
        let secrets = found.len();
        match (policy, found.first()) {
            (SecretsPolicy::Deny, Some(first)) => {
                Err((Reason::SecretsFound, described(text, first, secrets)))
            }
            (SecretsPolicy::Tokenize, Some(_)) => {
                let tokenized = tokenize(text, &found);
                Ok(Self { text: tokenized.text.clone(), secrets, tokenized: Some(tokenized) })
            }
            _ => Ok(Self { text: text.to_owned(), secrets, tokenized: None }),
        }
    }

    /// The accepted text with the secrets back in it, or what is wrong with its tokens.
    pub(crate) fn restored(&self, text: &str, file_name: &str) -> Result<String, Box<Issue>> {
        let Some(tokenized) = &self.tokenized else { return Ok(text.to_owned()) };
        let restored = tokenized
            .restore(text)
            .map_err(|error| Box::new(Issue::new(TOKENS, &error.to_string(), file_name)))?;
        if homes(tokenized, &tokenized.text) == homes(tokenized, text) {
            return Ok(restored);
        }
        let message = "an instruction that contains a token `PROBITY_…_SECRET_…` must not change";
        Err(Box::new(Issue::new(TOKENS, message, file_name)))
    }

    /// The objections to a prompt, which may hold more than the file.
    pub(crate) fn objection(
        &self,
        prompt: &str,
        policy: SecretsPolicy,
        detector: Option<&dyn FindSecrets>,
    ) -> Option<String> {
        if policy == SecretsPolicy::Allow {
            return None;
        }
        let Some(detector) = detector else {
            return Some("probity cannot determine whether the prompt contains secrets".to_owned());
        };
        let found = detector.find(prompt);
        let first = found.first()?;
        Some(format!("the prompt would hold a secret ({})", first.kind))
    }
}

/// A message of an agent or about its work, without what looks like a secret.
pub(crate) fn masked(detector: Option<&dyn FindSecrets>, text: &str) -> String {
    match detector {
        Some(detector) => mask_same_length(text, &detector.find(text)),
        None => text.to_owned(),
    }
}

fn described(text: &str, first: &Secret, count: usize) -> String {
    let line = LineIndex::new(text).position(first.range.start).line + 1;
    let more = match count {
        1 => String::new(),
        _ => format!(", and {} more", count - 1),
    };
    format!("line {line} contains a secret ({}){more}", first.kind)
}

/// The instructions, and the lines outside of any, that hold tokens, each with how often it occurs.
fn homes(tokenized: &Tokenized, text: &str) -> BTreeMap<String, usize> {
    let file = parse(text);
    let lines = LineIndex::new(text);
    let mut homes = BTreeMap::new();
    for placed in tokenized.tokens_in(text, 0..text.len()) {
        let within = file.instructions.iter().find(|instruction| {
            instruction.span.start <= placed.range.start && placed.range.end <= instruction.span.end
        });
        let home = match within {
            Some(instruction) => instruction.span.slice(text).unwrap_or_default(),
            None => lines.line_text(lines.position(placed.range.start).line),
        };
        let words: Vec<&str> = home.split_whitespace().collect();
        *homes.entry(words.join(" ")).or_default() += 1;
    }
    homes
}
