//! A row of the table: what a kind of secret looks like, and where in a text it can stand.
//!
//! A rule is tried only where one of its keywords stands, and looks no further than a bounded
//! distance from there. So the whole search is linear in the text, whatever the text.

use std::{ops::Range, sync::OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use crate::{Confidence, boundary, check};

/// One format of one kind of secret. A kind with several formats has several rules.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// Searched without regard to case; a [`Shape::Token`] then insists on the case.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) shape: Shape,
    pub(crate) check: Check,
}

/// Judges the value alone: checksum, variety, placeholder.
pub(crate) type Check = fn(&[u8]) -> Option<Confidence>;

/// Finds the secret that belongs to a keyword, given the text and the keyword's range.
pub(crate) type Parser = fn(&[u8], Range<usize>) -> Option<Range<usize>>;

/// Patterns are without regard to Unicode, and anchored where the shape says.
#[derive(Debug)]
pub(crate) enum Shape {
    /// The secret is the keyword and what matches right after it.
    Token(&'static str),
    /// The secret is group 1 of what matches right after the keyword.
    After(&'static str),
    /// The keyword is part of a name; the secret is the whole of the assigned value.
    Assigned(&'static str),
    /// The keyword stands inside the secret, at most so many bytes from its start.
    Around { before: usize, pattern: &'static str },
    /// Formats that a pattern cannot say.
    Parsed(Parser),
}

/// An identifier that only its name makes a secret.
pub(crate) const UUID: &str = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
/// How far behind a keyword a pattern may look.
const REACH: usize = 4096;
/// The same for a keyword inside the secret: those formats are short.
const REACH_AROUND: usize = 128;
/// How much is taken for the secret when a pattern could not be built.
const UNREADABLE_REACH: usize = 512;
/// Between a vendor's name and an assigned value: the rest of the variable's name, the sign,
/// quotes.
const GLUE: &str =
    r#"[A-Za-z0-9_.\-]{0,40}["'\\]{0,2}[ \t]{0,4}(?:=>|:=|=|:|[ \t])[ \t]{0,4}["'\\]{0,2}"#;

impl Rule {
    const fn new(
        id: &'static str,
        name: &'static str,
        keywords: &'static [&'static str],
        shape: Shape,
        check: Check,
    ) -> Rule {
        Rule { id, name, keywords, shape, check }
    }

    pub(crate) const fn token(
        id: &'static str,
        name: &'static str,
        keywords: &'static [&'static str],
        rest: &'static str,
    ) -> Rule {
        Rule::new(id, name, keywords, Shape::Token(rest), check::varied)
    }

    pub(crate) const fn after(
        id: &'static str,
        name: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
    ) -> Rule {
        Rule::new(id, name, keywords, Shape::After(pattern), check::varied)
    }

    pub(crate) const fn assigned(
        id: &'static str,
        name: &'static str,
        keywords: &'static [&'static str],
        value: &'static str,
    ) -> Rule {
        Rule::new(id, name, keywords, Shape::Assigned(value), check::varied_in_context)
    }

    pub(crate) const fn around(
        id: &'static str,
        name: &'static str,
        keywords: &'static [&'static str],
        before: usize,
        pattern: &'static str,
    ) -> Rule {
        Rule::new(id, name, keywords, Shape::Around { before, pattern }, check::varied)
    }

    pub(crate) const fn parsed(
        id: &'static str,
        name: &'static str,
        keywords: &'static [&'static str],
        parser: Parser,
    ) -> Rule {
        Rule::new(id, name, keywords, Shape::Parsed(parser), check::varied)
    }

    /// Replaces the check that the shape brings along.
    pub(crate) const fn checked(self, check: Check) -> Rule {
        Rule { check, ..self }
    }

    /// The secret that the keyword at `hit` belongs to.
    pub(crate) fn secret_at(
        &self,
        pattern: &Pattern,
        text: &[u8],
        hit: Range<usize>,
    ) -> Option<(Range<usize>, Confidence)> {
        let Some(range) = self.range_at(pattern, text, hit.clone())? else {
            let rest = text.get(hit.end..)?;
            let end = rest.iter().take(UNREADABLE_REACH).take_while(|b| b.is_ascii_graphic());
            return Some((hit.start..hit.end + end.count(), Confidence::Low));
        };
        let confidence = (self.check)(text.get(range.clone())?)?;
        Some((range, confidence))
    }

    /// `Some(None)` means that the pattern could not be built: nobody can say that this is no
    /// secret.
    fn range_at(
        &self,
        pattern: &Pattern,
        text: &[u8],
        hit: Range<usize>,
    ) -> Option<Option<Range<usize>>> {
        let (from, secret_from, reach) = match self.shape {
            Shape::Parsed(parser) => return parser(text, hit).map(Some),
            Shape::Token(_) => {
                let keyword = text.get(hit.clone())?;
                let exact = self.keywords.iter().any(|known| known.as_bytes() == keyword);
                if !exact || !boundary::before(text, hit.start) {
                    return None;
                }
                (hit.end, Some(hit.start), REACH)
            }
            Shape::After(_) | Shape::Assigned(_) => (hit.end, None, REACH),
            Shape::Around { before, .. } => (hit.start.saturating_sub(before), None, REACH_AROUND),
        };
        let window = text.get(from..text.len().min(hit.end + reach))?;
        let Some(regex) = pattern.regex(self) else { return Some(None) };
        let found = match regex.captures_len() {
            1 => regex.find(window)?.range(),
            _ => regex.captures(window)?.get(1)?.range(),
        };
        let range = secret_from.unwrap_or(from + found.start)..from + found.end;
        let stands_alone = boundary::after(text, range.end)
            && match self.shape {
                Shape::Around { .. } => {
                    boundary::before(text, range.start) && range.contains(&hit.start)
                }
                // The whole of the value, or it is another format.
                Shape::Assigned(_) => {
                    !matches!(text.get(range.end), Some(b'+' | b'/' | b'=' | b'-'))
                }
                _ => true,
            };
        stands_alone.then_some(Some(range))
    }

    /// The whole pattern, as the regex crate gets it.
    fn source(&self) -> Option<String> {
        match self.shape {
            Shape::Token(rest) => Some(format!(r"\A(?:{rest})")),
            Shape::After(pattern) => Some(format!(r"\A(?:{pattern})")),
            Shape::Assigned(value) => Some(format!(r"\A{GLUE}({value})")),
            Shape::Around { pattern, .. } => Some(pattern.to_owned()),
            Shape::Parsed(_) => None,
        }
    }
}

/// The compiled pattern of a rule, built the first time that one of its keywords turns up.
#[derive(Debug, Default)]
pub(crate) struct Pattern(OnceLock<Option<Regex>>);

impl Pattern {
    fn regex(&self, rule: &Rule) -> Option<&Regex> {
        self.0
            .get_or_init(|| RegexBuilder::new(&rule.source()?).unicode(false).build().ok())
            .as_ref()
    }

    /// Whether the pattern can be built, or none is needed.
    #[cfg(test)]
    pub(crate) fn builds(&self, rule: &Rule) -> bool {
        rule.source().is_none() || self.regex(rule).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cannot_be_built_takes_the_whole_word_for_a_secret() {
        let rule = Rule::token("broken", "broken", &["zz_"], "[");
        let pattern = Pattern::default();
        assert!(!pattern.builds(&rule));
        let found = rule.secret_at(&pattern, b"a zz_abc d", 2..5);
        assert_eq!(found, Some((2..8, Confidence::Low)));
    }
}
