//! One line per finding as the GNU coding standards want it, with the code before the severity.

use std::fmt::Write as _;

use probity_text::visible;

use super::Report;

pub(super) fn write(reports: &[Report]) -> String {
    let mut out = String::new();
    for (path, verdict) in Report::each(reports, None) {
        let (path, message) = (visible::line(path), visible::line(&verdict.message));
        let (line, column, code) = (verdict.place.line, verdict.place.column, &verdict.code);
        // Writing to a string cannot fail.
        _ = if verdict.is_syntax() {
            writeln!(out, "hadolint:{path}:{line}:{column}: {message}")
        } else {
            let severity = verdict.severity;
            writeln!(out, "hadolint:{path}:{line}: {code} {severity}: {message}")
        };
    }
    out
}
