//! Finds the secrets of a text: keywords first, then the rules whose keywords are there.

use std::{collections::BTreeMap, fmt, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::{
    Confidence, Secret,
    joined::Joined,
    rule::{Pattern, Rule},
    secret::on_boundaries,
    table,
};

/// Finds the secrets of a text. Whoever searches the same text for several readers can remember what
/// was found.
pub trait FindSecrets: fmt::Debug + Sync {
    /// Every secret of the text, in the order of the text, none overlapping another.
    fn find(&self, text: &str) -> Vec<Secret>;
}

impl FindSecrets for Detector {
    fn find(&self, text: &str) -> Vec<Secret> {
        Detector::find(self, text)
    }
}

/// What the user knows to be no secret. Which files to look at is the caller's business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whole values.
    pub allowed_values: Vec<String>,
    /// Regular expressions; a secret in which one matches is let go.
    pub allowed_patterns: Vec<String>,
    /// Kinds, by their id.
    pub allowed_kinds: Vec<String>,
}

/// Why there is no detector. Patterns and values are named by their place in the list, because what
/// stands there may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum DetectorError {
    #[error("allowed pattern {number} is not a regular expression: {reason}")]
    InvalidPattern { number: usize, reason: String },
    #[error("allowed pattern {number} matches the empty text, and so every secret")]
    PatternMatchesAll { number: usize },
    #[error("allowed kind `{kind}` is not a kind of secret")]
    UnknownKind { kind: String },
    #[error("the keyword search cannot be built")]
    Keywords(#[from] aho_corasick::BuildError),
}

/// Knows every kind of secret; built once, used for many texts and from many threads.
pub struct Detector {
    keywords: AhoCorasick,
    /// For each keyword, the rules that have it.
    rules_of_keyword: Vec<Vec<usize>>,
    rules: Vec<(&'static Rule, Pattern)>,
    allowed_values: Vec<String>,
    allowed_patterns: Vec<Regex>,
}

impl Detector {
    pub fn new(options: &Options) -> Result<Detector, DetectorError> {
        for kind in &options.allowed_kinds {
            if !table::kinds().any(|known| known.id == kind) {
                return Err(DetectorError::UnknownKind { kind: kind.clone() });
            }
        }
        let rules: Vec<_> = table::rules()
            .filter(|rule| !options.allowed_kinds.iter().any(|kind| kind == rule.id))
            .map(|rule| (rule, Pattern::default()))
            .collect();
        let mut keywords: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, (rule, _)) in rules.iter().enumerate() {
            for keyword in rule.keywords {
                keywords.entry(keyword.to_ascii_lowercase()).or_default().push(index);
            }
        }
        Ok(Detector {
            keywords: AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .kind(Some(AhoCorasickKind::DFA))
                .build(keywords.keys())?,
            rules_of_keyword: keywords.into_values().collect(),
            rules,
            allowed_values: options.allowed_values.clone(),
            allowed_patterns: compile(&options.allowed_patterns)?,
        })
    }

    /// Every secret of the text, in the order of the text, none overlapping another.
    pub fn find(&self, text: &str) -> Vec<Secret> {
        let mut candidates = self.candidates(text);
        if let Some(joined) = Joined::of(text) {
            let torn = self.candidates(&joined.text).into_iter().filter_map(|candidate| {
                let range = joined.torn(&candidate.range)?;
                Some(Candidate { range, ..candidate })
            });
            candidates.extend(torn);
        }
        without_overlaps(candidates)
    }

    fn candidates(&self, text: &str) -> Vec<Candidate> {
        let bytes = text.as_bytes();
        let mut candidates: Vec<Candidate> = Vec::new();
        for hit in self.keywords.find_overlapping_iter(bytes) {
            let rules = self.rules_of_keyword.get(hit.pattern().as_usize());
            for index in rules.into_iter().flatten() {
                let Some((rule, pattern)) = self.rules.get(*index) else { continue };
                let Some((range, confidence)) = rule.secret_at(pattern, bytes, hit.range()) else {
                    continue;
                };
                let range = on_boundaries(text, &range);
                if range.is_empty() || self.allows(text.get(range.clone()).unwrap_or_default()) {
                    continue;
                }
                candidates.push(Candidate { range, confidence, order: *index, rule });
            }
        }
        candidates
    }

    fn allows(&self, value: &str) -> bool {
        self.allowed_values.iter().any(|allowed| allowed == value)
            || self.allowed_patterns.iter().any(|pattern| pattern.is_match(value.as_bytes()))
    }
}

impl fmt::Debug for Detector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Detector")
            .field("rules", &self.rules.len())
            .field("allowed_values", &self.allowed_values.len())
            .field("allowed_patterns", &self.allowed_patterns.len())
            .finish_non_exhaustive()
    }
}

struct Candidate {
    range: Range<usize>,
    confidence: Confidence,
    /// Place of the rule in the table.
    order: usize,
    rule: &'static Rule,
}

/// Of overlapping candidates the surer stays, then the longer, then the earlier, then the one whose
/// rule comes first.
fn without_overlaps(mut candidates: Vec<Candidate>) -> Vec<Secret> {
    candidates.sort_by(|a, b| {
        b.confidence
            .cmp(&a.confidence)
            .then(b.range.len().cmp(&a.range.len()))
            .then(a.range.start.cmp(&b.range.start))
            .then(a.order.cmp(&b.order))
    });
    let mut kept: BTreeMap<usize, Secret> = BTreeMap::new();
    for Candidate { range, confidence, rule, .. } in candidates {
        let last_before = kept.range(..range.end).next_back();
        if last_before.is_some_and(|(_, other)| other.range.end > range.start) {
            continue;
        }
        kept.insert(range.start, Secret { kind: rule.id, name: rule.name, range, confidence });
    }
    kept.into_values().collect()
}

/// Unicode classes are off as in our own patterns: secrets are ASCII, and the tables cost
/// megabytes.
fn compile(patterns: &[String]) -> Result<Vec<Regex>, DetectorError> {
    let mut compiled = Vec::with_capacity(patterns.len());
    for (number, pattern) in (1..).zip(patterns) {
        let regex = RegexBuilder::new(pattern).unicode(false).build().map_err(|error| {
            // The whole message quotes the pattern; its last line says what is wrong with it.
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            DetectorError::InvalidPattern { number, reason: reason.to_owned() }
        })?;
        if regex.is_match(b"") {
            return Err(DetectorError::PatternMatchesAll { number });
        }
        compiled.push(regex);
    }
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_the_table_can_be_built() {
        let broken: Vec<_> = table::rules()
            .filter(|rule| !Pattern::default().builds(rule))
            .map(|rule| rule.id)
            .collect();
        assert_eq!(broken, Vec::<&str>::new());
    }
}
