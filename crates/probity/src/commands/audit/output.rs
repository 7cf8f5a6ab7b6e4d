//! What an audit writes: the state after every skill, and the report at the end, each whole or not
//! at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use jiff::{Timestamp, tz::Offset};
use probity_audit::{Report, Skill, State};
use probity_scope::{Missing, PlaceError};

use super::sarif::sarif;
use crate::{
    config::{
        Origin, Settings, guard,
        key::{self, Key},
        table::audit::{Audit, DEFAULT_REPORT},
        words::AuditFormat as Format,
    },
    failure::Failure,
    output::{OutputFile, unreachable_place},
};

pub(super) fn write_state(file: &OutputFile, state: &State) -> io::Result<()> {
    file.write_bytes(state.to_json().map_err(io::Error::other)?.as_bytes())
}

/// Where an audit writes, opened before anybody is asked.
pub(super) struct Outputs {
    pub(super) state: OutputFile,
    pub(super) report: OutputFile,
}

/// The report's place: as it was given, or the usual one with the ending of the format.
pub(super) fn report_path(given: &Path, format: Format) -> PathBuf {
    let ending = match format {
        Format::Markdown => return given.to_owned(),
        Format::Json => "json",
        Format::Sarif => "sarif",
        Format::Html => "html",
    };
    if given == Path::new(DEFAULT_REPORT) { given.with_extension(ending) } else { given.to_owned() }
}

/// The default places may be links that the repository brings. A place that the user names is the
/// user's own affair, and one that the repository names has been judged with its file.
pub(super) fn refuse_linked_defaults(settings: &Settings) -> anyhow::Result<()> {
    let Audit { report_out, state_out, format, .. } = &settings.audit;
    for (key, flag, path) in [
        (&key::audit::state_out.key, "--state-out", state_out.clone()),
        (&key::audit::report_out.key, "--report-out", report_path(report_out, *format)),
    ] {
        if matches!(settings.merged.origin(key), Origin::Default) && !guard::stays_here(&path) {
            let what =
                format!("{} is reached through a symbolic link of the repository", path.display());
            return Err(Failure::new(what, format!("name another file with {flag}")).into());
        }
    }
    Ok(())
}

/// Makes sure that both can be written before anybody is paid for an answer, and that neither takes
/// the place of the other or of a source.
pub(super) fn preflight(
    settings: &Settings,
    report: &Path,
    root: &Path,
    sources: &[String],
) -> anyhow::Result<Outputs> {
    let sources: Vec<PathBuf> =
        sources.iter().filter_map(|source| fs::canonicalize(root.join(source)).ok()).collect();
    let open = |flag: &str, key: &Key, path: &Path| -> anyhow::Result<OutputFile> {
        let way_out = format!("name another file with {flag}");
        let refused = |why: &str| {
            Failure::new(format!("cannot write to {flag} {}{why}", path.display()), &*way_out)
        };
        if path.is_dir() {
            return Err(refused(": it is a directory").into());
        }
        // Before any directory is made: what is refused leaves nothing behind.
        if fs::canonicalize(path).is_ok_and(|it| sources.contains(&it)) {
            return Err(refused(": it is one of the sources").into());
        }
        let named_in =
            guard::directory_of(settings.merged.origin(key)).map(|directory| root.join(directory));
        let repository = named_in.as_deref().unwrap_or(root);
        let file = OutputFile::find(path, repository, Missing::Make);
        let file = file.map_err(|error| match error {
            PlaceError::Io { error, .. } => anyhow::Error::new(error).context(refused("")),
            link => unreachable_place(path, link, &way_out),
        })?;
        if named_in.is_some() {
            file.refuse_foreign(&way_out)?;
        }
        file.try_to_write().with_context(|| refused(""))?;
        Ok(file)
    };
    let outputs = Outputs {
        state: open("--state-out", &key::audit::state_out.key, &settings.audit.state_out)?,
        report: open("--report-out", &key::audit::report_out.key, report)?,
    };
    if outputs.state.real() == outputs.report.real() {
        return Err(Failure::new(
            format!("--state-out and --report-out are the same file: {}", report.display()),
            "name another file with --report-out",
        )
        .into());
    }
    Ok(outputs)
}

pub(super) fn write_report(
    file: &OutputFile,
    report: &Report,
    format: Format,
    root: &Path,
    skills: &[Skill],
) -> anyhow::Result<()> {
    let failed = || {
        Failure::new(
            format!("cannot write the report {}", file.called().display()),
            "name another place with --report-out; the state is written, see --resume",
        )
    };
    let text = match format {
        Format::Markdown => report.markdown(),
        Format::Json => report.json(),
        Format::Sarif => sarif(report, root, skills).with_context(failed)?,
        Format::Html => report.html(),
    };
    file.write_bytes(text.as_bytes()).with_context(failed)
}

/// As RFC 3339 has it, with all nine digits and the offset in numbers.
pub(super) fn now() -> String {
    let now = Timestamp::now();
    let text = now.display_with_offset(Offset::UTC).to_string();
    let (head, _) = text.split_once(['.', '+', 'Z']).unwrap_or((&text, ""));
    format!("{head}.{:09}+00:00", now.subsec_nanosecond().unsigned_abs())
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
