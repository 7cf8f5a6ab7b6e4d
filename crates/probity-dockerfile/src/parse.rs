//! The front door: text in, tree out.

use crate::Dockerfile;

/// Parses a Dockerfile. Whatever the text is, there is a tree; what BuildKit would reject is in its
/// `errors`.
#[must_use]
pub fn parse(text: &str) -> Dockerfile<'_> {
    Dockerfile {
        text,
        tokens: Vec::new(),
        directives: Vec::new(),
        escape: '\\',
        instructions: Vec::new(),
        errors: Vec::new(),
    }
}
