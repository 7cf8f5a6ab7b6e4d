//! One line per finding for people. The colours are there even where nobody sees them, as with
//! hadolint; `--no-color` and `NO_COLOR` take them away.

use std::fmt::Write as _;

use probity_finding::Severity;
use probity_text::visible;

use super::Report;

pub(super) fn write(reports: &[Report], is_coloured: bool) -> String {
    let mut out = String::new();
    for (path, verdict) in Report::each(reports, None) {
        let (path, message) = (visible::line(path), visible::line(&verdict.message));
        let (line, column, code) = (verdict.place.line, verdict.place.column, &verdict.code);
        // Writing to a string cannot fail.
        _ = if verdict.is_syntax() {
            writeln!(out, "{path}:{line}:{column} {message}")
        } else {
            let severity = word(verdict.severity, is_coloured);
            writeln!(out, "{path}:{line} {code} {severity}: {message}")
        };
    }
    out
}

fn word(severity: Severity, is_coloured: bool) -> String {
    let colour = match severity {
        _ if !is_coloured => return severity.to_string(),
        Severity::Error => "\x1b[1m\x1b[91m",
        Severity::Warning => "\x1b[1m\x1b[93m",
        Severity::Info => "\x1b[92m",
        Severity::Style => "\x1b[96m",
    };
    format!("{colour}{severity}\x1b[0m")
}
