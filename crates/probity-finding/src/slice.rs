//! A piece of a text that many pieces share, so that words need no copies of their own.

use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::{Deref, Range},
    sync::Arc,
};

/// A range of a shared text. It reads like the string that it is; copying it copies no text.
#[derive(Clone, Default)]
pub struct TextSlice {
    /// A pointer of one word: a word of a script is kept by the hundred thousand.
    whole: Option<Arc<Box<str>>>,
    start: u32,
    end: u32,
}

impl TextSlice {
    /// The text under a range; empty where the range does not fit. A range beyond 4 GiB gets a text of
    /// its own.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let text = self.as_str().get(range.clone()).unwrap_or_default();
        if text.is_empty() {
            return Self::default();
        }
        let offset = |at: usize| u32::try_from(self.start as usize + at);
        match (offset(range.start), offset(range.end)) {
            (Ok(start), Ok(end)) => Self { whole: self.whole.clone(), start, end },
            _ => Self::from(text),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        let whole = self.whole.as_deref().map(AsRef::as_ref).unwrap_or_default();
        // The end of a text beyond 4 GiB is not known.
        let end = if self.end == u32::MAX { whole.len() } else { self.end as usize };
        whole.get(self.start as usize..end).unwrap_or_default()
    }
}

impl From<String> for TextSlice {
    fn from(text: String) -> Self {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let whole = (end > 0).then(|| Arc::new(text.into_boxed_str()));
        Self { whole, start: 0, end }
    }
}

impl From<&str> for TextSlice {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<TextSlice> for String {
    fn from(text: TextSlice) -> Self {
        text.as_str().to_owned()
    }
}

impl Deref for TextSlice {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for TextSlice {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for TextSlice {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for TextSlice {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for TextSlice {}

impl PartialEq<str> for TextSlice {
    fn eq(&self, other: &str) -> bool {
        &**self == other
    }
}

impl PartialEq<&str> for TextSlice {
    fn eq(&self, other: &&str) -> bool {
        &**self == *other
    }
}

impl PartialEq<TextSlice> for &str {
    fn eq(&self, other: &TextSlice) -> bool {
        **other == **self
    }
}

impl PartialEq<TextSlice> for str {
    fn eq(&self, other: &TextSlice) -> bool {
        **other == *self
    }
}

impl PartialEq<String> for TextSlice {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl PartialEq<TextSlice> for String {
    fn eq(&self, other: &TextSlice) -> bool {
        **other == **self
    }
}

impl PartialOrd for TextSlice {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TextSlice {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl Hash for TextSlice {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for TextSlice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl fmt::Display for TextSlice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::TextSlice;

    #[test]
    fn a_piece_of_a_piece_is_the_text_under_both_ranges() {
        let whole = TextSlice::from("RUN größe && b");
        let piece = whole.slice(4..11);
        assert_eq!(piece, "größe");
        assert_eq!(piece.slice(2..6), "öß");
        assert_eq!(piece.slice(0..0), "");
        // Within a character, and behind the end.
        assert_eq!(piece.slice(3..6), "");
        assert_eq!(piece.slice(2..99), "");
        assert_eq!(size_of::<TextSlice>(), 16);
    }
}
