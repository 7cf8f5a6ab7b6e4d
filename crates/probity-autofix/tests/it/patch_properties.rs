//! What holds for all texts: differences lead from one to the other, and nothing panics.

use std::fmt::Write as _;

use probity_autofix::{Answer, Expect, Patch, PatchError, diff_of, minimal_edits, parse_answer};
use probity_finding::{Fix, apply};
use proptest::prelude::*;

proptest! {
    #[test]
    fn edits_lead_from_old_to_new((old, new) in two_texts()) {
        let edits = minimal_edits(&old, &new);
        if old == new {
            prop_assert_eq!(edits, vec![]);
        } else {
            let fix = Fix::risky("", edits);
            let applied = apply(&old, &[&fix]);
            prop_assert_eq!(&applied.skipped, &[]);
            prop_assert_eq!(applied.text, new);
        }
    }

    #[test]
    fn a_diff_leads_from_old_to_new((old, new) in two_texts(), context in 0_usize..4) {
        let expected = ending_as(&old, &new);
        let computed = diff_of(&old, &new).and_then(|patch| patch.apply(&old));
        let written = Patch::parse(&unified(&old, &new, context, |_| 0), "Dockerfile")
            .and_then(|patch| patch.apply(&old));
        for applied in [computed, written] {
            match applied {
                Ok(applied) => {
                    prop_assert_eq!(lf(&applied.text), &*expected);
                    prop_assert!(!applied.recounted);
                    prop_assert_eq!(applied.relocated, vec![]);
                }
                Err(error) => {
                    prop_assert_eq!(error, PatchError::Empty);
                    prop_assert_eq!(lf(&old), &*expected);
                }
            }
        }
    }

    #[test]
    fn line_ends_are_given_back((old, new) in two_texts(), context in 0_usize..4) {
        let (old, new) = (lf(&old), lf(&new));
        let crlf = old.replace('\n', "\r\n");
        let patch = unified(&old, &new, context, |_| 0);
        let apply = |base: &str| Patch::parse(&patch, "Dockerfile")?.apply(base);
        let plain = apply(&old).map(|applied| applied.text);
        // A text without any line end does not show which kind it has.
        if old.contains('\n') {
            let with_returns = apply(&crlf).map(|applied| applied.text);
            prop_assert_eq!(with_returns, plain.map(|text| text.replace('\n', "\r\n")));
        }
    }

    #[test]
    fn wrong_counts_change_nothing_but_the_note(
        (old, new) in two_texts(),
        noise in prop::collection::vec(-3_i64..4, 1..8),
    ) {
        // Without context the place is told by the counts, and there is nothing to recount by.
        let right = unified(&old, &new, 1, |_| 0);
        let wrong = unified(&old, &new, 1, |n| noise[n % noise.len()]);
        let apply = |patch: &str| Patch::parse(patch, "Dockerfile")?.apply(&old);
        let (right_result, wrong_result) = (apply(&right), apply(&wrong));
        if let Ok(applied) = &wrong_result {
            prop_assert_eq!(applied.recounted, right != wrong);
        }
        // In the empty text there is no context.
        if !old.is_empty() {
            prop_assert_eq!(wrong_result.map(|a| a.text), right_result.map(|a| a.text));
        }
    }

    #[test]
    fn untouched_lines_keep_their_ends((old, new) in two_texts()) {
        if let Ok(applied) = diff_of(&old, &new).and_then(|patch| patch.apply(&old)) {
            let text = applied.text;
            prop_assert!(text.is_empty() || old.is_empty() || text.ends_with('\n') == old.ends_with('\n'));
            let first = |text: &str| text.split_inclusive('\n').next().map(str::to_owned);
            let same_first = old.lines().next() == new.lines().next();
            if same_first && old.contains('\n') && text.contains('\n') {
                prop_assert_eq!(first(&text), first(&old));
            }
        }
    }

    #[test]
    fn garbage_never_panics(text in garbage(), base in "\\PC{0,40}") {
        if let Ok(patch) = Patch::parse(&text, "Dockerfile") {
            patch.apply(&base).ok();
            patch.apply(&text).ok();
        }
        for expect in [Expect::Patch, Expect::Dockerfile] {
            let is_block = matches!(parse_answer(&text, expect), Answer::Block(_));
            prop_assert!(!is_block || text.contains("```") || text.contains("~~~"));
        }
        prop_assert_eq!(minimal_edits(&text, &base).is_empty(), text == base);
    }
}

