//! Any text as a Dockerfile: parsed, its facts computed, and linted by every rule.
//!
//! The test `fuzz_driver` of probity-dockerfile checks the same without a fuzzer.
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
        context_files: None,
        secrets: None,
    };
    for finding in lint(text, &options) {
        assert!(finding.span.is_none_or(|span| span.slice(text).is_some()), "{finding:?}");
    }
});
