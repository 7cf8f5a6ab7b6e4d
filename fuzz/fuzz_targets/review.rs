//! Any text as an agent's answer with claims, and as a stored `review.json`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_review::{parse_findings, read};

fuzz_target!(|text: &str| {
    if let Ok(findings) = parse_findings(text) {
        for finding in &findings.accepted {
            assert!(finding.line > 0, "{finding:?}");
        }
    }
    if let Ok(review) = read(text) {
        let again = serde_json::to_string(&review).expect("a review can be written");
        let same = read(&again).expect("a written review can be read");
        assert_eq!(serde_json::to_string(&same).expect("and written again"), again);
    }
});
