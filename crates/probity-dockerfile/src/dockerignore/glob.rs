//! One pattern: `*`, `?`, `**`, classes and escapes, over whole paths.
//!
//! moby turns a pattern into a regular expression; this is the automaton of the same expressions.
//! All ways through it are followed at once, so that the cost is the product of the two lengths at
//! worst, and one pass over a path answers for the path and for all its parents.

use std::{iter::Peekable, str::Chars};

/// A pattern, read.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    tokens: Vec<Token>,
    /// How many characters a path must have at least.
    min_length: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    One(char),
    /// `?`: one character, but no slash.
    AnyOne,
    /// `*`: characters, but no slash.
    Many,
    /// `[a-z]`. A negated class matches a slash too, as it does in moby.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// `**` at the end, or at the start of a pattern of plain characters: anything at all.
    Anything,
    /// `**` elsewhere: nothing, or directories with their slash. Always followed by
    /// [`Token::InsideDirectories`].
    Directories,
    InsideDirectories,
    /// An escaped letter or digit. moby's regular expressions read a class or an assertion into it,
    /// so that a Windows path such as `foo\bar` asks for a word boundary and finds no file. The few
    /// patterns that could find one that way are given up here.
    Never,
}

impl Glob {
    /// Reads a cleaned pattern; `None` if its syntax is wrong.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut characters = pattern.chars().peekable();
        // A plain suffix is compared as text, so that `**x` finds `yx` although `**x*` finds it not.
        let is_suffix = pattern
            .strip_prefix("**")
            .is_some_and(|suffix| !suffix.starts_with('/') && !suffix.contains(SPECIAL));
        if is_suffix {
            characters.nth(1);
            tokens.push(Token::Anything);
        }
        while let Some(character) = characters.next() {
            match character {
                '*' if characters.next_if_eq(&'*').is_some() => {
                    characters.next_if_eq(&'/');
                    if characters.peek().is_none() {
                        tokens.push(Token::Anything);
                    } else if tokens.last() != Some(&Token::InsideDirectories) {
                        tokens.extend([Token::Directories, Token::InsideDirectories]);
                    }
                }
                '*' => tokens.push(Token::Many),
                '?' => tokens.push(Token::AnyOne),
                '[' => tokens.push(read_class(&mut characters)?),
                '\\' => tokens.push(match characters.next()? {
                    escaped if escapes_nothing(escaped) => Token::Never,
                    escaped => Token::One(escaped),
                }),
                _ => tokens.push(Token::One(character)),
            }
        }
        let takes_one = |token: &&Token| {
            matches!(token, Token::One(_) | Token::AnyOne | Token::Class { .. } | Token::Never)
        };
        let min_length = tokens.iter().filter(takes_one).count();
        Some(Self { tokens, min_length })
    }

    /// Whether the pattern matches `path` or one of the directories it lies in.
    pub(super) fn matches_path_or_parent(&self, path: &str) -> bool {
        if self.min_length > path.len() {
            return false;
        }
        let mut states = States::new(self.tokens.len());
        self.enter(&mut states, 0);
        for character in path.chars() {
            if character == '/' && states.contains(self.tokens.len()) {
                return true;
            }
            let mut next = States::new(self.tokens.len());
            for &index in &states.active {
                self.step(&mut next, index, character);
            }
            if next.active.is_empty() {
                return false;
            }
            states = next;
        }
        states.contains(self.tokens.len())
    }

    /// Enters the place before the token `index`, and the places that are reached from there
    /// without a character.
    fn enter(&self, states: &mut States, index: usize) {
        if !states.insert(index) {
            return;
        }
        match self.tokens.get(index) {
            Some(Token::Many | Token::Anything) => self.enter(states, index + 1),
            Some(Token::Directories) => {
                self.enter(states, index + 1);
                self.enter(states, index + 2);
            }
            _ => {}
        }
    }

    fn step(&self, next: &mut States, index: usize, character: char) {
        let Some(token) = self.tokens.get(index) else { return };
        match token {
            Token::One(expected) if *expected == character => self.enter(next, index + 1),
            Token::AnyOne if character != '/' => self.enter(next, index + 1),
            Token::Many if character != '/' => self.enter(next, index),
            Token::Class { negated, ranges } => {
                let inside = ranges.iter().any(|(low, high)| (*low..=*high).contains(&character));
                if inside != *negated {
                    self.enter(next, index + 1);
                }
            }
            Token::Anything => self.enter(next, index),
            Token::InsideDirectories => {
                self.enter(next, index);
                if character == '/' {
                    self.enter(next, index + 1);
                }
            }
            _ => {}
        }
    }
}

/// The places in the pattern that matching has reached.
struct States {
    reached: Vec<bool>,
    active: Vec<usize>,
}

impl States {
    fn new(tokens: usize) -> Self {
        Self { reached: vec![false; tokens + 1], active: Vec::new() }
    }

    /// Adds a place; false if it was there before or is none.
    fn insert(&mut self, index: usize) -> bool {
        match self.reached.get_mut(index) {
            Some(reached) if !*reached => {
                *reached = true;
                self.active.push(index);
                true
            }
            _ => false,
        }
    }

    fn contains(&self, index: usize) -> bool {
        self.reached.get(index) == Some(&true)
    }
}

/// What makes a suffix more than plain characters.
const SPECIAL: [char; 5] = ['*', '?', '[', ']', '\\'];

/// Reads a class up to its `]`, its `[` being read. Go wants at least one member, and an escape for
/// `]` and `-`.
fn read_class(characters: &mut Peekable<Chars<'_>>) -> Option<Token> {
    let negated = characters.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    let mut readable = true;
    loop {
        if !ranges.is_empty() && characters.next_if_eq(&']').is_some() {
            return Some(if readable { Token::Class { negated, ranges } } else { Token::Never });
        }
        let (low, low_readable) = read_member(characters)?;
        let (high, high_readable) = match characters.next_if_eq(&'-') {
            Some(_) => read_member(characters)?,
            None => (low, true),
        };
        if low > high {
            return None;
        }
        readable &= low_readable && high_readable;
        ranges.push((low, high));
    }
}

/// Reads one member of a class, and whether it stands for itself.
fn read_member(characters: &mut Peekable<Chars<'_>>) -> Option<(char, bool)> {
    match characters.next()? {
        '-' | ']' => None,
        '\\' => characters.next().map(|escaped| (escaped, !escapes_nothing(escaped))),
        character => Some((character, true)),
    }
}

/// Only punctuation stands for itself when it is escaped.
fn escapes_nothing(character: char) -> bool {
    character.is_ascii_alphanumeric() || !character.is_ascii()
}
