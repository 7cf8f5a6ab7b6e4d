//! Any text at all: read, told the facts of, and linted.
//!
//! `cargo +nightly fuzz run parse fuzz/corpus/parse crates/probity-dockerfile/tests/it/cases`; what
//! it finds is put into the first of the two directories. The test `fuzz_driver` of
//! probity-dockerfile checks the same without a fuzzer.
#![no_main]

#[path = "../../crates/probity-dockerfile/tests/it/invariants.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;
use probity_lint::{DirectiveOptions, LintOptions, Pattern, RuleSet, lint};

fuzz_target!(|text: &str| {
    invariants::check(text);
    let mut rules = RuleSet::default();
    rules.include(&[Pattern::new("*")]);
    let options = LintOptions {
        rules: &rules,
        directives: DirectiveOptions::default(),
        dockerignore: None,
        secrets: None,
    };
    for finding in lint(text, &options) {
        assert!(finding.span.is_none_or(|span| span.slice(text).is_some()), "{finding:?}");
    }
});
