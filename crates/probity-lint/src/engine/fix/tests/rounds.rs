//! Rounds: conflicts, what follows from a fix, circles, and an end to everything.

use super::{applied, fix_with, safe, skipped};

#[test]
fn of_two_that_overlap_the_earlier_wins_and_the_other_gets_the_next_round() {
    let rules = [safe("x/b", "d  e", "d e"), safe("x/a", "COPY  d", "COPY d")];
    for rules in [&rules[..], &[safe("x/a", "COPY  d", "COPY d"), safe("x/b", "d  e", "d e")]] {
        let fixed = fix_with("FROM a\nCOPY  d  e\n", rules, |_| {});
        assert_eq!(fixed.text, "FROM a\nCOPY d e\n");
        assert_eq!(applied(&fixed), ["1:2 x/a", "2:2 x/b"]);
        assert_eq!((fixed.rounds, skipped(&fixed)), (2, vec![]));
    }
}

#[test]
fn a_bad_fix_does_not_stand_in_the_way_of_a_good_one() {
    let rules = [safe("x/bad", "COPY  d", "COPY x"), safe("x/good", "Y  d  e", "Y d e")];
    let fixed = fix_with("FROM a\nCOPY  d  e\n", &rules, |_| {});
    assert_eq!(fixed.text, "FROM a\nCOPY d e\n");
    assert_eq!(applied(&fixed), ["1:2 x/good"]);
}

#[test]
fn of_two_fixes_that_are_right_alone_and_wrong_together_one_is_applied() {
    let rules =
        [safe("x/first", "FROM a\nCMD b\n", "FROM a\n"), safe("x/second", "CMD b\nUSER", "USER")];
    let fixed = fix_with("FROM a\nCMD b\nCMD b\nUSER c\n", &rules, |_| {});
    assert_eq!(fixed.text, "FROM a\nCMD b\nUSER c\n");
    assert_eq!(applied(&fixed), ["1:1 x/first"]);
    assert_eq!(
        skipped(&fixed),
        [
            "1 x/first validation-failed: it changes what is built: in stage 0 `CMD b` is gone",
            "2 x/second validation-failed: it changes what is built: in stage 0 `CMD b` is gone",
        ]
    );
}

#[test]
fn rules_that_undo_each_other_are_named_and_left_alone() {
    let rules = [
        safe("x/wide", "COPY b", "COPY  b"),
        safe("x/narrow", "COPY  b", "COPY b"),
        safe("x/other", "from a", "FROM a"),
    ];
    let fixed = fix_with("from a\nCOPY b c\n", &rules, |_| {});
    assert_eq!(fixed.text, "FROM a\nCOPY b c\n");
    assert_eq!(
        skipped(&fixed),
        [
            "- x/narrow cycle: x/narrow and x/wide undo each other's work",
            "- x/wide cycle: x/narrow and x/wide undo each other's work",
        ]
    );
    assert_eq!(applied(&fixed), ["1:1 x/other"]);
}

#[test]
fn a_rule_that_never_ends_is_named_and_left_alone() {
    let fixed = fix_with("FROM a\nCOPY b c\n", &[safe("x/more", "COPY ", "COPY  ")], |_| {});
    assert_eq!((fixed.text.as_str(), fixed.rounds), ("FROM a\nCOPY b c\n", 0));
    assert_eq!(skipped(&fixed), ["- x/more unsettled: the text still changed after 10 rounds"]);
}

#[test]
fn safe_fixes_come_before_the_others_and_are_judged_without_them() {
    let rules =
        [super::risky("x/risky", "a\nCOPY", "z\nCOPY"), safe("x/safe", "COPY  b", "COPY b")];
    let fixed = fix_with("FROM a\nCOPY  b c\n", &rules, |options| {
        options.ceiling = probity_finding::Applicability::Unsafe;
    });
    assert_eq!(fixed.text, "FROM z\nCOPY b c\n");
    assert_eq!(applied(&fixed), ["1:2 x/safe", "2:1 x/risky"]);
}

#[test]
fn what_remains_has_the_places_of_the_new_text() {
    let rules = [safe("x/good", "\n\n\n", "\n"), safe("x/bad", "USER b", "USER c")];
    let fixed = fix_with("FROM a\n\n\nUSER b\n", &rules, |_| {});
    assert_eq!(fixed.text, "FROM a\nUSER b\n");
    assert_eq!(fixed.remaining[0].span.map(|span| (span.start, span.end)), Some((7, 13)));
    assert_eq!(fixed.skipped[0].line, Some(2));
}
