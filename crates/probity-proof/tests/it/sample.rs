//! A few cases of each kind of the corpora; `script/bench proofs` tries all of them.
//!
//! `script/nightly` tries two of each true kind here, and the kinds of `NIGHTLY`.

use crate::{
    corpus::{Case, ClaimKind, Half, LANGUAGES, Language, Truth, try_all},
    whole_corpus::is_whole,
};

/// Kinds that are tried here: what is cheap, and differs between the languages.
const SAMPLE: [ClaimKind; 5] = [
    ClaimKind::Fixed,
    ClaimKind::Unfixed,
    ClaimKind::Constant,
    ClaimKind::SpecialCase,
    ClaimKind::BreaksSuite,
];

/// The first is built with up to twelve other values, and the others run the existing tests as often
/// as the last kind above does.
const NIGHTLY: [ClaimKind; 3] =
    [ClaimKind::NanAlone, ClaimKind::PinnedExpectation, ClaimKind::Hollow];

/// True claims with a fix and without one, and false claims of each kind.
fn sample(language: &Language) -> Vec<Case> {
    let cases = language.cases();
    let nightly: &[ClaimKind] = if is_whole() { &NIGHTLY } else { &[] };
    let chosen = SAMPLE.iter().chain(nightly).flat_map(|kind| {
        let count = if is_whole() && kind.truth() != Truth::False { 2 } else { 1 };
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
