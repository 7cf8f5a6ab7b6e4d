//! Offsets, counts and indices in four bytes: a file keeps them by the hundred thousand.

use std::ops::Range;

/// A number as it is kept: no file has four thousand million bytes, lines or anything else.
pub(crate) fn compact(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(crate) fn compact_range(range: &Range<usize>) -> Range<u32> {
    compact(range.start)..compact(range.end)
}

pub(crate) fn wide_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
