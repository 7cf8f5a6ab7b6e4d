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

/// Why a text is none of the words that a choice has.
pub(crate) fn unknown_word(text: &str, words: &[&str]) -> String {
    let meant = nearest(text, words.iter().copied());
    let meant = meant.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
    format!("`{text}` is not a valid value{meant} (valid: {})", words.join(", "))
}
