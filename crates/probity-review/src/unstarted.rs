//! Tests that could not even begin: what kept them, and what a reader has to know of it.
//!
//! Such a test says nothing about the code, nor about its author. If none of a language could
//! begin, silence would look like a clean review.

use std::path::Path;

use probity_proof::{Outcome, Refusal, Verdict, Why};

use crate::{clean::one_line, excerpt::complaint, wording};

/// What kept a test from beginning that is no fault of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hindrance {
    /// This machine has nothing to run it with.
    NoRunner,
    /// The runner ended, or was killed, before the test was its turn.
    BeforeTheTest,
}

pub(crate) fn hindrance(verdict: &Verdict) -> Option<Hindrance> {
    match &verdict.why {
        Why::Refused(Refusal::Unavailable(_)) => Some(Hindrance::NoRunner),
        Why::Ran(detail) if verdict.outcome == Outcome::HarnessError && detail.is_before_test() => {
            Some(Hindrance::BeforeTheTest)
        }
        Why::Panicked => Some(Hindrance::BeforeTheTest),
        _ => None,
    }
}

/// Whether nothing of a review could be tried, because this machine lacks what would run it.
pub(crate) fn lacks_every_runner(tests: &[(&str, &Verdict)]) -> bool {
    let lacks = |(_, verdict): &(&str, &Verdict)| hindrance(verdict) == Some(Hindrance::NoRunner);
    !tests.is_empty() && tests.iter().all(lacks)
}

/// A sentence for each kind of file of which no test began. The tests come with the flagged file.
pub(crate) fn notes(tests: &[(&str, &Verdict)]) -> Vec<String> {
    let mut endings: Vec<&str> = tests.iter().map(|(file, _)| ending(file)).collect();
    endings.sort_unstable();
    endings.dedup();
    endings.into_iter().filter_map(|ending| note(ending, tests)).collect()
}

fn note(wanted: &str, tests: &[(&str, &Verdict)]) -> Option<String> {
    let of_kind: Vec<&Verdict> = tests
        .iter()
        .filter(|(file, _)| ending(file) == wanted)
        .map(|(_, verdict)| *verdict)
        .collect();
    let first = *of_kind.first()?;
    if !of_kind.iter().all(|verdict| hindrance(verdict).is_some()) {
        return None;
    }
    let tests = match of_kind.len() {
        1 => "the one test".to_owned(),
        count => format!("none of the {count} tests"),
    };
    let could = if of_kind.len() == 1 { "could not be run" } else { "could be run" };
    let files = if wanted.is_empty() { "files".to_owned() } else { format!(".{wanted} files") };
    let why = match &first.why {
        Why::Refused(Refusal::Unavailable(why)) => why.to_string(),
        _ => wording::clause(first),
    };
    let said = complaint(&first.output).map(|line| format!(" ({})", one_line(&line, 200)));
    Some(format!("{tests} for {files} {could}: {why}{}", said.unwrap_or_default()))
}

fn ending(file: &str) -> &str {
    Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use probity_proof::{RunDetail, Unavailable};

    use super::*;
    use crate::wording::tests::verdict;

    #[test]
    fn only_what_kept_every_test_of_a_kind_from_beginning_is_a_note() {
        let harness = Outcome::HarnessError;
        let none = Refusal::Unavailable(Unavailable::NotInstalled("Go"));
        let no_go = verdict(harness, Why::Refused(none), "");
        let config = verdict(
            harness,
            Why::Ran(RunDetail::NeverBegan),
            "failed to load config\n\nError: ENOENT: no such file, mkdir 'x'\n",
        );
        let own = verdict(harness, Why::Ran(RunDetail::SetupFailed), "");
        let failed = verdict(Outcome::Failed, Why::Ran(RunDetail::Failed { kind: None }), "");
        let no_runner = Why::Refused(Refusal::NoRunner("a.rb".to_owned()));
        let no_language = verdict(Outcome::NotRun, no_runner, "");
        let tests = [("a.go", &no_go), ("b/c.go", &no_go), ("d.ts", &config), ("e.py", &own)];
        assert_eq!(
            notes(&tests),
            [
                "none of the 2 tests for .go files could be run: Go is not installed",
                "the one test for .ts files could not be run: the test runner failed before the \
                 test began (Error: ENOENT: no such file, mkdir 'x')",
            ]
        );
        assert!(!lacks_every_runner(&tests), "one had a runner");
        assert_eq!(notes(&[("d.ts", &config), ("f.ts", &failed)]), [""; 0], "one began");
        assert_eq!(notes(&[("a.rb", &no_language)]), [""; 0], "nobody could run that anywhere");
        assert!(!lacks_every_runner(&[("a.go", &no_go), ("a.rb", &no_language)]));
        assert!(lacks_every_runner(&[("a.go", &no_go)]) && !lacks_every_runner(&[]));
    }
}
