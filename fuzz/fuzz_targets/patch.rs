//! Any two texts: one as an answer with a patch for the other, and both as the ends of a difference.
//!
//! The first zero byte separates the two.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_autofix::{Answer, Expect, Patch, diff_of, minimal_edits, parse_answer};
use probity_finding::{Fix, apply};

fuzz_target!(|text: &str| {
    let (base, other) = text.split_once('\0').unwrap_or(("", text));
    let patch = match parse_answer(other, Expect::Patch) {
        Answer::Block(block) => block,
        _ => other.to_owned(),
    };
    if let Ok(applied) = Patch::parse(&patch, "Dockerfile").and_then(|patch| patch.apply(base)) {
        assert_ne!(applied.text, base);
        let ends_alike = applied.text.ends_with('\n') == base.ends_with('\n');
        assert!(ends_alike || applied.text.is_empty() || base.is_empty());
    }
    if let Ok(patch) = diff_of(base, other) {
        let applied = patch.apply(base).map(|applied| applied.relocated);
        assert!(applied.is_ok_and(|relocated| relocated.is_empty()) || !base.ends_with('\n'));
    }
    if base != other {
        let fix = Fix::risky("", minimal_edits(base, other));
        assert_eq!(apply(base, &[&fix]).text, other);
    }
});
