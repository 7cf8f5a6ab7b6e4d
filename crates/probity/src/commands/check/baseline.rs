//! The file of a baseline, and what is said about old findings. They are neither reported nor fixed.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_check::{
    Baseline, BaselineNow, CheckError, EarlierTexts, EarlierUnknown, Known, OldFindings,
};
use probity_proof::Ancestor;
use probity_report::counts::plural;
use probity_scope::{Missing, read_text};

use super::Options;
use crate::{
    config::{Settings, guard, key},
    exit::Exit,
    failure::Failure,
    output::OutputFile,
    streams,
    write::{WriteError, write_whole},
};

/// A baseline of a hundred thousand findings is a tenth of it.
const MOST_BYTES: u64 = 64 << 20;

/// Where the baseline of a run is.
#[derive(Debug)]
pub(super) struct BaselineFile {
    /// As the user wrote it.
    shown: PathBuf,
    /// Its place, if a repository's file names it.
    of_repository: Option<OutputFile>,
}

/// What makes findings old in one run.
pub(super) fn known(
    options: &Options,
    config: &Settings,
    directory: &Path,
) -> anyhow::Result<(Known, Option<BaselineFile>)> {
    let (baseline, place) = match (&options.write_baseline, &config.check.baseline) {
        (Some(file), _) => {
            let place = BaselineFile { shown: file.clone(), of_repository: None };
            (Some(Baseline::to_write(directory, file)), Some(place))
        }
        (None, Some(file)) => {
            let origin = config.merged.origin(&key::check::baseline.key);
            let (baseline, place) = read(directory, file, guard::directory_of(origin))?;
            (Some(baseline), Some(place))
        }
        (None, None) => (None, None),
    };
    let earlier: Option<Box<dyn EarlierTexts>> = match &options.changed {
        Some(base) => {
            let ancestor = Ancestor::with(directory, base).map_err(|error| {
                Failure::new(format!("--changed {base}: {error}"), error.help())
            })?;
            Some(Box::new(BeforeBranch(ancestor)))
        }
        None => None,
    };
    Ok((Known::new(baseline, earlier), place))
}

/// Reads one that the user names, or a repository's file, whose directory is `named_in`.
fn read(
    directory: &Path,
    file: &Path,
    named_in: Option<PathBuf>,
) -> anyhow::Result<(Baseline, BaselineFile)> {
    let shown = file.display();
    let write_one = format!("write a new one with --write-baseline {shown}");
    let cannot_read =
        || Failure::new(format!("cannot read the baseline {shown}"), write_one.clone());
    let covered = named_in.map(|named_in| directory.join(named_in));
    let of_repository = match &covered {
        Some(named_in) => {
            let found = OutputFile::find(file, named_in, Missing::Refuse);
            Some(found.with_context(cannot_read)?)
        }
        None => None,
    };
    let text = match &of_repository {
        Some(file) => file.read_text(MOST_BYTES),
        None => read_text(&directory.join(file), MOST_BYTES),
    };
    let text = text.with_context(cannot_read)?;
    let baseline = Baseline::parse(directory, file, covered, &text).map_err(CheckError::from)?;
    Ok((baseline, BaselineFile { shown: file.to_owned(), of_repository }))
}

impl BaselineFile {
    /// Whole or not at all.
    fn write(&self, text: &str) -> Result<(), WriteError> {
        match &self.of_repository {
            Some(file) => Ok(file.write_bytes(text.as_bytes())?),
            None => write_whole(&self.shown, text.as_bytes()),
        }
    }
}

/// Files where the branch began, for `--changed`.
#[derive(Debug)]
struct BeforeBranch(Ancestor);

impl EarlierTexts for BeforeBranch {
    fn text(&self, file: &Path) -> Result<Option<String>, EarlierUnknown> {
        Ok(self.0.text(&self.0.old_name(file))?)
    }
}

/// Writes the baseline if it is new or has become shorter, and says what was left out. The exit code of
/// a run that writes a new one.
pub(super) fn finish(
    old: &OldFindings,
    place: Option<BaselineFile>,
    is_diff: bool,
) -> anyhow::Result<Option<Exit>> {
    let mut lines = Vec::new();
    let mut exit = None;
    if let (Some(now), Some(place)) = (&old.baseline, place) {
        let shown = place.shown.display();
        if let BaselineNow::New { text } = now {
            let failed = || Failure::new(format!("cannot write {shown}"), "name another file");
            place.write(text).with_context(failed)?;
            lines.push(format!("Wrote {} to {shown}", plural(old.listed, "finding")));
            exit = Some(Exit::Clean);
        } else if old.listed > 0 {
            lines.push(format!("{} hidden by {shown}", plural(old.listed, "old finding")));
        }
        if let (BaselineNow::Shorter { gone, text }, false) = (now, is_diff) {
            lines.extend(match (place.write(text), gone) {
                (Err(error), _) => Some(format!("warning: cannot update {shown}: {error}")),
                (Ok(()), 0) => None,
                (Ok(()), gone) => {
                    Some(format!("Removed {} from {shown}", plural(*gone, "fixed finding")))
                }
            });
        }
    }
    if old.untouched > 0 {
        lines.push(format!("{} hidden on unchanged lines", plural(old.untouched, "finding")));
    }
    say(&lines)?;
    Ok(exit)
}

fn say(lines: &[String]) -> io::Result<()> {
    if !tracing::enabled!(tracing::Level::WARN) {
        return Ok(());
    }
    let mut out = streams::stderr().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}
