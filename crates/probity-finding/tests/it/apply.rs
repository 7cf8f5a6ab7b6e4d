//! Applying fixes: whole or not at all, earlier first, and never a byte outside an edit.

use probity_finding::{Applicability, Applied, Edit, Fix, Skipped, Span, apply};
use proptest::prelude::*;

/// One edit: start, end, text.
type Raw<'a> = (usize, usize, &'a str);

/// Applies fixes that are given as lists of edits.
fn run(source: &str, fixes: &[&[Raw<'_>]]) -> Applied {
    let fixes: Vec<Fix> = fixes
        .iter()
        .map(|edits| {
            Fix::safe(
                "t",
                edits
                    .iter()
                    .map(|&(start, end, text)| Edit::replace(Span { start, end }, text))
                    .collect(),
            )
        })
        .collect();
    apply(source, &fixes.iter().collect::<Vec<_>>())
}

#[test]
fn the_earlier_fix_wins_whichever_is_found_first() {
    for (fixes, loser, winner) in [
        ([&[(0usize, 3usize, "X")][..], &[(2, 4, "Y")][..]], 1, 0),
        ([&[(2, 4, "Y")][..], &[(0, 3, "X")][..]], 0, 1),
    ] {
        let res = run("abcdef", &fixes);
        assert_eq!(res.text, "Xdef");
        assert_eq!(res.applied, [winner]);
        assert_eq!(res.skipped, [(loser, Skipped::Conflict { with: winner })]);
    }
}

#[test]
fn a_fix_is_applied_whole_or_not_at_all() {
    let res = run("abcdef", &[&[(0, 2, "X")], &[(1, 2, "Y"), (5, 6, "Z")]]);
    assert_eq!(res.text, "Xcdef", "the far edit of the losing fix must not appear");
}

#[test]
fn touching_edits_live_together() {
    assert_eq!(run("abcd", &[&[(0, 2, "X")], &[(2, 4, "Y")]]).text, "XY");
    assert_eq!(run("abcd", &[&[(2, 2, "-"), (2, 4, "Y")], &[(0, 1, "X")]]).text, "Xb-Y");
}

#[test]
fn what_is_inserted_at_the_edge_of_another_fix_waits() {
    for place in [1, 3] {
        let res = run("abcd", &[&[(1, 3, "X")], &[(place, place, "-")]]);
        assert_eq!(res.applied.len(), 1, "{res:?}");
        assert!(matches!(res.skipped.as_slice(), [(_, Skipped::Conflict { .. })]), "{res:?}");
    }
}

#[test]
fn equal_edits_agree_and_two_insertions_at_one_place_do_not() {
    let same = run("ab", &[&[(1, 1, "-")], &[(1, 1, "-")]]);
    assert_eq!((same.text.as_str(), same.applied.len()), ("a-b", 2));
    let other = run("ab", &[&[(1, 1, "+")], &[(1, 1, "-")]]);
    assert_eq!((other.text.as_str(), other.applied.len()), ("a+b", 1));
}

#[test]
fn unusable_fixes_say_why() {
    let cases: [(&str, &[Raw<'_>], Skipped); 6] = [
        ("ab", &[], Skipped::NoEdits),
        ("ab", &[(0, 1, "a")], Skipped::NoEdits),
        ("ab", &[(1, 3, "x")], Skipped::Malformed),
        ("ab", &[(2, 1, "x")], Skipped::Malformed),
        ("é", &[(1, 2, "x")], Skipped::Malformed),
        ("abc", &[(0, 2, "x"), (1, 3, "y")], Skipped::Malformed),
    ];
    for (source, edits, reason) in cases {
        let res = run(source, &[edits]);
        assert_eq!(res.skipped, [(0, reason)], "{edits:?}");
        assert_eq!(res.text, source);
    }
}

#[test]
fn applicability_is_ordered_by_risk() {
    assert!(Applicability::Safe < Applicability::Suggestion);
    assert!(Applicability::Suggestion < Applicability::Unsafe);
}

fn any_fix() -> impl Strategy<Value = Fix> {
    let edit = (0usize..14, 0usize..4, "[xy]{0,2}")
        .prop_map(|(start, len, text)| Edit::replace(Span { start, end: start + len }, text));
    proptest::collection::vec(edit, 0..4).prop_map(|edits| Fix::safe("t", edits))
}

proptest! {
    #[test]
    fn no_order_of_discovery_changes_the_result(
        source in "[aé😀\n]{0,6}",
        fixes in proptest::collection::vec(any_fix(), 0..6),
        seed in any::<u64>(),
    ) {
        let given: Vec<&Fix> = fixes.iter().collect();
        let mut order: Vec<usize> = (0..fixes.len()).collect();
        order.sort_by_key(|&i| (i as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let shuffled: Vec<&Fix> = order.iter().map(|&i| &fixes[i]).collect();
        let (one, two) = (apply(&source, &given), apply(&source, &shuffled));
        prop_assert_eq!(&one.text, &two.text);
        let mut contents: Vec<_> = one.applied.iter().map(|&i| &given[i].edits).collect();
        let mut others: Vec<_> = two.applied.iter().map(|&i| &shuffled[i].edits).collect();
        contents.sort();
        others.sort();
        prop_assert_eq!(contents, others);
        prop_assert_eq!(one.applied.len() + one.skipped.len(), fixes.len());
    }

    #[test]
    fn every_byte_outside_an_edit_stays(
        source in "[aé😀\n]{0,6}",
        fixes in proptest::collection::vec(any_fix(), 0..6),
    ) {
        let given: Vec<&Fix> = fixes.iter().collect();
        let res = apply(&source, &given);
        // Rebuilt the slow way: walk the source, replacing where an applied edit begins.
        let mut edits: Vec<&Edit> = res.applied.iter().flat_map(|&i| &given[i].edits).collect();
        edits.sort();
        edits.dedup();
        let mut expected = String::new();
        let mut offset = 0;
        for edit in edits {
            prop_assert!(offset <= edit.span.start, "applied edits overlap");
            expected.push_str(&source[offset..edit.span.start]);
            expected.push_str(&edit.text);
            offset = edit.span.end;
        }
        expected.push_str(&source[offset..]);
        prop_assert_eq!(res.text, expected);
    }
}
