//! Long texts that nearly match cost no more than their length.
//!
//! No clock is read: with a quadratic search these texts would take hours, and the test with them.

use crate::detector;

const LENGTH: usize = 1 << 20;

#[test]
fn a_megabyte_of_near_matches_is_searched() {
    let detector = detector();
    for piece in [
        "a",
        "A",
        "=",
        "-----",
        "://",
        "eyJ",
        "eyJ.",
        "ghp_",
        "password=",
        "token:",
        "secret ",
        "AKIA",
        "pypi-AgEIcHlwaS5vcmc-",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMII",
        "postgres://a:",
        "sig=",
        " -p -u ",
        "datadog_",
        "Private-Lines: 1\n",
        "sk-",
        ".atlasv1.",
        "0123456789:AA",
        "LS0tLS1CRUdJTi+",
    ] {
        let text = piece.repeat(LENGTH / 16 / piece.len());
        let found = detector.find(&text);
        assert!(found.len() <= 1, "{piece}: {}", found.len());
    }
    assert_eq!(detector.find(&"a".repeat(LENGTH)), []);
}
