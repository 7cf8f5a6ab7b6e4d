//! Tests that could not even begin: what kept them, and what a reader has to know of it.
//!
//! Such a test says nothing about the code, nor about its author. If none of a language could
//! begin, silence would look like a clean review.

use std::path::Path;

use crate::proved::{NO_RUNNER, Proved};

/// Whether no test of a review could begin where tests of its language could be run. What no machine
/// could run says nothing of this one.
pub(crate) fn none_began(tests: &[(&str, &Proved)]) -> bool {
    let is_hindered = |(_, proved): &(&str, &Proved)| proved.hindrance.is_some();
    let has_runner = |(_, proved): &(&str, &Proved)| proved.proof.runner != NO_RUNNER;
    tests.iter().any(is_hindered) && tests.iter().all(|test| is_hindered(test) || !has_runner(test))
}

/// A sentence for each kind of file of which no test began. The tests come with the flagged file.
pub(crate) fn notes(tests: &[(&str, &Proved)]) -> Vec<String> {
    let mut endings: Vec<&str> = tests.iter().map(|(file, _)| ending(file)).collect();
    endings.sort_unstable();
    endings.dedup();
    endings.into_iter().filter_map(|ending| note(ending, tests)).collect()
}

fn note(wanted: &str, tests: &[(&str, &Proved)]) -> Option<String> {
    let of_kind: Vec<&Proved> = tests
        .iter()
        .filter(|(file, _)| ending(file) == wanted)
        .map(|(_, proved)| *proved)
        .collect();
    let first = of_kind.first()?.hindrance.as_ref()?;
    if !of_kind.iter().all(|proved| proved.hindrance.is_some()) {
        return None;
    }
    let tests = match of_kind.len() {
        1 => "the one test".to_owned(),
        count => format!("none of the {count} tests"),
    };
    let could = if of_kind.len() == 1 { "could not be run" } else { "could be run" };
    let files = if wanted.is_empty() { "files".to_owned() } else { format!(".{wanted} files") };
    Some(format!("{tests} for {files} {could}: {}", first.why))
}

fn ending(file: &str) -> &str {
    Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use probity_proof::{Outcome, Refusal, RunDetail, Unavailable, Verdict, Why};

    use super::*;
    use crate::{proved::tests::proved, wording::tests::verdict};

    #[test]
    fn only_what_kept_every_test_of_a_kind_from_beginning_is_a_note() {
        let harness = Outcome::HarnessError;
        let none = Refusal::Unavailable(Unavailable::NotInstalled("Go"));
        let no_go = proved(&verdict(harness, Why::Refused(none), ""));
        let config = proved(&verdict(
            harness,
            Why::Ran(RunDetail::NeverBegan),
            "failed to load config\n\nError: ENOENT: no such file, mkdir 'x'\n",
        ));
        let own = proved(&verdict(harness, Why::Ran(RunDetail::SetupFailed), ""));
        let failed =
            proved(&verdict(Outcome::Failed, Why::Ran(RunDetail::Failed { kind: None }), ""));
        let no_runner = Why::Refused(Refusal::NoRunner("a.rb".to_owned()));
        let no_language = verdict(Outcome::NotRun, no_runner, "");
        let no_language = proved(&Verdict { runner: None, ..no_language });
        let tests = [("a.go", &no_go), ("b/c.go", &no_go), ("d.ts", &config), ("e.py", &own)];
        assert_eq!(
            notes(&tests),
            [
                "none of the 2 tests for .go files could be run: Go is not installed",
                "the one test for .ts files could not be run: the test runner failed before the \
                 test began (Error: ENOENT: no such file, mkdir 'x')",
            ]
        );
        assert!(!none_began(&tests), "one began, and failed by itself");
        assert!(none_began(&[("a.go", &no_go), ("d.ts", &config)]), "none of two languages began");
        let empty = Why::Unstarted(RunDetail::Unbuilt);
        let empty =
            proved(&verdict(harness, empty, "E   ModuleNotFoundError: No module named 'x'"));
        assert!(none_began(&[("a.py", &empty)]), "not even an empty test began");
        assert_eq!(notes(&[("d.ts", &config), ("f.ts", &failed)]), [""; 0], "one began");
        assert_eq!(notes(&[("a.rb", &no_language)]), [""; 0], "nobody could run that anywhere");
        assert!(none_began(&[("a.go", &no_go), ("a.rb", &no_language)]));
        assert!(!none_began(&[("a.rb", &no_language)]), "no machine could run that");
        assert!(!none_began(&[("a.go", &no_go), ("f.ts", &failed)]), "one began");
        assert!(!none_began(&[]));
    }
}
