//! Checkstyle's XML, one element per file.

use std::fmt::Write as _;

use super::{Report, xml::escaped};

pub(super) fn write(reports: &[Report], replaced: Option<&str>) -> String {
    let mut out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><checkstyle version=\"4.3\">".to_owned();
    for report in reports {
        let path = escaped(replaced.unwrap_or(&report.path));
        if report.verdicts.is_empty() {
            // Writing to a string cannot fail.
            _ = write!(out, "<file name=\"{path}\"/>");
            continue;
        }
        _ = write!(out, "<file name=\"{path}\">");
        for verdict in &report.verdicts {
            let source = if verdict.is_syntax() {
                String::new()
            } else {
                format!(" source=\"{}\"", verdict.code)
            };
            _ = write!(
                out,
                "<error column=\"{}\" line=\"{}\" message=\"{}\" severity=\"{}\"{source}/>",
                verdict.place.column,
                verdict.place.line,
                escaped(&verdict.message),
                verdict.severity,
            );
        }
        out.push_str("</file>");
    }
    out.push_str("</checkstyle>");
    out
}
