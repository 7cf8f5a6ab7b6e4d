//! hadolint's ten formats, each in the shape that its readers know; columns are true ones.

mod checkstyle;
mod codacy;
mod codeclimate;
mod gnu;
mod json;
mod junit;
mod sarif;
mod sonarqube;
mod tty;
mod xml;

use std::io;

use probity_text::runner::Syntax;

use super::verdict::Verdict;
use crate::config::hadolint::Format;

/// One file's part of a report.
#[derive(Debug)]
pub(super) struct Report {
    /// As it was given.
    pub(super) path: String,
    pub(super) verdicts: Vec<Verdict>,
}

impl Report {
    /// Every verdict with the path that the report shows.
    fn each<'a>(
        reports: &'a [Self],
        replaced: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a str, &'a Verdict)> {
        reports.iter().flat_map(move |report| {
            let path = replaced.unwrap_or(&report.path);
            report.verdicts.iter().map(move |verdict| (path, verdict))
        })
    }
}

/// How a command of a CI runner is broken in a format.
pub(super) fn syntax(format: Format) -> Syntax {
    match format {
        Format::Tty | Format::Gnu => Syntax::Text,
        Format::Json
        | Format::Codacy
        | Format::Sarif
        | Format::Codeclimate
        | Format::GitlabCodeclimate
        | Format::Sonarqube => Syntax::Json,
        Format::Checkstyle | Format::Junit => Syntax::Xml,
    }
}

/// The whole report. `replaced` is the path to show, in the formats that hadolint shows it in.
pub(super) fn write(
    format: Format,
    no_color: bool,
    reports: &[Report],
    replaced: Option<&str>,
) -> io::Result<Vec<u8>> {
    Ok(match format {
        Format::Tty => tty::write(reports, !no_color).into_bytes(),
        Format::Gnu => gnu::write(reports).into_bytes(),
        Format::Json => json::write(reports)?,
        Format::Codacy => codacy::write(reports)?,
        Format::Sarif => sarif::write(reports)?,
        Format::Codeclimate => codeclimate::write(reports, replaced)?,
        Format::GitlabCodeclimate => codeclimate::write_gitlab(reports, replaced)?,
        Format::Sonarqube => sonarqube::write(reports, replaced)?,
        Format::Checkstyle => checkstyle::write(reports, replaced).into_bytes(),
        Format::Junit => junit::write(reports, replaced).into_bytes(),
    })
}
