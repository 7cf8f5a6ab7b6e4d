//! Bun's and Deno's own test runners, which write JUnit's XML when all tests of a run have ended.
//!
//! So each file has a run of its own: one that does not load takes no other with it.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use probity_sandbox::Exit;

use super::{Asked, framework::Framework, setup::Setup};
use crate::{
    RunDetail,
    runner::{
        Trouble,
        capture::Ran,
        context::{Site, Task},
        files::{REPORT, written},
        placement,
        report::Report,
    },
};

/// Between the parts of a test's name.
const SEPARATOR: &str = " > ";

/// Runs files one by one, as long as there is time. `task` has the program, and `limit` is for all.
pub(super) fn run(
    site: &Site<'_>,
    setup: &Setup,
    asked: &Asked<'_>,
    task: &Task,
    limit: Duration,
) -> Result<(Ran, Report), Trouble> {
    let until = Instant::now() + limit;
    let mut report = Report { has_ended: true, ..Report::default() };
    let (exit, duration) = (Exit::Code(0), Duration::ZERO);
    let mut all = Ran { exit, duration, stdout: Vec::new(), stderr: Vec::new() };
    for file in asked.files() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            report.has_ended = false;
            break;
        }
        let mut task = Task {
            argv: task.argv.clone(),
            env: task.env.clone(),
            tools: task.tools.clone(),
            mounts: task.mounts.clone(),
            directory: task.directory.clone(),
            ..*task
        };
        task.wall = task.wall.min(left);
        task.arguments(arguments(site, setup, asked));
        task.arguments([site.seen_repo.join(file)]);
        site.scratch.held.remove_file(REPORT).ok();
        let ran = site.run(&task)?;
        all.duration += ran.duration;
        all.stdout.extend(&ran.stdout);
        all.stderr.extend(&ran.stderr);
        if ran.exit != Exit::Code(0) {
            all.exit = ran.exit;
        }
        let told = written(site, |text| match setup.framework {
            Framework::Deno => read_of_deno(text, file),
            _ => read_of_bun(text, &setup.directory),
        });
        if told.tests.is_empty() {
            add_silence(&mut report, &ran, file);
        }
        report.tests.extend(told.tests);
    }
    Ok((all, report))
}

/// Files that do not load, and tests that end their process, leave no report.
fn add_silence(report: &mut Report, ran: &Ran, file: &str) {
    match ran.exit {
        Exit::Code(0) => {
            report.without_end = Some(RunDetail::EndedEarly);
            report.left.insert(file.to_owned());
        }
        Exit::Code(_) if !ran.crashed() => {
            report.without_end.get_or_insert(RunDetail::Unbuilt);
            report.unloaded.insert(file.to_owned());
        }
        _ => report.has_ended = false,
    }
}

fn arguments(site: &Site<'_>, setup: &Setup, asked: &Asked<'_>) -> Vec<String> {
    let report = site.seen_scratch.join(REPORT);
    let limit = site.context.test_timeout.as_millis();
    let mut words = vec!["test".to_owned()];
    words.extend(setup.invocation.options.iter().cloned());
    if setup.framework == Framework::Deno {
        let may = |option: &String| {
            ["-A", "-P", "-N", "-R"].contains(&&**option)
                || option.starts_with("--allow")
                || option.starts_with("--perm")
        };
        let is_default = setup.invocation
            == super::script::Invocation {
                program: setup.invocation.program,
                ..Default::default()
            };
        words.extend(
            (is_default && !setup.invocation.options.iter().any(may))
                .then(|| "--allow-all".to_owned()),
        );
        // The types of a test say nothing about what it does.
        words.extend(["--no-check", "--cached-only"].map(str::to_owned));
        words.push(format!("--junit-path={}", report.display()));
        words.extend(
            asked.filter().map(|filter| format!("--filter=/{}/", filter.replace('/', "\\/"))),
        );
    } else {
        words.push("--reporter=junit".to_owned());
        words.push(format!("--reporter-outfile={}", report.display()));
        words.push(format!("--timeout={limit}"));
        words.extend(asked.filter().map(|filter| format!("--test-name-pattern={filter}")));
    }
    words
}

/// Deno gives the file as the class of a test.
fn read_of_deno(text: &str, file: &str) -> Option<Report> {
    let mut report = Report::of_junit(text.trim_start()).ok()?;
    for test in &mut report.tests {
        let own = test.name.split_once(SEPARATOR).map_or(test.name.as_str(), |(_, own)| own);
        test.name = format!("{file}{SEPARATOR}{own}");
        // The message begins with the class of what was thrown.
        let kind = test.message.trim_start_matches("Uncaught ").split(':').next();
        test.kind = kind.filter(|kind| kind.chars().all(char::is_alphanumeric)).map(str::to_owned);
    }
    Some(report)
}

/// Bun tells the suites of a test from the inside out, and its file in the project.
fn read_of_bun(text: &str, project: &Path) -> Option<Report> {
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

    use super::{read_of_bun, read_of_deno};
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
        let report = read_of_bun(RECORDED, Path::new("packages/pay")).unwrap();
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

    /// As deno 2.9.6 wrote it.
    const OF_DENO: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="3" failures="1" errors="0" time="0.009">
    <testsuite name="./calc_test.ts" tests="3" disabled="1" errors="0" failures="1">
        <testcase name="adds" classname="./calc_test.ts" time="0.006" line="2" col="6">
            <failure message="Uncaught Error: no">Error: no
    at file:///tmp/calc_test.ts:2:52</failure>
        </testcase>
        <testcase name="sk" classname="./calc_test.ts" time="0.000" line="4" col="11">
            <skipped/>
        </testcase>
        <testcase name="steps &gt; inner" classname="./calc_test.ts" time="0.000" line="3" col="43">
        </testcase>
    </testsuite>
</testsuites>"#;

    #[test]
    fn the_report_of_deno_has_the_file_as_the_class() {
        let report = read_of_deno(OF_DENO, "a/calc_test.ts").unwrap();
        let told: Vec<(&str, State)> =
            report.tests.iter().map(|test| (test.name.as_str(), test.state)).collect();
        assert_eq!(
            told,
            [
                ("a/calc_test.ts > adds", State::Failed),
                ("a/calc_test.ts > sk", State::Skipped),
                ("a/calc_test.ts > steps > inner", State::Passed),
            ]
        );
        assert_eq!(report.tests[0].kind.as_deref(), Some("Error"));
    }
}
