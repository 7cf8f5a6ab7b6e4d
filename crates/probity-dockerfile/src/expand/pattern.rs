//! The patterns of `${X#p}`, `${X%p}` and `${X/p/r}`: `*`, `?` and escapes, nothing else.
//!
//! Matching follows all ways through the pattern at once, so that its cost is the product of the
//! two lengths at worst, however many stars there are.

/// A pattern, read.
pub(super) struct Pattern {
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    One(char),
    AnyOne,
    Many,
}

impl Pattern {
    /// Reads a pattern; `None` if it escapes something that needs no escape, or nothing.
    pub(super) fn parse(source: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut characters = source.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' if tokens.last() == Some(&Token::Many) => {}
                '*' => tokens.push(Token::Many),
                '?' => tokens.push(Token::AnyOne),
                // A slash and a brace need an escape only because `${…}` would end there.
                '\\' => match characters.next()? {
                    escaped @ ('*' | '?' | '\\' | '}' | '/') => tokens.push(Token::One(escaped)),
                    _ => return None,
                },
                _ => tokens.push(Token::One(character)),
            }
        }
        Some(Self { tokens })
    }

    /// How many steps matching against `value` may take.
    pub(super) fn cost(&self, value: &str) -> usize {
        self.tokens.len().saturating_add(1).saturating_mul(value.len())
    }

    /// The value without the part at its start that the pattern matches.
    pub(super) fn trim_prefix<'v>(&self, value: &'v str, longest: bool) -> &'v str {
        let end =
            self.match_start(value.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), longest);
        end.and_then(|end| value.get(end..)).unwrap_or(value)
    }

    /// The value without the part at its end that the pattern matches.
    pub(super) fn trim_suffix<'v>(&self, value: &'v str, longest: bool) -> &'v str {
        let reversed = Self { tokens: self.tokens.iter().rev().copied().collect() };
        let length = value.len();
        let end = reversed
            .match_start(value.char_indices().rev().map(|(at, c)| (length - at, c)), longest);
        end.and_then(|end| value.get(..length - end)).unwrap_or(value)
    }

    /// The value with the first match replaced.
    pub(super) fn replace_first(&self, value: &str, replacement: &str) -> String {
        match self.find(value, 0) {
            Some((start, end)) => {
                let before = value.get(..start).unwrap_or_default();
                let after = value.get(end..).unwrap_or_default();
                format!("{before}{replacement}{after}")
            }
            None => value.to_owned(),
        }
    }

    /// The value with every match replaced. `$0` and `$$` mean something in the replacement here,
    /// and only here: BuildKit hands it to its regular-expression library as a template.
    pub(super) fn replace_all(&self, value: &str, replacement: &str) -> String {
        let mut text = String::new();
        let mut copied = 0;
        let mut search = 0;
        while let Some((start, end)) = self.find(value, search) {
            text.push_str(value.get(copied..start).unwrap_or_default());
            // An empty match right after another match is no match.
            if end > copied || start == 0 {
                fill_template(&mut text, replacement, value.get(start..end).unwrap_or_default());
            }
            copied = end;
            let width =
                value.get(search..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            search = end.max(search + width);
            if search > value.len() {
                break;
            }
        }
        text.push_str(value.get(copied..).unwrap_or_default());
        text
    }

    /// Matches from the start on; the characters come with the offset of their end.
    fn match_start(
        &self,
        characters: impl Iterator<Item = (usize, char)>,
        longest: bool,
    ) -> Option<usize> {
        let mut states = States::new(self);
        states.enter(0, 0);
        let mut best = states.accepted().map(|_| 0);
        for (end, character) in characters {
            if (best.is_some() && !longest) || states.is_empty() {
                break;
            }
            states = states.after(character);
            if states.accepted().is_some() {
                best = Some(end);
            }
        }
        best
    }

    /// The leftmost match that starts at `from` or later, and of those the longest.
    fn find(&self, value: &str, from: usize) -> Option<(usize, usize)> {
        let mut states = States::new(self);
        let mut best: Option<(usize, usize)> = None;
        let mut at = from;
        loop {
            if best.is_none() {
                states.enter(0, at);
            }
            if let Some(start) = states.accepted()
                && best.is_none_or(|(best_start, _)| start <= best_start)
            {
                best = Some((start, at));
                states.keep_from(start);
            }
            if best.is_some() && states.is_empty() {
                return best;
            }
            let Some(character) = value.get(at..).and_then(|rest| rest.chars().next()) else {
                return best;
            };
            states = states.after(character);
            at += character.len_utf8();
        }
    }
}

/// The places in the pattern that matching has reached, each with the leftmost start that led there.
struct States<'p> {
    pattern: &'p Pattern,
    starts: Vec<Option<usize>>,
    active: Vec<usize>,
}

impl<'p> States<'p> {
    fn new(pattern: &'p Pattern) -> Self {
        Self { pattern, starts: vec![None; pattern.tokens.len() + 1], active: Vec::new() }
    }

    /// Enters the place before the token `index`, and those behind stars, which match nothing too.
    fn enter(&mut self, index: usize, start: usize) {
        let mut index = index;
        loop {
            let Some(place) = self.starts.get_mut(index) else { return };
            match place {
                Some(known) if *known <= start => return,
                Some(known) => *known = start,
                None => {
                    *place = Some(start);
                    self.active.push(index);
                }
            }
            if self.pattern.tokens.get(index) != Some(&Token::Many) {
                return;
            }
            index += 1;
        }
    }

    fn after(&self, character: char) -> Self {
        let mut next = Self::new(self.pattern);
        for &index in &self.active {
            let Some(start) = self.starts.get(index).copied().flatten() else { continue };
            match self.pattern.tokens.get(index) {
                Some(Token::One(expected)) if *expected == character => {
                    next.enter(index + 1, start);
                }
                // No wildcard crosses a line.
                Some(Token::AnyOne) if character != '\n' => next.enter(index + 1, start),
                Some(Token::Many) if character != '\n' => next.enter(index, start),
                _ => {}
            }
        }
        next
    }

    fn accepted(&self) -> Option<usize> {
        self.starts.last().copied().flatten()
    }

    fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Forgets the ways that began later than `start`.
    fn keep_from(&mut self, start: usize) {
        let starts = &self.starts;
        self.active.retain(|&index| {
            starts.get(index).copied().flatten().is_some_and(|known| known <= start)
        });
    }
}

/// Appends `template` with `$0` and `${0}` replaced by the match, other `$name` by nothing, `$$` by
/// one dollar.
fn fill_template(text: &mut String, template: &str, matched: &str) {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(after_second) = after.strip_prefix('$') {
            text.push('$');
            rest = after_second;
            continue;
        }
        let inner = after.strip_prefix('{').unwrap_or(after);
        let braced = inner.len() != after.len();
        let length = inner
            .find(|character: char| !character.is_alphanumeric() && character != '_')
            .unwrap_or(inner.len());
        let (name, behind) = inner.split_at(length);
        let behind = if braced { behind.strip_prefix('}') } else { Some(behind) };
        match behind {
            Some(behind) if !name.is_empty() => {
                if name == "0" {
                    text.push_str(matched);
                }
                rest = behind;
            }
            _ => {
                text.push('$');
                rest = after;
            }
        }
    }
    text.push_str(rest);
}