/// Two texts of few different lines, with line ends of both kinds, the last one at times without.
fn two_texts() -> impl Strategy<Value = (String, String)> {
    (text(), text())
}

fn text() -> impl Strategy<Value = String> {
    let line =
        prop::sample::select(vec!["a", "b", "", "RUN x", "RUN xy", "-- a", "++ b", "ü", " "]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    (prop::collection::vec((line, end), 0..12), any::<bool>()).prop_map(|(lines, newline)| {
        let text: String = lines.into_iter().flat_map(|(line, end)| [line, end]).collect();
        if newline { text } else { text.trim_end_matches(['\r', '\n']).to_owned() }
    })
}

fn garbage() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "diff --git a/Dockerfile b/Dockerfile\n",
        "--- a/Dockerfile\n",
        "+++ b/Dockerfile\n",
        "@@ -1 +1 @@\n",
        "@@ -1,2 +1,3 @@\n",
        "@@ -0,0 +1 @@\n",
        "@@ -9,9 +9 @@",
        " a\n",
        "-a\n",
        "+b\n",
        "\n",
        "\\ No newline at end of file\n",
        "\\\n",
        "```diff\n",
        "```\n",
        "NO_CHANGE\n",
        "a\n",
        "a",
        "\r\n",
        "ü",
        "-- \n",
        "rename from x\n",
        "--- /dev/null\n",
        "\"",
        "~~~",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat()),
        "\\PC{0,80}",
    ]
}

/// `new` as it would be if the file ended as `old` does, its line ends taken off.
fn ending_as(old: &str, new: &str) -> String {
    let text = lf(new);
    if old.is_empty() || old.ends_with('\n') {
        let missing = !text.is_empty() && !text.ends_with('\n');
        return if missing { text + "\n" } else { text };
    }
    text.trim_end_matches('\n').to_owned()
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A unified diff as the agent would write it, who sees neither line ends nor the end of the file.
///
/// `noise` is added to the count of the header's nth number.
fn unified(old: &str, new: &str, context: usize, noise: impl Fn(usize) -> i64) -> String {
    let (old, new) = (lf(old), lf(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(&old), lines(&new));
    let ops = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
    let mut patch = String::from("--- a/Dockerfile\n+++ b/Dockerfile\n");
    let mut number = 0;
    for group in similar::group_diff_ops(ops, context) {
        let whole = |range: fn(&similar::DiffOp) -> std::ops::Range<usize>| {
            range(&group[0]).start..range(&group[group.len() - 1]).end
        };
        let mut shown = |range: std::ops::Range<usize>| {
            let start = range.start + usize::from(!range.is_empty());
            let count = i64::try_from(range.len()).unwrap() + noise(number);
            number += 1;
            format!("{start},{}", count.max(0))
        };
        let (minus, plus) = (shown(whole(|op| op.old_range())), shown(whole(|op| op.new_range())));
        writeln!(patch, "@@ -{minus} +{plus} @@").unwrap();
        for op in &group {
            let is_equal = op.tag() == similar::DiffTag::Equal;
            for line in &old[op.old_range()] {
                writeln!(patch, "{}{line}", if is_equal { ' ' } else { '-' }).unwrap();
            }
            for line in &new[if is_equal { 0..0 } else { op.new_range() }] {
                writeln!(patch, "+{line}").unwrap();
            }
        }
    }
    patch
}

fn lines(text: &str) -> Vec<&str> {
    text.split_terminator('\n').collect()
}
