//! A byte range in one text.

/// A byte range in one source text; `start <= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// The range between two offsets, in whichever order they come.
    #[must_use]
    pub fn new(a: usize, b: usize) -> Self {
        Self { start: a.min(b), end: a.max(b) }
    }

    /// The empty range at `offset`, where an insertion goes.
    #[must_use]
    pub fn at(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    #[must_use]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[must_use]
    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether `inner` lies wholly within this range; an empty range lies within its neighbours.
    #[must_use]
    pub fn encloses(self, inner: Self) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// This range, moved right by `offset` bytes.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    /// The text under the range, or nothing where it does not fit the text.
    #[must_use]
    pub fn slice(self, text: &str) -> Option<&str> {
        text.get(self.start..self.end)
    }
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}
