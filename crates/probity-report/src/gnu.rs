//! One line per finding, as the GNU coding standards want error messages, for Emacs and its kin.
//!
//! `probity:path:line:column: severity: message [rule]`; what is true of the whole file has neither
//! line nor column. Columns count characters.

use std::io::{self, Write};

use probity_finding::LineIndex;
use probity_text::visible;

use super::{
    FileReport, Reporter, Totals,
    place::{LineRange, Unit},
};

#[derive(Debug)]
pub(crate) struct Gnu;

impl Reporter for Gnu {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        let lines = LineIndex::new(file.text);
        for finding in file.findings {
            write!(out, "probity:{}:", visible::line(file.path))?;
            if let Some(span) = finding.span {
                let LineRange { line, column, .. } =
                    LineRange::shown(&lines, span, Unit::Character);
                write!(out, "{line}:{column}:")?;
            }
            let message = visible::line(&finding.message);
            let rule = visible::line(&finding.rule);
            writeln!(out, " {}: {message} [{rule}]", finding.severity)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, samples};

    #[test]
    fn every_finding_is_one_line() {
        insta::assert_snapshot!(samples::report(Format::Gnu), @r#"
probity:app/Dockerfile: info: no stage sets a user [tally/no-user]
probity:app/Dockerfile:1:6: warning: the image is not tagged; pin a version [hadolint/DL3006]
probity:app/Dockerfile:1:13: style: `as` and `FROM` differ in case [buildkit/FromAsCasing]
probity:app/Dockerfile:2:15: error: sudo does not work as it seems to [hadolint/DL3004]
probity:a b/ü%20&,:.Dockerfile:1:1: warning: a | b ` * _x_ <b>&amp; [l](u)\ [x/from]
probity:a b/ü%20&,:.Dockerfile:2:1: warning: <>&"' 100% ␛[31mred␀␊second, line: <U+009B><U+202E> [x/run]
probity:empty.Dockerfile: error: the file is empty [buildkit/empty]
"#);
    }
}
