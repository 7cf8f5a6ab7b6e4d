//! What the user says is no secret, and what is refused as an allowlist.

use probity_secrets::{Detector, Options};

use crate::forge::{Dice, token};

#[test]
fn values_patterns_and_kinds_are_let_go_and_nothing_else() {
    let mut dice = Dice::new(11);
    let npm = token("npm_ @a30 @crc", &mut dice);
    let slack = token("xoxb- @d12 - @d13 - @a24", &mut dice);
    let stripe = token("sk_test_ @a24", &mut dice);
    let github = token("ghp_ @a30 @crc", &mut dice);
    let text = format!("{npm}\n{slack}\n{stripe}\n{github}\n");
    let options = Options {
        allowed_values: vec![npm.clone(), github[..20].to_owned()],
        allowed_patterns: vec!["^sk_test_".to_owned()],
        allowed_kinds: vec!["slack-token".to_owned()],
    };
    let found = Detector::new(&options).unwrap().find(&text);
    let kinds: Vec<_> = found.iter().map(|secret| secret.kind).collect();
    assert_eq!(kinds, ["github-personal-token"]);
}

#[test]
fn an_allowlist_that_cannot_be_understood_is_refused_without_quoting_it() {
    let options = |patterns: &[&str], kinds: &[&str]| Options {
        allowed_values: Vec::new(),
        allowed_patterns: patterns.iter().map(ToString::to_string).collect(),
        allowed_kinds: kinds.iter().map(ToString::to_string).collect(),
    };
    let message = |patterns: &[&str], kinds: &[&str]| {
        Detector::new(&options(patterns, kinds)).unwrap_err().to_string()
    };
    insta::assert_snapshot!(
        message(&["fine", "hunter2("], &[]),
        @"allowed pattern 2 is not a regular expression: unclosed group"
    );
    insta::assert_snapshot!(
        message(&["x*"], &[]),
        @"allowed pattern 1 matches the empty text, and so every secret"
    );
    insta::assert_snapshot!(
        message(&[], &["slack-tokens"]),
        @"allowed kind `slack-tokens` is not a kind of secret"
    );
}
