//! JUnit: each finding is a test case, and what is proven is the one that failed.

use std::io;

use probity_review::{Proof, ReviewOutput, Status};
use probity_text::visible;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{headline, untested};

pub(super) fn render(review: &ReviewOutput) -> io::Result<String> {
    let mut suite = TestSuite::new("review");
    if review.status == Status::Error {
        let message = review.error.as_ref().map_or(review.summary.as_str(), |error| &error.message);
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(visible::line(message)).set_description(visible::block(message));
        suite.add_test_case(TestCase::new("review", status));
    }
    if review.status == Status::Ok {
        for (it, line) in review.unstarted.iter().zip(untested(review)) {
            let mut status = TestCaseStatus::skipped();
            status.set_message(&*line);
            let name = format!("tests for {} {}", it.language, it.package);
            suite.add_test_case(TestCase::new(visible::line(name.trim_end()), status));
        }
    }
    for issue in &review.proven_issues {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        let body = format!(
            "{}:{}\n{}\n\n{}",
            issue.file, issue.line, issue.description, issue.test_output
        );
        status
            .set_type(issue.severity.as_str())
            .set_message(visible::line(&headline(issue)))
            .set_description(visible::block(&body));
        let name = format!("{} {}", issue.id, issue.title);
        suite.add_test_case(case(&name, &issue.file, issue.line, status));
    }
    for it in &review.observations {
        let mut status = TestCaseStatus::skipped();
        status.set_message(visible::line(&it.reason));
        suite.add_test_case(case(&format!("{} {}", it.id, it.title), &it.file, it.line, status));
    }
    for it in &review.discarded {
        // Only a test that ran and passed is a success; what was dropped unseen is not.
        if it.proof.as_ref().is_some_and(|proof: &Proof| proof.outcome == "passed") {
            let name = format!("{} {}", it.id, it.title);
            let line = it.line.unwrap_or(1);
            suite.add_test_case(case(&name, &it.file, line, TestCaseStatus::success()));
        }
    }
    if review.status == Status::Ok && suite.test_cases.is_empty() {
        suite.add_test_case(TestCase::new("nothing was found", TestCaseStatus::success()));
    }
    let mut report = Report::new("probity review");
    report.add_test_suite(suite);
    report.to_string().map_err(io::Error::other)
}

fn case(name: &str, file: &str, line: u64, status: TestCaseStatus) -> TestCase {
    let file = visible::line(file);
    let mut case = TestCase::new(visible::line(name), status);
    case.set_classname(&*file);
    case.extra.insert("file".into(), (&*file).into());
    case.extra.insert("line".into(), line.to_string().into());
    case
}
