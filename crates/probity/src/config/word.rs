//! Closed choices: every variant of an enum has one word, in files, variables, flags and reports.

use super::nearest::nearest;

/// An enum whose variants are words.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// The words in the order in which they are listed.
    const NAMES: &'static [&'static str];
    /// The variants in the same order.
    const ALL: &'static [Self];

    fn word(self) -> &'static str {
        let index = Self::ALL.iter().position(|variant| *variant == self).unwrap_or_default();
        Self::NAMES.get(index).copied().unwrap_or_default()
    }

    fn from_word(word: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|name| *name == word)?;
        Self::ALL.get(index).copied()
    }
}

/// Gives the variants of an enum, wherever it is defined, their words.
macro_rules! words {
    ($($name:ty { $($variant:ident = $word:literal),+ $(,)? })+) => {
        $(
            impl $crate::config::word::Word for $name {
                const NAMES: &'static [&'static str] = &[$($word),+];
                const ALL: &'static [Self] = &[$(Self::$variant),+];
            }
        )+
    };
}

pub(crate) use words;

/// A text is none of the words that a choice has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid value{} (valid: {valid})", suggestion(meant.as_deref()))]
pub(crate) struct UnknownWord {
    text: String,
    /// The word that the text is nearest to.
    meant: Option<String>,
    valid: String,
}

impl UnknownWord {
    pub(crate) fn new(text: &str, words: &[&str]) -> Self {
        Self {
            text: text.to_owned(),
            meant: nearest(text, words.iter().copied()).map(str::to_owned),
            valid: words.join(", "),
        }
    }
}

fn suggestion(meant: Option<&str>) -> String {
    meant.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default()
}
