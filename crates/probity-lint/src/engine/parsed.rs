//! A text with what is known about it: parsed once, however many want to look at it.

use probity_dockerfile::{DetachedTree, Dockerfile, Facts, parse, parse_shared};
use probity_finding::TextSlice;

/// A parsed file and its facts.
#[derive(Debug)]
pub struct Parsed<'t> {
    pub(crate) file: Dockerfile<'t>,
    pub(crate) facts: Facts,
}

impl<'t> Parsed<'t> {
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        Self::of_tree(parse(text))
    }

    /// The same for a text that is shared already, which needs less memory.
    #[must_use]
    pub fn of_shared(text: &'t TextSlice) -> Self {
        Self::of_tree(parse_shared(text))
    }

    fn of_tree(file: Dockerfile<'t>) -> Self {
        let facts = Facts::of(&file);
        Self { file, facts }
    }

    /// The same without its text, which can then move.
    #[must_use]
    pub fn detached(self) -> Detached {
        Detached { tree: self.file.detached(), facts: self.facts }
    }
}

/// What was parsed of a text that is elsewhere.
#[derive(Debug)]
pub struct Detached {
    tree: DetachedTree,
    facts: Facts,
}

impl Detached {
    /// With the text that it was parsed from; with another one its places mean nothing.
    #[must_use]
    pub fn attached(self, text: &str) -> Parsed<'_> {
        Parsed { file: self.tree.attached(text), facts: self.facts }
    }
}
