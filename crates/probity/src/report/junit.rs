//! JUnit's XML: a suite for each file, a failed case for each finding, a passed one for a clean file.
//!
//! The place is in the attributes `file`, `line` and `column` of a case, where GitLab and others
//! look for it.

use std::io::{self, Write};

use probity_finding::{Finding, LineIndex};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{
    FileReport, Reporter, Totals,
    place::{Place, Unit},
    visible,
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
    let place = finding.span.map(|span| Place::shown(lines, span, Unit::Character));
    let at = match place {
        Some(Place { line, column, .. }) => format!("{path}:{line}:{column}"),
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
        Some(Place { line, column, .. }) => format!("{rule} at {line}:{column}"),
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
    use crate::report::{Format, samples};

    #[test]
    fn a_file_is_a_suite_and_a_finding_a_failed_case() {
        insta::assert_snapshot!(samples::report(Format::Junit), @"");
    }
}
