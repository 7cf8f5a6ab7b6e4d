//! Word expansion: variables, quotes and escapes in one word of an instruction, as BuildKit does it.
//!
//! The language is BuildKit's own, not a shell's: `${X:=d}` is refused, a pattern knows `*` and `?`
//! but no brackets, and an operand is expanded (and its variables recorded) even where its value is
//! then not used. Every reference is kept with its place in the word, so that a rule can point at the
//! variable and not at the instruction.
//!
//! **Invariant:** the work done for one word is bounded, whatever the values of its variables: an
//! expansion that nests too deeply or grows too large is an error like any other.

mod lexer;
mod operand;
mod pattern;
mod words;

#[cfg(test)]
mod tests;

use std::{error, fmt, ops::Range};

/// How deeply `${A:-${B:-…}}` may nest before the expansion is refused.
const MAX_DEPTH: usize = 200;

/// How many steps one word may cost: one for each byte a variable yields and for each step of a
/// pattern. Values can double with every `ENV A=$A$A`, so that without a bound a short file could
/// ask for all memory.
const MAX_WORK: usize = 1 << 24;

/// Looks a variable's value up; `None` means that it is not set.
pub type Lookup<'e> = dyn Fn(&str) -> Option<&'e str> + 'e;

/// Expands words with one escape character and one set of variables.
#[derive(Clone, Copy)]
pub struct Expander<'e> {
    escape: char,
    variables: &'e Lookup<'e>,
    keep_quotes: bool,
    keep_escapes: bool,
    keep_unset: bool,
    quotes_are_text: bool,
}

impl<'e> Expander<'e> {
    /// An expander with the file's escape character (`\` or a backtick).
    pub fn new(escape: char, variables: &'e Lookup<'e>) -> Self {
        Self {
            escape,
            variables,
            keep_quotes: false,
            keep_escapes: false,
            keep_unset: false,
            quotes_are_text: false,
        }
    }

    /// Quotes still protect what they enclose, but stay in the text.
    #[must_use]
    pub fn keep_quotes(self) -> Self {
        Self { keep_quotes: true, ..self }
    }

    /// Escape characters still protect the next character, but stay in the text.
    #[must_use]
    pub fn keep_escapes(self) -> Self {
        Self { keep_escapes: true, ..self }
    }

    /// A reference to a variable that is not set stays as it was written.
    #[must_use]
    pub fn keep_unset(self) -> Self {
        Self { keep_unset: true, ..self }
    }

    /// Quotes are characters like any other, as in the body of a heredoc.
    #[must_use]
    pub fn quotes_are_text(self) -> Self {
        Self { quotes_are_text: true, ..self }
    }

    /// Expands `word` to one text, white space and all.
    pub fn expand(&self, word: &str) -> Result<Expansion, ExpandError> {
        lexer::expand(self, word).map(|(expansion, _words)| expansion)
    }

    /// Expands `text`, then splits the result at white space that neither a quote nor an escape
    /// protects.
    pub fn expand_words(&self, text: &str) -> Result<Vec<ExpandedWord>, ExpandError> {
        lexer::expand(self, text).map(|(_expansion, words)| words)
    }
}

impl fmt::Debug for Expander<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Expander").field("escape", &self.escape).finish_non_exhaustive()
    }
}

/// What a word expands to, and the variables it refers to, in the order of the word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    pub text: String,
    /// References to variables that are set.
    pub used: Vec<Reference>,
    /// References to variables that are not set, those with a default included: BuildKit counts
    /// `${X:-d}` among them. [`Reference::operator`] tells them apart.
    pub unmatched: Vec<Reference>,
}

/// One variable's appearance in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub name: String,
    /// The whole reference, from its `$` to its end, in bytes of the word.
    pub range: Range<usize>,
    /// The name alone.
    pub name_range: Range<usize>,
    /// What is done with the value; none for `$X` and `${X}`.
    pub operator: Option<Operator>,
}

/// What `${X…}` does with the variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `${X:-word}` and `${X-word}`
    Default,
    /// `${X:+word}` and `${X+word}`
    Alternative,
    /// `${X:?message}` and `${X?message}`
    Required,
    /// `${X#pattern}` and `${X##pattern}`
    TrimPrefix,
    /// `${X%pattern}` and `${X%%pattern}`
    TrimSuffix,
    /// `${X/pattern/replacement}` and `${X//pattern/replacement}`
    Replace,
    /// Something else, which only [`Expander::keep_unset`] lets pass.
    Unsupported,
}

/// One word of the expanded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedWord {
    pub text: String,
    /// The part of the input that the word came from. Words that came from one variable share it.
    pub range: Range<usize>,
}

/// Why a word cannot be expanded, and which part of it is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandError {
    pub kind: ExpandErrorKind,
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandErrorKind {
    MissingBrace,
    MissingSlash,
    BadSubstitution,
    UnclosedSingleQuote,
    UnclosedDoubleQuote,
    UnsupportedModifier { modifier: String },
    InvalidPattern { pattern: String },
    Required { name: String, message: String },
    TooDeep,
    TooLarge,
}

impl fmt::Display for ExpandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpandErrorKind::MissingBrace => write!(formatter, "syntax error: missing '}}'"),
            ExpandErrorKind::MissingSlash => {
                write!(formatter, "syntax error: missing '/' in ${{}}")
            }
            ExpandErrorKind::BadSubstitution => {
                write!(formatter, "syntax error: bad substitution")
            }
            ExpandErrorKind::UnclosedSingleQuote => {
                write!(
                    formatter,
                    "unexpected end of statement while looking for matching single-quote"
                )
            }
            ExpandErrorKind::UnclosedDoubleQuote => {
                write!(
                    formatter,
                    "unexpected end of statement while looking for matching double-quote"
                )
            }
            ExpandErrorKind::UnsupportedModifier { modifier } => {
                write!(formatter, "unsupported modifier ({modifier}) in substitution")
            }
            ExpandErrorKind::InvalidPattern { pattern } => {
                write!(formatter, "invalid pattern ({pattern}) in substitution")
            }
            ExpandErrorKind::Required { name, message } => write!(formatter, "{name}: {message}"),
            ExpandErrorKind::TooDeep => {
                write!(formatter, "substitutions nest deeper than {MAX_DEPTH} levels")
            }
            ExpandErrorKind::TooLarge => write!(formatter, "the expansion is too large"),
        }
    }
}

impl error::Error for ExpandError {}
