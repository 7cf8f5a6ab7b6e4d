//! The Test Anything Protocol: a line for each test, `ok` or `not ok`.

pub(crate) mod files;

use super::{MalformedReport, Report, State, TestReport};

/// Bytes that are kept of a message.
const MOST_MESSAGE: usize = 4 << 10;

impl Report {
    /// The tests of the first level; what is indented belongs to one of them.
    pub(crate) fn of_tap(text: &str) -> Result<Self, MalformedReport> {
        let mut report = Self::default();
        let mut planned: Option<usize> = None;
        for line in text.lines() {
            if let Some((test, _)) = point(line) {
                report.tests.push(test);
            } else if let Some(note) = line.strip_prefix('#') {
                let failed = report.tests.last_mut().filter(|test| test.state == State::Failed);
                if let Some(failed) = failed.filter(|test| test.message.len() < MOST_MESSAGE) {
                    failed.message.push_str(note.trim());
                    failed.message.push('\n');
                }
            } else if let Some(plan) = line.strip_prefix("1..") {
                planned = plan.split_whitespace().next().and_then(|count| count.parse().ok());
            }
        }
        match planned {
            None if report.tests.is_empty() => {
                let what = "there is neither a plan nor a test".to_owned();
                Err(MalformedReport { line: 1, what })
            }
            Some(planned) if report.tests.len() < planned => {
                let what = format!("{} of {planned} tests are reported", report.tests.len());
                Err(MalformedReport { line: text.lines().count(), what })
            }
            _ => Ok(report),
        }
    }
}

/// A line that is a test or a check of one, and whether it is `ok`.
fn point(line: &str) -> Option<(TestReport, bool)> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.rsplit_once('#').unwrap_or((rest, ""));
    let word = directive.trim_start().to_ascii_lowercase();
    let seconds = word.strip_prefix("time=").and_then(|time| {
        let (time, unit) =
            time.trim().strip_suffix("ms").map_or((time, 1.0), |time| (time, 1000.0));
        Some(time.trim_end_matches('s').parse::<f64>().ok()? / unit)
    });
    let (name, state) = if word.starts_with("skip") {
        (name, State::Skipped)
    } else if word.starts_with("todo") {
        (name, State::ExpectedFailure)
    } else {
        let name = if seconds.is_some() { name } else { rest };
        (name, if is_ok { State::Passed } else { State::Failed })
    };
    let test = TestReport::new(name.trim().replace("\\#", "#"), state);
    Some((TestReport { seconds, ..test }, is_ok))
}

#[cfg(test)]
mod tests {
    use super::{Report, State};

    #[test]
    fn lines_are_tests_and_notes_are_messages() {
        let text = "TAP version 13\n1..5\nok 1 - adds\nnot ok 2 takes # 1\n# (in test)\n#   `[ 1 ]' failed\n    \
            not ok 1 - inner\nok 3 # SKIP no time\nnot ok 4 - later # TODO\nok\nokay then\n";
        let report = Report::of_tap(text).unwrap();
        let told: Vec<_> = report.tests.iter().map(|test| (&*test.name, test.state)).collect();
        assert_eq!(
            told,
            [
                ("adds", State::Passed),
                ("takes # 1", State::Failed),
                ("", State::Skipped),
                ("later", State::ExpectedFailure),
                ("", State::Passed),
            ]
        );
        assert_eq!(report.tests[1].message, "(in test)\n`[ 1 ]' failed\n");
        assert_eq!(Report::of_tap("1..0\n").unwrap().tests.len(), 0);
    }

    #[test]
    fn a_report_that_is_none_or_not_whole_is_refused() {
        for (text, expected) in [
            ("hello\n", "line 1: there is neither a plan nor a test"),
            ("1..3\nok 1\nok 2\n", "line 3: 2 of 3 tests are reported"),
        ] {
            assert_eq!(Report::of_tap(text).unwrap_err().to_string(), expected);
        }
    }
}
