//! Any text as an agent's answer with claims, as a stored `review.json`, and as the files that the
//! steps of a review hand on: `claims.json` and the part of a shard.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_review::{parse_findings, read, read_claims, read_part};
use serde::Serialize;

fuzz_target!(|text: &str| {
    if let Ok(findings) = parse_findings(text) {
        for finding in &findings.accepted {
            assert!(finding.line > 0, "{finding:?}");
        }
    }
    stays_the_same(text, read);
    stays_the_same(text, read_claims);
    stays_the_same(text, read_part);
});

/// What was read can be written, and read again as the same.
fn stays_the_same<T: Serialize, E: std::fmt::Debug>(
    text: &str,
    read: impl Fn(&str) -> Result<T, E>,
) {
    if let Ok(value) = read(text) {
        let again = serde_json::to_string(&value).expect("it can be written");
        let same = read(&again).expect("what was written can be read");
        assert_eq!(serde_json::to_string(&same).expect("and written again"), again);
    }
}
