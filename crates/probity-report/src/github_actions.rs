//! Workflow commands that GitHub turns into annotations of a change.

use std::io::{self, Write};

use probity_finding::{LineIndex, Severity};
use probity_lint::Rejection;
use probity_text::visible;

use super::{
    FileReport, Reporter, Totals,
    place::{LineRange, Unit},
};

#[derive(Debug)]
pub(crate) struct GithubActions;

impl Reporter for GithubActions {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        let lines = LineIndex::new(file.text);
        for finding in file.findings {
            write!(out, "::{} file={}", command(finding.severity), property(file.path))?;
            if let Some(span) = finding.span {
                let place = LineRange::shown(&lines, span, Unit::Character);
                write!(out, ",line={}", place.line)?;
                // GitHub takes columns only for what is on one line.
                if place.line == place.end_line {
                    write!(out, ",col={}", place.column)?;
                }
                write!(out, ",endLine={}", place.end_line)?;
                if place.line == place.end_line {
                    write!(out, ",endColumn={}", place.end_column)?;
                }
            }
            writeln!(out, ",title={}::{}", property(&finding.rule), data(&finding.message))?;
        }
        if let Some(Rejection { line, reason }) = file.rejection {
            let line = line.map(|line| format!(",line={line}")).unwrap_or_default();
            let reason = data(&format!("no fix applied: {reason}"));
            writeln!(out, "::notice file={}{line},title=probity::{reason}", property(file.path))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        Ok(())
    }
}

fn command(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Style => "notice",
    }
}

/// Escapes what stands behind the second `::`.
pub(super) fn data(text: &str) -> String {
    visible::except(text, &['\t', '\n', '\r'])
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property, which ends at a comma or a colon.
pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, samples};

    #[test]
    fn every_finding_is_one_command() {
        insta::assert_snapshot!(samples::report(Format::GithubActions), @r#"
::notice file=app/Dockerfile,title=tally/no-user::no stage sets a user
::warning file=app/Dockerfile,line=1,col=6,endLine=1,endColumn=12,title=hadolint/DL3006::the image is not tagged; pin a version
::notice file=app/Dockerfile,line=1,col=13,endLine=1,endColumn=15,title=buildkit/FromAsCasing::`as` and `FROM` differ in case
::error file=app/Dockerfile,line=2,col=15,endLine=2,endColumn=19,title=hadolint/DL3004::sudo does not work as it seems to
::warning file=a b/ü%2520&%2C%3A.Dockerfile,line=1,col=1,endLine=1,endColumn=5,title=x/from::a | b ` * _x_ <b>&amp; [l](u)\
::warning file=a b/ü%2520&%2C%3A.Dockerfile,line=2,col=1,endLine=2,endColumn=25,title=x/run::<>&"' 100%25 ␛[31mred␀%0Asecond, line: <U+009B><U+202E>
::error file=empty.Dockerfile,title=buildkit/empty::the file is empty
"#);
    }

    #[test]
    fn line_ends_cannot_start_another_command() {
        assert_eq!(data("a\r\n::error::b%0A"), "a%0D%0A::error::b%250A");
        assert_eq!(property("a,b:c%2C"), "a%2Cb%3Ac%252C");
    }
}
