//! Bun's own test runner, which writes JUnit's XML when all tests have ended.

use std::path::Path;

use super::Asked;
use crate::{
    RunDetail,
    runner::{
        capture::Ran,
        context::{Site, Task},
        failed_build,
        files::{REPORT, written},
        placement,
        report::Report,
    },
};

/// Between the parts of a test's name.
const SEPARATOR: &str = " > ";

pub(super) fn add_arguments(task: &mut Task, site: &Site<'_>, asked: &Asked<'_>) {
    let report = site.seen_scratch.join(REPORT);
    task.arguments([
        "test".to_owned(),
        "--reporter=junit".to_owned(),
        format!("--reporter-outfile={}", report.display()),
        format!("--timeout={}", site.context.test_timeout.as_millis()),
    ]);
    task.arguments(asked.filter().map(|filter| format!("--test-name-pattern={filter}")));
}

/// What the tests of a project did.
pub(super) fn report(site: &Site<'_>, project: &Path, ran: &Ran) -> Report {
    let mut report = written(site, |text| read(text, project));
    if report.tests.is_empty() {
        // Files that do not load, and tests that end their process, leave no report.
        report.without_end = failed_build(ran.exit).or(Some(RunDetail::EndedEarly));
    }
    report
}

/// Bun tells the suites of a test from the inside out, and its file in the project.
fn read(text: &str, project: &Path) -> Option<Report> {
    let mut report = Report::of_junit(text.trim_start()).ok()?;
    for test in &mut report.tests {
        let mut parts: Vec<&str> = test.name.split(SEPARATOR).collect();
        let own = parts.pop().unwrap_or_default();
        let file = placement::slashes(&project.join(test.file.as_deref().unwrap_or_default()));
        let suites = parts.into_iter().rev().map(|suite| format!("{suite}{SEPARATOR}"));
        test.name = format!("{file}{SEPARATOR}{}{own}", suites.collect::<String>());
    }
    Some(report)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read;
    use crate::runner::report::State;

    /// As bun 1.4.4 wrote it for `-t` and one file.
    const RECORDED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="3" assertions="1" failures="1" skipped="1" time="0.047976344">
  <testsuite name="src/calc.test.js" file="src/calc.test.js" tests="3" assertions="1" failures="1" skipped="1" time="0.007683575" hostname="vm">
    <testcase name="zero" classname="" time="0" file="src/calc.test.js" line="3" assertions="0">
      <skipped />
    </testcase>
    <testsuite name="halves" file="src/calc.test.js" line="4" tests="2" assertions="2" failures="1" skipped="0" time="0" hostname="vm">
      <testsuite name="of even" file="src/calc.test.js" line="5" tests="2" assertions="2" failures="1" skipped="0" time="0.001" hostname="vm">
        <testcase name="four &amp; &quot;five&quot;" classname="of even &gt; halves" time="0.001843" file="src/calc.test.js" line="6" assertions="1">
          <failure type="AssertionError" message="expect(received).toBe(expected)&#10;&#10;Expected: 2&#10;Received: 1.3333333333333333&#10;">AssertionError: expect(received).toBe(expected)&#10;&#10;Expected: 2&#10;Received: 1.3333333333333333&#10;&#10;</failure>
        </testcase>
        <testcase name="none" classname="of even &gt; halves" time="0.000047" file="src/calc.test.js" line="7" assertions="1" />
      </testsuite>
    </testsuite>
  </testsuite>
</testsuites>
"#;

    #[test]
    fn the_report_names_files_and_suites_from_the_outside_in() {
        let report = read(RECORDED, Path::new("packages/pay")).unwrap();
        let told: Vec<(&str, State)> =
            report.tests.iter().map(|test| (test.name.as_str(), test.state)).collect();
        assert_eq!(
            told,
            [
                ("packages/pay/src/calc.test.js > zero", State::Skipped),
                (
                    "packages/pay/src/calc.test.js > halves > of even > four & \"five\"",
                    State::Failed
                ),
                ("packages/pay/src/calc.test.js > halves > of even > none", State::Passed),
            ]
        );
        let failed = &report.tests[1];
        assert_eq!(failed.kind.as_deref(), Some("AssertionError"));
        assert!(failed.message.contains("Expected: 2\nReceived: 1.33"), "{}", failed.message);
        assert_eq!(report.tests[2].seconds, Some(0.000_047));
    }
}
