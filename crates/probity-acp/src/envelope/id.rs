//! Request ids, kept in the spelling of whoever chose them.

use std::borrow::Cow;
use std::fmt;

use super::{quote, unquote};

/// A JSON-RPC id as raw JSON: `7`, `"7"`, `"a-b"`, `null`.
///
/// Equality is of the spelling, since that is what the other side will compare with.
/// [`Id::same_as`] is for agents that answer `7` with `"7"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id<'a>(Cow<'a, str>);

impl<'a> Id<'a> {
    /// Takes a spelling that is known to be one JSON value.
    pub(crate) fn from_raw(raw: &'a str) -> Self {
        Self(Cow::Borrowed(raw))
    }

    /// The id whose text is this string.
    #[must_use]
    pub fn string(text: &str) -> Id<'static> {
        Id(Cow::Owned(quote(text)))
    }

    /// As it stands in a message.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn into_owned(self) -> Id<'static> {
        Id(Cow::Owned(self.0.into_owned()))
    }

    /// The number that it is or spells, if it is one that we could have given out.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let text = self.content();
        // Only the spelling that we write ourselves: `+7`, `07` and `7.0` are somebody else's.
        text.parse::<u64>().ok().filter(|number| number.to_string() == text)
    }

    /// Whether the two name the same request when a number and a string of it are taken as one.
    #[must_use]
    pub fn same_as(&self, other: &Id<'_>) -> bool {
        self.0 == other.0
            || (self.is_scalar() && other.is_scalar() && self.content() == other.content())
    }

    /// `null` is not the string "null", and so on.
    fn is_scalar(&self) -> bool {
        self.0.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
    }

    fn content(&self) -> Cow<'_, str> {
        unquote(&self.0).unwrap_or(Cow::Borrowed(&self.0))
    }
}

impl From<u64> for Id<'static> {
    fn from(number: u64) -> Self {
        Self(Cow::Owned(number.to_string()))
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Id;

    #[test]
    fn a_number_and_its_string_are_the_same_but_not_equal() {
        for (a, b, same) in [
            ("7", "\"7\"", true),
            ("7", "7", true),
            ("\"a\"", "\"\\u0061\"", true),
            ("-1", "\"-1\"", true),
            ("7", "8", false),
            ("7", "7.0", false),
            ("null", "\"null\"", false),
            ("\"07\"", "7", false),
        ] {
            let (a, b) = (Id::from_raw(a), Id::from_raw(b));
            assert_eq!(a.same_as(&b), same, "{a} {b}");
            assert_eq!(b.same_as(&a), same, "{b} {a}");
            assert_eq!(a == b, a.raw() == b.raw());
        }
    }

    #[test]
    fn only_spellings_that_we_give_out_are_numbers() {
        for (raw, number) in [
            ("7", Some(7)),
            ("\"7\"", Some(7)),
            ("\"+7\"", None),
            ("\"07\"", None),
            ("7.0", None),
            ("-7", None),
            ("null", None),
            ("12345678901234567890123", None),
        ] {
            assert_eq!(Id::from_raw(raw).number(), number, "{raw}");
        }
    }
}
