//! Quotes that stand in the sources, and others.

use std::fs;

use super::*;
use crate::{Risk, sources::whole};

const SPEND: &str = "validator spend {\n  fn spend(datum, redeemer, ctx) {\n    expect InlineDatum(_) = output.datum\n    let paid = lovelace_of(output.value)\n    paid == datum.price\n  }\n}\n\n// a comment\nfn other() {\n  expect Some(x) = y\n}\n\nfn third() {\n  expect Some(x) = y\n}\n";

fn check(
    file: Option<&str>,
    line: Option<u64>,
    evidence: &[&str],
) -> (Option<String>, Option<u64>, bool) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("validators")).unwrap();
    fs::write(dir.path().join("validators/spend.ak"), SPEND).unwrap();
    fs::write(dir.path().join("lib.ak"), "fn only_here_and_nowhere_else() {}\n").unwrap();
    fs::create_dir_all(dir.path().join(".tx3/audit")).unwrap();
    let report = "- Evidence: `a quote that a model made up`\n";
    fs::write(dir.path().join(".tx3/audit/vulnerabilities.md"), report).unwrap();
    fs::write(dir.path().join("skill.md"), report).unwrap();
    std::os::unix::fs::symlink("lib.ak", dir.path().join("link.ak")).unwrap();
    fs::write(dir.path().join(".env"), "SECRET_THING=in-the-environment\n").unwrap();
    let scope = whole(dir.path()).unwrap();
    let sources = ["lib.ak".to_owned(), "validators/spend.ak".to_owned()];
    let mut finding = Finding {
        title: String::new(),
        severity: Risk::Low,
        summary: String::new(),
        evidence: evidence.iter().map(|text| (*text).to_owned()).collect(),
        recommendation: String::new(),
        file: file.map(str::to_owned),
        line,
        verified: None,
        fingerprint: None,
        refutation: None,
        impact: None,
        likelihood: None,
        exploit: None,
        offered: None,
    };
    Evidence::new(&scope, &sources).check(&mut finding);
    (finding.file, finding.line, finding.verified.unwrap())
}

const FILE: Option<&str> = Some("validators/spend.ak");

#[test]
fn a_quote_within_three_lines_of_its_place_verifies_and_corrects_the_line() {
    for (line, quote, corrected) in [
        (Some(3), "expect InlineDatum(_) = output.datum", 3),
        (Some(6), "expect InlineDatum(_) = output.datum", 3),
        (Some(2), "  paid == datum.price", 5),
        (None, "expect InlineDatum(_) = output.datum", 3),
        (Some(4), "  paid  ==  datum.price ", 5),
        (Some(4), "let paid = lovelace_of(output.value)\n    paid == datum.price", 4),
        (Some(4), "4:    let paid = lovelace_of(output.value)\n5-    paid == datum.price", 4),
        (Some(3), "The line `expect InlineDatum(_) = output.datum` accepts anything.", 3),
        (Some(3), "```aiken\nexpect InlineDatum(_) = output.datum\n```", 3),
        (Some(3), "\"expect InlineDatum(_) = output.datum\"", 3),
        // At one place of the file alone, which is then the one that is meant.
        (Some(7), "expect InlineDatum(_) = output.datum", 3),
        (Some(900), "expect InlineDatum(_) = output.datum", 3),
        // At two places: the one that is near is meant.
        (Some(14), "expect Some(x) = y", 15),
    ] {
        let found = check(FILE, line, &[quote]);
        assert_eq!(found, (FILE.map(str::to_owned), Some(corrected), true), "{quote}");
    }
}

#[test]
fn invented_short_far_off_and_missing_quotes_do_not() {
    for (line, quotes) in [
        (Some(3), &["expect InlineDatum(state) = output.datum"][..]),
        (Some(3), &["output"]),
        (Some(3), &["expect Some("]),
        (Some(100), &["expect Some(x) = y"]),
        (Some(3), &[]),
        (Some(3), &["The datum is not checked."]),
    ] {
        let (_, corrected, verified) = check(FILE, line, quotes);
        assert!(!verified, "{quotes:?}");
        assert_eq!(corrected, line, "nothing is corrected without proof");
    }
}

#[test]
fn the_length_that_counts_is_twelve_characters_without_blanks() {
    assert!(!check(FILE, Some(2), &["datum, redee"]).2, "eleven");
    assert!(check(FILE, Some(2), &["datum, redeem"]).2, "twelve");
}

#[test]
fn files_are_named_as_sources_and_others_are_not_believed() {
    let quote = ["expect InlineDatum(_) = output.datum"];
    let found = check(Some("./validators/../validators/spend.ak"), Some(3), &quote);
    assert_eq!(found, (FILE.map(str::to_owned), Some(3), true));
    for (file, shown) in [
        ("gone.ak", "gone.ak"),
        ("/etc/hostname", "hostname"),
        ("../../etc/passwd", "../../etc/passwd"),
        (".env", ".env"),
    ] {
        let found = check(Some(file), None, &["SECRET_THING=in-the-environment"]);
        assert_eq!(found, (Some(shown.to_owned()), None, false), "{file}");
    }
}

#[test]
fn what_is_no_source_proves_nothing_even_inside_the_project() {
    for file in [".tx3/audit/vulnerabilities.md", "skill.md"] {
        let found = check(Some(file), None, &["a quote that a model made up"]);
        assert_eq!(found, (Some(file.to_owned()), None, false));
    }
    let found = check(Some("link.ak"), None, &["fn only_here_and_nowhere_else()"]);
    assert_eq!(found, (Some("lib.ak".to_owned()), Some(1), true), "a link to a source");
}

#[test]
fn a_finding_without_a_file_is_placed_by_a_quote_of_one_source() {
    let found = check(None, None, &["fn only_here_and_nowhere_else()"]);
    assert_eq!(found, (Some("lib.ak".to_owned()), Some(1), true));
    assert_eq!(check(None, Some(1), &["nowhere at all in here"]), (None, Some(1), false));
}
