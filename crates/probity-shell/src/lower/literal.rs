//! Text that is no expansion of a variable: escapes, patterns, braces, tildes.

use std::ops::Range;

use crate::PartKind;

/// A piece of a word outside of quotes.
pub(super) struct Unquoted<'t> {
    pub(super) text: &'t str,
    /// Whether `*` and the like are special here.
    pub(super) patterns: bool,
    /// Whether the word begins with it.
    pub(super) first: bool,
}

impl Unquoted<'_> {
    /// Cuts the text into what stays and what the shell expands, with ranges moved by `offset`.
    /// `braces` are ranges that are moved already.
    pub(super) fn parts(
        &self,
        offset: usize,
        braces: &[Range<usize>],
    ) -> Vec<(Range<usize>, PartKind)> {
        let mut parts = Vec::new();
        let mut plain = Plain { text: String::new(), start: 0 };
        let mut at = 0;
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let brace = braces.iter().find(|brace| brace.start == offset + at);
            let special = brace.map(|brace| brace.len().min(rest.len()));
            let special = special.filter(|length| rest.is_char_boundary(*length));
            let expanded = match special {
                Some(length) if length > 0 => Some((length, SpecialKind::Brace)),
                _ => self.special(at, rest),
            };
            if let Some((length, kind)) = expanded {
                plain.flush(offset, at, &mut parts);
                let raw = rest.get(..length).unwrap_or_default().into();
                let kind = match kind {
                    SpecialKind::Brace => PartKind::Brace(raw),
                    SpecialKind::Glob => PartKind::Glob(raw),
                    SpecialKind::Tilde => PartKind::Tilde(raw),
                };
                parts.push((offset + at..offset + at + length, kind));
                at += length;
                plain.start = at;
                continue;
            }
            at += plain.take(rest);
        }
        plain.flush(offset, at, &mut parts);
        parts
    }

    /// The text with its escapes resolved, whatever is special in it.
    pub(super) fn decoded(&self) -> String {
        let mut plain = Plain { text: String::new(), start: 0 };
        let mut at = 0;
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            at += plain.take(rest);
        }
        plain.text
    }

    /// The length of what the shell expands at the beginning of the rest.
    fn special(&self, at: usize, rest: &str) -> Option<(usize, SpecialKind)> {
        match rest.as_bytes().first()? {
            b'~' if at == 0 && self.first => {
                let end = rest.find('/').unwrap_or(rest.len());
                let user = rest.get(1..end)?;
                let valid = user
                    .chars()
                    .all(|character| character.is_alphanumeric() || "_-+.".contains(character));
                valid.then_some((end, SpecialKind::Tilde))
            }
            b'*' | b'?' if self.patterns => Some((1, SpecialKind::Glob)),
            b'[' if self.patterns => {
                // A bracket that is the first in its class is a member of it.
                let class = rest.get(1..)?;
                let skipped = class.len() - class.trim_start_matches(['!', '^']).len();
                let from = skipped + usize::from(class.get(skipped..)?.starts_with(']'));
                let end = class.get(from..)?.find(']')?;
                Some((1 + from + end + 1, SpecialKind::Glob))
            }
            _ => None,
        }
    }
}

/// What stays as it is, being collected.
struct Plain {
    text: String,
    start: usize,
}

enum SpecialKind {
    Brace,
    Glob,
    Tilde,
}

impl Plain {
    /// Takes one character, or two where the first escapes the second.
    fn take(&mut self, rest: &str) -> usize {
        let mut characters = rest.chars();
        let Some(first) = characters.next() else { return 1 };
        match characters.next() {
            Some('\n') if first == '\\' => 2,
            Some(escaped) if first == '\\' => {
                self.text.push(escaped);
                1 + escaped.len_utf8()
            }
            _ => {
                self.text.push(first);
                first.len_utf8()
            }
        }
    }

    fn flush(&mut self, offset: usize, end: usize, parts: &mut Vec<(Range<usize>, PartKind)>) {
        if self.start < end {
            let text = std::mem::take(&mut self.text);
            parts.push((offset + self.start..offset + end, PartKind::Text(text.into())));
        }
    }
}

/// Resolves the escapes that double quotes know.
pub(super) fn in_double_quotes(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            decoded.push(character);
        } else if characters.next_if_eq(&'\n').is_none() {
            let escaped = characters.next_if(|next| matches!(next, '$' | '`' | '"' | '\\'));
            decoded.push(escaped.unwrap_or(character));
        }
    }
    decoded
}
