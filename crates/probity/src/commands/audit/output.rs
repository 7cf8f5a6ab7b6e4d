//! What an audit writes: the state after every skill, and the report at the end, each whole or not
//! at all.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use atomic_write_file::AtomicWriteFile;
use jiff::{Timestamp, tz::Offset};
use probity_audit::{Report, State};

use crate::{
    cli::audit::{DEFAULT_REPORT, Format},
    failure::Failure,
    report::{self, FileReport, Totals},
};

pub(super) fn write_state(path: &Path, state: &State) -> io::Result<()> {
    write(path, state.to_json().map_err(io::Error::other)?.as_bytes())
}

/// The report's place: as it was given, or the usual one with the ending of the format.
pub(super) fn report_path(given: &Path, format: Format) -> PathBuf {
    let ending = match format {
        Format::Markdown => return given.to_owned(),
        Format::Json => "json",
        Format::Sarif => "sarif",
    };
    match given == Path::new(DEFAULT_REPORT) {
        true => given.with_extension(ending),
        false => given.to_owned(),
    }
}

pub(super) fn write_report(
    path: &Path,
    report: &Report,
    format: Format,
    root: &Path,
) -> anyhow::Result<()> {
    let failed = || {
        Failure::new(
            format!("cannot write the report {}", path.display()),
            "name another place with --report-out; the state is written, see --resume",
        )
    };
    let text = match format {
        Format::Markdown => report.markdown(),
        Format::Json => report.json(),
        Format::Sarif => sarif(report, root).with_context(failed)?,
    };
    write(path, text.as_bytes()).with_context(failed)
}

/// As RFC 3339 has it, with all nine digits and the offset in numbers.
pub(super) fn now() -> String {
    let now = Timestamp::now();
    let text = now.display_with_offset(Offset::UTC).to_string();
    let (head, _) = text.split_once(['.', '+', 'Z']).unwrap_or((&text, ""));
    format!("{head}.{:09}+00:00", now.subsec_nanosecond().unsigned_abs())
}

fn sarif(report: &Report, root: &Path) -> io::Result<String> {
    let options = report::Options {
        show_source: false,
        color: false,
        tool_version: env!("CARGO_PKG_VERSION"),
        describe: |_| None,
    };
    let mut reporter = report::Format::Sarif.reporter(&options);
    let mut bytes = Vec::new();
    let files = report.by_file(root);
    for file in &files {
        let part = FileReport {
            path: &file.path,
            text: &file.text,
            findings: &file.findings,
            ai_fixes: &[],
        };
        reporter.file(&mut bytes, &part)?;
    }
    let totals = Totals { files_scanned: files.len(), rules_enabled: report.skills };
    reporter.finish(&mut bytes, &totals)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Makes the directories on the way. A link is followed, so that it stays one.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = AtomicWriteFile::open(target)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_has_nine_digits_and_the_offset_in_numbers() {
        let now = now();
        assert_eq!(now.len(), "2026-11-15T08:00:00.123456789+00:00".len(), "{now}");
        assert!(now.ends_with("+00:00") && now.parse::<Timestamp>().is_ok(), "{now}");
    }

    #[test]
    fn only_the_usual_place_changes_with_the_format() {
        for (given, format, path) in [
            (DEFAULT_REPORT, Format::Markdown, DEFAULT_REPORT),
            (DEFAULT_REPORT, Format::Sarif, ".tx3/audit/vulnerabilities.sarif"),
            ("out.txt", Format::Json, "out.txt"),
        ] {
            assert_eq!(report_path(Path::new(given), format), Path::new(path));
        }
    }
}
