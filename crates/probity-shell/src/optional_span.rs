//! A span that may be missing, in eight bytes instead of 24: a script keeps two for each command.

use probity_finding::Span;

use crate::script::compact;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionalSpan {
    start: u32,
    end: u32,
}

impl OptionalSpan {
    /// No span ends before it starts.
    pub(crate) const NONE: Self = Self { start: u32::MAX, end: 0 };

    pub(crate) fn get(self) -> Option<Span> {
        let is_known = self.start <= self.end;
        is_known.then(|| Span::new(self.start as usize, self.end as usize))
    }
}

impl From<Option<Span>> for OptionalSpan {
    fn from(span: Option<Span>) -> Self {
        span.map_or(Self::NONE, |span| Self { start: compact(span.start), end: compact(span.end) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_come_back_as_they_were() {
        for span in [None, Some(Span::at(0)), Some(Span::new(3, 5)), Some(Span::at(7))] {
            assert_eq!(OptionalSpan::from(span).get(), span);
        }
    }
}
