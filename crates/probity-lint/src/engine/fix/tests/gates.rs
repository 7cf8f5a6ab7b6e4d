//! What may be applied at all, and the reason where it may not.

use std::collections::BTreeMap;

use probity_finding::{Applicability, Edit, Fix, Objective};

use super::{Replace, fix_with, skipped};
use crate::engine::fix::FixMode;

const FILE: &str = "FROM a\nCOPY  b c\n";

fn rule(make: fn(Vec<Edit>) -> Fix) -> [Replace; 1] {
    [Replace { rule: "x/rule", from: "COPY  b", to: "COPY b", make }]
}

fn suggestion(edits: Vec<Edit>) -> Fix {
    Fix::suggestion("replace", edits)
}

fn of_agent(_: Vec<Edit>) -> Fix {
    let objective =
        Objective { kind: "multi-stage", score: 1, signals: Vec::new(), max_churn: None };
    Fix::by_agent("ask", 150, objective)
}

#[test]
fn the_ceiling_the_filter_and_the_mode_decide() {
    type Make = fn(Vec<Edit>) -> Fix;
    let safe: Make = |edits| Fix::safe("replace", edits);
    let risky: Make = |edits| Fix::risky("replace", edits);
    let malformed: Make = |_| Fix::safe("replace", vec![Edit::insert(999, "x")]);
    let empty: Make = |_| Fix::safe("replace", Vec::new());
    let none = None;
    let (safely, unsafely) = (Applicability::Safe, Applicability::Unsafe);
    type Case<'c> = (Make, Applicability, &'c [&'c str], Option<FixMode>, &'c str);
    let cases: &[Case<'_>] = &[
        (safe, safely, &[], none, ""),
        (
            suggestion,
            safely,
            &[],
            none,
            "safety: it is suggestion, and you asked for fixes up to safe",
        ),
        (suggestion, Applicability::Suggestion, &[], none, ""),
        (
            risky,
            Applicability::Suggestion,
            &[],
            none,
            "safety: it is unsafe, and you asked for fixes up to suggestion",
        ),
        (suggestion, unsafely, &[], none, ""),
        (risky, unsafely, &[], none, ""),
        (safe, safely, &["x/other"], none, "rule-filter: other rules were asked for"),
        (safe, safely, &["x/other", "x/rule"], none, ""),
        (safe, safely, &["rule"], none, ""),
        (
            safe,
            unsafely,
            &[],
            Some(FixMode::Never),
            "fix-mode: the configuration says `fix = \"never\"`; set `fix = \"always\"` to allow it",
        ),
        (
            safe,
            safely,
            &["x/rule"],
            Some(FixMode::Never),
            "fix-mode: the configuration says `fix = \"never\"`; set `fix = \"always\"` to allow it",
        ),
        (
            safe,
            unsafely,
            &[],
            Some(FixMode::Explicit),
            "fix-mode: the configuration says `fix = \"explicit\"`; pass `--fix-rule x/rule`",
        ),
        (
            of_agent,
            safely,
            &[],
            Some(FixMode::Explicit),
            "fix-mode: the configuration says `fix = \"explicit\"`; pass `--fix-rule x/rule`",
        ),
        (safe, safely, &["x/rule"], Some(FixMode::Explicit), ""),
        (
            safe,
            safely,
            &[],
            Some(FixMode::UnsafeOnly),
            "fix-mode: the configuration says `fix = \"unsafe-only\"`; pass `--fix-unsafe`",
        ),
        (safe, unsafely, &[], Some(FixMode::UnsafeOnly), ""),
        (safe, safely, &[], Some(FixMode::Always), ""),
        (of_agent, safely, &[], none, "safety: it is unsafe, and you asked for fixes up to safe"),
        (of_agent, unsafely, &[], none, "resolve-error: an agent has to propose it"),
        (malformed, safely, &[], none, "malformed: its edits do not fit the text"),
        (empty, safely, &[], none, "no-edits: it changes nothing"),
    ];
    for (number, (make, ceiling, only, mode, expected)) in cases.iter().enumerate() {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        let modes: BTreeMap<String, FixMode> =
            mode.iter().map(|mode| ("x/rule".to_owned(), *mode)).collect();
        // The options borrow from here, so that the closure only sets what is Copy.
        let (only, modes) = (&*only.leak(), &*Box::leak(Box::new(modes)));
        let fixed = fix_with(FILE, &rule(*make), |options| {
            (options.ceiling, options.only, options.modes) = (*ceiling, only, modes);
        });
        let told: Vec<String> = skipped(&fixed);
        match *expected {
            "" => {
                assert_eq!((fixed.text.as_str(), told), ("FROM a\nCOPY b c\n", vec![]), "{number}")
            }
            _ => {
                let line = format!("2 x/rule {expected}");
                assert_eq!((fixed.text.as_str(), told), (FILE, vec![line]), "{number}");
            }
        }
    }
}

#[test]
fn rules_that_do_not_count_here_are_neither_fixed_nor_reported() {
    let fixed = fix_with(FILE, &rule(suggestion), |options| options.excluded = &["x/rule"]);
    assert_eq!((fixed.text.as_str(), fixed.skipped, fixed.remaining), (FILE, vec![], vec![]));
}
