//! JUnit's XML, one suite per file.

use std::fmt::Write as _;

use super::{Report, xml::escaped};
use crate::commands::hadolint::{VERSION, verdict::Verdict};

pub(super) fn write(reports: &[Report], replaced: Option<&str>) -> String {
    let now = jiff::Zoned::now();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites id=\"{}\" \
         name=\"Hadolint run at {}\" time=\"0.001\">",
        now.strftime("%Y%m%d_%H%M%S"),
        now.strftime("%Y-%m-%d %H:%M:%S"),
    );
    for report in reports {
        let path = escaped(replaced.unwrap_or(&report.path));
        let errors = report.verdicts.iter().filter(|verdict| verdict.is_syntax()).count();
        // Writing to a string cannot fail.
        _ = write!(
            out,
            "<testsuite errors=\"{errors}\" failures=\"{}\" id=\"hadolint\" \
             name=\"Hadolint {VERSION}\" time=\"0.001\"",
            report.verdicts.len(),
        );
        if report.verdicts.is_empty() {
            out.push_str("/>");
            continue;
        }
        out.push('>');
        for verdict in &report.verdicts {
            out.push_str(&case(&path, verdict));
        }
        out.push_str("</testsuite>");
    }
    out.push_str("</testsuites>");
    out
}

fn case(path: &str, verdict: &Verdict) -> String {
    let (line, column) = (verdict.place.line, verdict.place.column);
    let (code, severity) = (&verdict.code, verdict.severity);
    let message = escaped(&verdict.message);
    if verdict.is_syntax() {
        return format!(
            "<testcase id=\"hadolint.error\" name=\"{code}\" time=\"0.001\">\
             <failure message=\"parse error at line {line}, column {column}\" type=\"error\">\
             Parse Error in {path}\nLine: {line}\nColumn: {column}\nParse Error: {message}\n\
             </failure></testcase>"
        );
    }
    format!(
        "<testcase id=\"hadolint.rule.{code}\" time=\"0.001\">\
         <failure id=\"{code}\" message=\"{message}\" type=\"{severity}\">\
         File: {path}\nLine: {line}\nCategory: Hadolint - Dockerfile Static Analysis\n\
         {severity}: {message}\n</failure></testcase>"
    )
}
