//! Tests that could not start: of which languages and packages, and why.
//!
//! Such a test says nothing about the code, nor about its author. If none of a language or package
//! could start, silence would look like a clean review.

use std::{collections::BTreeMap, path::Path};

use crate::{output::Unstarted, proved::Proved};

/// Whether a review has tests of which none could start, wherever and for whatever reason.
pub(crate) fn none_began(tests: &[(&str, &Proved)]) -> bool {
    !tests.is_empty() && tests.iter().all(|(_, proved)| proved.unstarted.is_some())
}

/// Each language of which no test could start; where others of its tests could, each such package.
/// The tests come with the flagged file.
pub(crate) fn unstarted(tests: &[(&str, &Proved)]) -> Vec<Unstarted> {
    let mut by_language: BTreeMap<String, Vec<&Proved>> = BTreeMap::new();
    for (file, proved) in tests {
        by_language.entry(language(file, proved)).or_default().push(*proved);
    }
    let mut all = Vec::new();
    for (language, of_language) in by_language {
        if let Some(whole) = group(&language, "", &of_language) {
            all.push(whole);
            continue;
        }
        let mut by_package: BTreeMap<&str, Vec<&Proved>> = BTreeMap::new();
        for proved in of_language {
            by_package.entry(&proved.package).or_default().push(proved);
        }
        let packages = by_package.iter();
        all.extend(packages.filter_map(|(package, tests)| group(&language, package, tests)));
    }
    all
}

/// Tests that belong together, if none of them could start.
fn group(language: &str, package: &str, tests: &[&Proved]) -> Option<Unstarted> {
    let reasons: Option<Vec<&str>> =
        tests.iter().map(|proved| proved.unstarted.as_deref()).collect();
    let reason = (*reasons?.first()?).to_owned();
    let (language, package) = (language.to_owned(), package.to_owned());
    Some(Unstarted { language, package, tests: tests.len() as u64, reason })
}

fn language(file: &str, proved: &Proved) -> String {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    match (&proved.language, ending) {
        (Some(language), _) => language.clone(),
        (None, Some(ending)) => format!(".{ending} files"),
        (None, None) => "files without an ending".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use probity_proof::{Outcome, Refusal, RunDetail, Unavailable, Verdict, Why};

    use super::*;
    use crate::{proved::tests::proved, wording::tests::verdict};

    /// The result of a claim in a language and package.
    fn of(language: &'static str, package: &str, why: Why, can_start: Option<bool>) -> Proved {
        let outcome = match &why {
            Why::Ran(RunDetail::Failed { .. }) => Outcome::Failed,
            _ => Outcome::HarnessError,
        };
        let output = match &why {
            Why::Unstarted(_) => "E   ModuleNotFoundError: No module named 'x'",
            _ => "",
        };
        proved(&Verdict {
            language: Some(language),
            package: package.to_owned(),
            can_start,
            ..verdict(outcome, why, output)
        })
    }

    fn sentences(tests: &[(&str, &Proved)]) -> Vec<String> {
        unstarted(tests).iter().map(ToString::to_string).collect()
    }

    fn failed() -> Why {
        Why::Ran(RunDetail::Failed { kind: None })
    }

    #[test]
    fn a_language_or_a_package_without_a_test_that_could_start_is_named() {
        let none = Why::Refused(Refusal::Unavailable(Unavailable::NotInstalled("Go")));
        let no_go = of("Go", "", none, Some(false));
        let broken = of("JavaScript", "web", Why::Unstarted(RunDetail::Unbuilt), Some(false));
        let other = of("JavaScript", "api", failed(), Some(true));
        let tests = [("a.go", &no_go), ("b/c.go", &no_go), ("web/d.ts", &broken), ("e.js", &other)];
        assert_eq!(
            sentences(&tests),
            [
                "none of the 2 tests for Go could start: Go is not installed",
                "the one test for JavaScript in web could not start: not even an empty test runs \
                 there: it could not be loaded (ModuleNotFoundError: No module named 'x')",
            ]
        );
        assert!(!none_began(&tests), "one began in another package");
        assert!(none_began(&tests[..3]), "none of two languages began");
    }

    #[test]
    fn whatever_kept_every_test_from_starting_leaves_nothing_to_have_a_score_of() {
        let harness = Outcome::HarnessError;
        let refused = |refusal| Why::Refused(refusal);
        for why in [
            refused(Refusal::NoPackage("a.go".to_owned())),
            refused(Refusal::NoRunner("a.sql".to_owned())),
            refused(Refusal::TestFileExists("a_test.go".to_owned())),
            Why::Ran(RunDetail::Unbuilt),
            Why::Ran(RunDetail::NoSuchTest),
            Why::Ran(RunDetail::Skipped),
            Why::OutOfTime,
            Why::Panicked,
            Why::AlwaysPasses,
        ] {
            let one = proved(&verdict(harness, why.clone(), ""));
            assert!(none_began(&[("a.go", &one)]), "{why:?}");
            let began = of("Go", "", failed(), Some(true));
            assert!(!none_began(&[("a.go", &one), ("b.go", &began)]), "{why:?}");
        }
        assert!(!none_began(&[]), "nothing was to be run");
        let own_fault = Verdict {
            can_start: Some(true),
            ..verdict(Outcome::BuildError, Why::Ran(RunDetail::Unbuilt), "")
        };
        assert!(!none_began(&[("a.go", &proved(&own_fault))]), "an empty test passes there");
    }

    #[test]
    fn files_that_nobody_runs_tests_for_are_named_by_their_ending() {
        let no_runner = Why::Refused(Refusal::NoRunner("a.sql".to_owned()));
        let none = proved(&Verdict { runner: None, ..verdict(Outcome::NotRun, no_runner, "") });
        assert_eq!(
            sentences(&[("a.sql", &none), ("LICENSE", &none)]),
            [
                "the one test for .sql files could not start: probity cannot run tests for a.sql",
                "the one test for files without an ending could not start: probity cannot run \
                 tests for a.sql",
            ]
        );
    }
}
