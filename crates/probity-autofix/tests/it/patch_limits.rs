//! Hostile patches and texts: a bounded cost, and a reason.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use probity_autofix::{Answer, Expect, Patch, PatchError, diff_of, minimal_edits, parse_answer};

const HEADER: &str = "--- a/Dockerfile\n+++ b/Dockerfile\n";

/// What each of these takes in a debug build on a busy machine, many times over; quadratic cost
/// would be minutes.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn too_many_bytes_or_hunks_are_refused_with_the_limit() {
    let hunks: String = (1..=100_000).map(|n| format!("@@ -{n} +{n} @@\n-a\n+b\n")).collect();
    assert_eq!(parse(&format!("{HEADER}{hunks}")).unwrap_err().name(), "patch_too_large");

    let hunks: String = (1..=1001).map(|n| format!("@@ -{n} +{n} @@\n-a\n+b\n")).collect();
    let expected = PatchError::TooLarge { what: "hunks", found: 1001, limit: 1000 };
    assert_eq!(parse(&format!("{HEADER}{hunks}")), Err(expected));
    let hunks: String = (1..=1000).map(|n| format!("@@ -{n} +{n} @@\n-a\n+b\n")).collect();
    let applied = parse(&format!("{HEADER}{hunks}")).unwrap().apply(&"a\n".repeat(1000)).unwrap();
    assert_eq!(applied.text, "b\n".repeat(1000));

    let bytes = format!("{HEADER}@@ -1 +1 @@\n-a\n+{}\n", "b".repeat(2 * 1024 * 1024));
    let expected = PatchError::TooLarge { what: "bytes", found: bytes.len(), limit: 2_097_152 };
    assert_eq!(parse(&bytes), Err(expected));
    let name = "a ".repeat(5000);
    let named = format!("diff --git {name}\n");
    assert_eq!(parse(&named).unwrap_err().name(), "patch_parse_failed");
}

#[test]
fn a_line_of_a_megabyte_is_a_line() {
    let long = "x".repeat(1024 * 1024);
    let base = format!("{long}\nend\n");
    let started = Instant::now();
    let patch = parse(&format!("{HEADER}@@ -9,9 +9,9 @@\n-{long}\n+short\n end\n")).unwrap();
    assert_eq!(patch.apply(&base).unwrap().text, "short\nend\n");
    let edits = minimal_edits(&base, &format!("{long}y\nend\n"));
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0].text, "y");
    assert!(started.elapsed() < LONG);
}

#[test]
fn searching_for_misplaced_hunks_is_linear() {
    // Every place of the text but one matches all lines of the hunk but the last.
    let base = "a\n".repeat(100_000) + "b\n";
    let started = Instant::now();
    let context = " a\n".repeat(50_000);
    let patch = parse(&format!("{HEADER}@@ -1,9 +1,9 @@\n{context}-b\n+c\n")).unwrap();
    let applied = patch.apply(&base).unwrap();
    assert_eq!(applied.relocated[0].actual_line, 50_001);

    // Many misplaced hunks in a long text.
    let base: String = (0..20_000).fold(String::new(), |mut text, n| {
        writeln!(text, "l{n}").unwrap();
        text
    });
    let hunks: String = (0..300).map(|n| format!("@@ -1 +1 @@\n-l{}\n+x\n", n * 60)).collect();
    let applied = parse(&format!("{HEADER}{hunks}")).unwrap().apply(&base).unwrap();
    assert_eq!(applied.relocated.len(), 299);
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
}

#[test]
fn headers_answers_and_differences_stay_cheap() {
    let started = Instant::now();
    let markers = format!("{HEADER}@@ -1,8 +1,9 @@\n a\n{}", "\n".repeat(1_000_000));
    assert_eq!(parse(&markers).unwrap().hunks()[0].lines.len(), 1);
    for line in ["\\\n", "@@\n", "--- a\n", "+++ b\n", "diff --git a b\n", "-- \n", " \n"] {
        let flood = line.repeat(1_000_000 / line.len());
        parse(&flood).unwrap_err();
        parse(&format!("{HEADER}@@ -1 +1 @@\n-a\n+b\n{flood}")).ok();
        assert!(matches!(parse_answer(&flood, Expect::Patch), Answer::Malformed(_)));
    }
    for flood in ["```\n".repeat(400_000), "`".repeat(1_500_000)] {
        assert!(matches!(parse_answer(&flood, Expect::Patch), Answer::Malformed(_)));
    }

    let numbered =
        |from: usize| -> String { (from..from + 40_000).map(|n| format!("{n}\n")).collect() };
    let (old, new) = (numbered(0), numbered(20_000_000));
    let applied = diff_of(&old, &new).unwrap().apply(&old).unwrap();
    assert_eq!(applied.text, new);
    let half =
        (numbered(0).split_inclusive('\n').take(2400).collect::<String>(), "z\n".repeat(2400));
    assert_eq!(minimal_edits(&half.0, &half.1).len(), 2400);
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
}

fn parse(patch: &str) -> Result<Patch, PatchError> {
    Patch::parse(patch, "Dockerfile")
}
