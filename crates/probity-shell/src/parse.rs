//! The front door: from a text to a script.

use std::ops::Range;

use probity_finding::Span;

use crate::{Invocation, Opaque, Script};

/// Parses a text that stands at `offset` in a file; every span is one of the file.
#[must_use]
pub fn parse(text: &str, offset: usize, invocation: Invocation) -> Script {
    parse_mapped(text, invocation, &|range| Span::from(range).shifted(offset))
}

/// Parses a text that was put together from pieces of a file; `place` tells where in the file a
/// range of the text stands.
#[must_use]
pub fn parse_mapped(
    text: &str,
    invocation: Invocation,
    place: &dyn Fn(Range<usize>) -> Span,
) -> Script {
    Script {
        span: place(0..text.len()),
        invocation,
        commands: Vec::new(),
        blocks: Vec::new(),
        errors: Vec::new(),
        opaque: Some(Opaque::Dialect),
    }
}
