//! Facts, and the text under every span they name.

mod any;
mod contract;
mod cost;
mod expansion;
mod graph;
mod runtime;
mod scripts;
mod stages;
mod state;
mod variables;

use probity_dockerfile::{Dockerfile, Facts, Keyword, parse};

/// Parses a text that BuildKit accepts and hands it over with its facts.
fn check(text: &str, test: impl FnOnce(&Dockerfile<'_>, &Facts)) {
    let dockerfile = parse(text);
    assert_eq!(dockerfile.errors, [], "{text}");
    let facts = Facts::of(&dockerfile);
    test(&dockerfile, &facts);
}

/// The index of the n-th instruction with this keyword.
fn nth(dockerfile: &Dockerfile<'_>, keyword: Keyword, n: usize) -> usize {
    let mut found = dockerfile.instructions.iter().enumerate();
    let (index, _) = found.by_ref().filter(|(_, it)| it.keyword == keyword).nth(n).unwrap();
    index
}
