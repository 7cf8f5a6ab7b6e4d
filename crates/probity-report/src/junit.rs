//! JUnit's XML: a suite for each file, a failed case for each finding, a passed one for a clean file.
//!
//! The place is in the attributes `file`, `line` and `column` of a case, where GitLab and others
//! look for it.

use std::io::{self, Write};

use probity_finding::{Finding, LineIndex};
use probity_text::visible;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{
    FileReport, Reporter, Totals,
    place::{LineRange, Unit},
};

#[derive(Debug)]
pub(crate) struct Junit {
    report: Report,
}

impl Default for Junit {
    fn default() -> Self {
        Self { report: Report::new("probity") }
    }
}

impl Reporter for Junit {
    fn file(&mut self, _out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        let lines = LineIndex::new(file.text);
        let path = visible::line(file.path);
        let mut suite = TestSuite::new(&path);
        if file.findings.is_empty() {
            let mut case = TestCase::new("no findings", TestCaseStatus::success());
            case.set_classname(&path);
            suite.add_test_case(case);
        }
        suite.add_test_cases(file.findings.iter().map(|finding| case(&path, &lines, finding)));
        self.report.add_test_suite(suite);
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        self.report.serialize(out).map_err(io::Error::other)
    }
}

fn case(path: &str, lines: &LineIndex<'_>, finding: &Finding) -> TestCase {
    // Line ends would become spaces in an attribute, so all attributes are made one line.
    let rule = visible::line(&finding.rule);
    let place = finding.span.map(|span| LineRange::shown(lines, span, Unit::Character));
    let at = match place {
        Some(LineRange { line, column, .. }) => format!("{path}:{line}:{column}"),
        None => path.to_owned(),
    };
    let mut body = format!("{at}\n{}", visible::line(&finding.message));
    if let Some(detail) = &finding.detail {
        body.push_str("\n\n");
        body.push_str(&visible::block(detail));
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_type(finding.severity.as_str())
        .set_message(visible::line(&finding.message))
        .set_description(body);

    let name = match place {
        Some(LineRange { line, column, .. }) => format!("{rule} at {line}:{column}"),
        None => rule.into_owned(),
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(path);
    case.extra.insert("file".into(), path.into());
    if let Some(place) = place {
        case.extra.insert("line".into(), place.line.to_string().into());
        case.extra.insert("column".into(), place.column.to_string().into());
    }
    case
}

#[cfg(test)]
mod tests {
    use crate::{Format, samples};

    #[test]
    fn a_file_is_a_suite_and_a_finding_a_failed_case() {
        insta::assert_snapshot!(samples::report(Format::Junit), @r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="probity" tests="8" skipped="0" failures="7" errors="0">
    <testsuite name="app/Dockerfile" tests="4" skipped="0" errors="0" failures="4">
        <testcase name="tally/no-user" classname="app/Dockerfile" file="app/Dockerfile">
            <failure message="no stage sets a user" type="info">app/Dockerfile
no stage sets a user</failure>
        </testcase>
        <testcase name="hadolint/DL3006 at 1:6" classname="app/Dockerfile" file="app/Dockerfile" line="1" column="6">
            <failure message="the image is not tagged; pin a version" type="warning">app/Dockerfile:1:6
the image is not tagged; pin a version

An untagged image is `latest`,
which changes without notice.</failure>
        </testcase>
        <testcase name="buildkit/FromAsCasing at 1:13" classname="app/Dockerfile" file="app/Dockerfile" line="1" column="13">
            <failure message="`as` and `FROM` differ in case" type="style">app/Dockerfile:1:13
`as` and `FROM` differ in case</failure>
        </testcase>
        <testcase name="hadolint/DL3004 at 2:15" classname="app/Dockerfile" file="app/Dockerfile" line="2" column="15">
            <failure message="sudo does not work as it seems to" type="error">app/Dockerfile:2:15
sudo does not work as it seems to</failure>
        </testcase>
    </testsuite>
    <testsuite name="clean.Dockerfile" tests="1" skipped="0" errors="0" failures="0">
        <testcase name="no findings" classname="clean.Dockerfile"/>
    </testsuite>
    <testsuite name="a b/ü%20&amp;,:.Dockerfile" tests="2" skipped="0" errors="0" failures="2">
        <testcase name="x/from at 1:1" classname="a b/ü%20&amp;,:.Dockerfile" file="a b/ü%20&amp;,:.Dockerfile" line="1" column="1">
            <failure message="a | b ` * _x_ &lt;b&gt;&amp;amp; [l](u)\" type="warning">a b/ü%20&amp;,:.Dockerfile:1:1
a | b ` * _x_ &lt;b&gt;&amp;amp; [l](u)\</failure>
        </testcase>
        <testcase name="x/run at 2:1" classname="a b/ü%20&amp;,:.Dockerfile" file="a b/ü%20&amp;,:.Dockerfile" line="2" column="1">
            <failure message="&lt;&gt;&amp;&quot;&apos; 100% ␛[31mred␀␊second, line: &lt;U+009B&gt;&lt;U+202E&gt;" type="warning">a b/ü%20&amp;,:.Dockerfile:2:1
&lt;&gt;&amp;&quot;&apos; 100% ␛[31mred␀␊second, line: &lt;U+009B&gt;&lt;U+202E&gt;</failure>
        </testcase>
    </testsuite>
    <testsuite name="empty.Dockerfile" tests="1" skipped="0" errors="0" failures="1">
        <testcase name="buildkit/empty" classname="empty.Dockerfile" file="empty.Dockerfile">
            <failure message="the file is empty" type="error">empty.Dockerfile
the file is empty</failure>
        </testcase>
    </testsuite>
</testsuites>
"#);
    }
}
