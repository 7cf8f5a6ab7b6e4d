//! Why a finding whose test was run, or should have been, is not proven.

use super::level_name;
use crate::{
    excerpt::complaint,
    proof::{Level, Outcome, Verdict},
    unstarted::hindrance,
};

/// Why a finding with a test is not proven. Nothing is said twice.
pub(super) fn reason(verdict: &Verdict) -> String {
    let told = clause(&in_reports(&verdict.reason));
    let why = match verdict.outcome {
        Outcome::BuildError => {
            let why = match told.as_str() {
                "" | "the test could not compile" | "the test could not be loaded" => String::new(),
                told => format!(": {told}"),
            };
            let said = complaint(&verdict.output).map(|said| format!(": {said}"));
            return format!("test could not compile{}", said.unwrap_or(why));
        }
        Outcome::HarnessError if hindrance(verdict).is_some() => {
            return format!("the test could not be run: {}", verdict.reason.trim_end_matches('.'));
        }
        Outcome::HarnessError => "the test failed by its own fault",
        Outcome::Timeout => "the test did not end in its time",
        Outcome::Skipped => "the test skipped itself",
        Outcome::NotRun => "the test did not run",
        Outcome::Flaky => "the test fails only sometimes",
        Outcome::Rejected => "the test was refused",
        Outcome::Failed | Outcome::Passed if told.is_empty() => {
            "the test fails, but proves nothing"
        }
        Outcome::Failed | Outcome::Passed => return told,
    };
    match told.strip_prefix(why) {
        Some(_) => told,
        None if told.is_empty() => why.to_owned(),
        None => format!("{why}: {told}"),
    }
}

/// A sentence as a part of another one.
fn clause(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut chars = sentence.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_lowercase).collect();
    // What begins with a word in capitals is a name and stays one.
    match chars.clone().next().is_some_and(char::is_uppercase) {
        true => sentence.to_owned(),
        false => first + chars.as_str(),
    }
}

/// With the levels under the names that reports and configurations have for them.
pub(super) fn in_reports(reason: &str) -> String {
    let words = |is: &str, asked: &str| format!("that is {is}, and {asked} is asked for");
    let mut reason = reason.to_owned();
    for (is, asked) in Level::ALL.iter().flat_map(|is| Level::ALL.map(|asked| (*is, asked))) {
        let names = words(level_name(is), level_name(asked));
        reason = reason.replace(&words(is.name(), asked.name()), &names);
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Control, Reach};

    fn verdict(outcome: Outcome, runner: &'static str, reason: &str, output: &str) -> Verdict {
        Verdict {
            id: "001".to_owned(),
            outcome,
            level: Level::Fails,
            proven: false,
            reason: reason.to_owned(),
            runner,
            runs: Vec::new(),
            reach: Reach::NotReached,
            control: Control::NotTried,
            introduced: None,
            fix_flips: None,
            test_path: String::new(),
            test_name: String::new(),
            test_source: String::new(),
            output: output.to_owned(),
            isolation: String::new(),
        }
    }

    #[test]
    fn a_reason_says_once_what_happened() {
        use Outcome::{BuildError, Failed, Flaky, HarnessError, NotRun, Skipped};
        let compiler = "# m [m.test]\na/zz_test.go:6:5: undefined: x\n";
        for (outcome, runner, reason, output, expected) in [
            (
                Failed,
                "go",
                "The test fails, but runs no code of a.go, so it shows nothing about it.",
                "",
                "the test fails, but runs no code of a.go, so it shows nothing about it",
            ),
            (
                Failed,
                "go",
                "It runs the flagged lines; that is stable, and flips is asked for.",
                "",
                "it runs the flagged lines; that is P2, and P3 is asked for",
            ),
            (Failed, "go", "", "", "the test fails, but proves nothing"),
            (BuildError, "go", "The test could not compile.", "", "test could not compile"),
            (
                BuildError,
                "go",
                "The test could not compile.",
                compiler,
                "test could not compile: a/zz_test.go:6:5: undefined: x",
            ),
            (
                BuildError,
                "go",
                "Its package could not compile before.",
                "",
                "test could not compile: its package could not compile before",
            ),
            (
                HarnessError,
                "none",
                "Go is not installed.",
                "",
                "the test could not be run: Go is not installed",
            ),
            (
                HarnessError,
                "pytest",
                "The test has a mistake of its own (NameError).",
                "",
                "the test failed by its own fault: the test has a mistake of its own (NameError)",
            ),
            (Skipped, "go", "The test skipped itself.", "", "the test skipped itself"),
            (NotRun, "none", "No runner for a.rb.", "", "the test did not run: no runner for a.rb"),
            (Flaky, "go", "JSON differs.", "", "the test fails only sometimes: JSON differs"),
        ] {
            let said = super::reason(&verdict(outcome, runner, reason, output));
            assert_eq!(said, expected, "{outcome} {reason}");
        }
    }
}
