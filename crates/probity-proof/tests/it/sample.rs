//! A few cases of each kind of the corpora; `script/bench proofs` tries all of them.

use crate::corpus::{Case, ClaimKind, Half, LANGUAGES, Language, Truth, try_all};

/// Kinds that are tried here: what is cheap, and differs between the languages.
const SAMPLE: [ClaimKind; 8] = [
    ClaimKind::Fixed,
    ClaimKind::Unfixed,
    ClaimKind::Constant,
    ClaimKind::NanAlone,
    ClaimKind::PinnedExpectation,
    ClaimKind::SpecialCase,
    ClaimKind::Hollow,
    ClaimKind::BreaksSuite,
];

/// True claims with a fix and without one, and false claims of each kind.
fn sample(language: &Language) -> Vec<Case> {
    let cases = language.cases();
    let chosen = SAMPLE.iter().flat_map(|kind| {
        let count = if kind.truth() == Truth::False { 1 } else { 2 };
        let fits = move |case: &&Case| case.kind == *kind && case.half() == Half::Tuning;
        cases.iter().filter(fits).take(count)
    });
    chosen.cloned().collect()
}

fn check(name: &str) {
    let language = LANGUAGES.into_iter().find(|language| language.name == name).unwrap();
    let mut wrong = Vec::new();
    try_all(language, &sample(language), |case, verdict| {
        if verdict.proven != (case.kind.truth() != Truth::False) {
            wrong.push(format!("{}: {verdict:#?}\n{:#?}", case.name, case.claim));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn go_claims_get_what_they_deserve() {
    check("go");
}

#[test]
fn python_claims_get_what_they_deserve() {
    check("python");
}

#[test]
fn javascript_claims_get_what_they_deserve() {
    check("javascript");
}

#[test]
fn rust_claims_get_what_they_deserve() {
    check("rust");
}
