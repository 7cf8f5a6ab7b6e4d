//! A few claims of each framework, with the real tool; `script/bench proofs` tries all of them.
//!
//! A tool that takes seconds to start or to compile gets one true claim and the false one that needs
//! the fewest runs. `script/nightly` adds the others here: those whose fix breaks an existing test
//! run the whole suite ten times.

use probity_proof::{FixResult, Gap};

use crate::{
    frameworks::{ALL, Case, Existing},
    whole_corpus::is_whole,
};

/// False claims that are tried here: what is cheap, and differs between the tools.
const SAMPLE: [&str; 6] = ["constant", "pinned", "special", "hollow", "unparsed", "elsewhere"];

/// Tries so many true claims, and the false ones of these kinds; `nightly` are kinds that only
/// `script/nightly` tries.
fn check(name: &str, count: usize, kinds: &[&str], nightly: &[&str]) {
    let is_tried = |kind: &str| kinds.contains(&kind) || (is_whole() && nightly.contains(&kind));
    let framework = ALL.into_iter().find(|framework| framework.name == name).unwrap();
    let mut cases = framework.cases();
    let mut taken = 0;
    cases.retain(|case| {
        taken += usize::from(case.is_true);
        if case.is_true { taken <= count } else { is_tried(case.name) }
    });
    let verdicts = framework.prove(&cases);
    let mut wrong = Vec::new();
    for (Case { name, is_true, claim }, verdict) in cases.iter().zip(&verdicts) {
        if verdict.proven != *is_true {
            wrong.push(format!("{name}: {verdict:#?}\n{}", claim.test_code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count == 0 || verdicts.iter().any(|verdict| verdict.proven), "{verdicts:#?}");
}

/// What the quick tools try in `script/nightly` besides.
const REST: [&str; 5] = ["constant", "special", "hollow", "elsewhere", "unparsed"];

#[test]
fn bats_claims_get_what_they_deserve() {
    check("bats", 2, &SAMPLE, &[]);
}

#[test]
fn rspec_claims_get_what_they_deserve() {
    check("rspec", 1, &["pinned"], &REST);
}

#[test]
fn minitest_claims_get_what_they_deserve() {
    check("minitest", 1, &["pinned"], &REST);
}

#[test]
fn phpunit_claims_get_what_they_deserve() {
    check("phpunit", 1, &["pinned"], &REST);
}

#[test]
fn junit_claims_get_what_they_deserve() {
    check("junit", 1, &["unparsed"], &["pinned", "hollow", "special"]);
}

/// A run of Maven takes seconds, and ten more until its plugin notices that the tests have ended. So a
/// true claim, which needs ten runs, is tried by `script/nightly`.
#[test]
fn maven_claims_get_what_they_deserve() {
    let true_claims = usize::from(is_whole());
    check("maven", true_claims, &["passes", "unparsed"], &["pinned"]);
}

#[test]
fn googletest_claims_get_what_they_deserve() {
    check("googletest", 1, &[], &["special", "pinned"]);
}

#[test]
fn catch2_claims_get_what_they_deserve() {
    check("catch2", 1, &["hollow"], &["unparsed"]);
}

#[test]
fn mocha_claims_get_what_they_deserve() {
    check("mocha", 2, &SAMPLE, &[]);
}

/// A true claim is proven only if existing tests say something about its fix, or if there is none.
#[test]
fn suites_that_show_nothing_guard_no_fix() {
    let quick = ["bats"];
    let mut wrong = Vec::new();
    for framework in ALL.into_iter().filter(|one| !["mocha", "bun"].contains(&one.name)) {
        if !quick.contains(&framework.name) && !is_whole() {
            continue;
        }
        let mut cases = framework.cases();
        cases.retain(|case| case.is_true);
        cases.truncate(1);
        for existing in [Existing::Sound, Existing::Missing, Existing::Failing, Existing::Unparsed]
        {
            // CMake names its files of tests, and stops without one.
            if existing == Existing::Missing && framework.name.starts_with(['g', 'c']) {
                continue;
            }
            let verdict = framework.prove_with(&cases, existing).remove(0);
            let fits = match existing {
                Existing::Sound => matches!(verdict.fix, FixResult::Guarded { passed: 9 }),
                Existing::Missing => verdict.fix == FixResult::Guarded { passed: 0 },
                Existing::Failing => {
                    verdict.fix == FixResult::Unguarded { gaps: vec![Gap::NonePasses] }
                }
                // Where all files are compiled together, the test of the claim cannot run either.
                Existing::Unparsed => !verdict.fix.is_guarded(),
            };
            if !fits || verdict.proven != verdict.fix.is_guarded() {
                wrong.push(format!("{} {existing:?}: {verdict:#?}", framework.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
