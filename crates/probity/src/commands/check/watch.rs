//! `--watch`: check again whenever a file or a configuration changes.

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use probity_check::discover::{self, Request};
use probity_report::counts::plural;

use super::Options;
use crate::{exit::Exit, failure, streams};

/// Between two looks at the files.
const PAUSE: Duration = Duration::from_millis(300);
/// Looks after which new files are searched for, which takes longer than looking at known ones.
const LOOKS_PER_SEARCH: u32 = 10;

/// Files beside a Dockerfile, or above it, that change what is reported.
const BESIDE: [&str; 7] = [
    "probity.toml",
    ".probity.toml",
    "tally.toml",
    ".tally.toml",
    ".hadolint.yaml",
    ".hadolint.yml",
    ".dockerignore",
];

/// When each file was written last, and how long it is.
type Stamps = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

/// Checks for ever; a signal ends it. A failure is shown, and the next change tries again.
pub(super) fn run(
    options: &Options,
    directory: &Path,
    check: impl Fn() -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    loop {
        let files = files(options, directory);
        let before = stamps(&files);
        if streams::stdout().is_terminal() {
            streams::stdout().lock().write_all(b"\x1b[2J\x1b[H")?;
        }
        if let Err(error) = check() {
            // The exit code is for the end of a run, and this one goes on.
            let _code = failure::report(options.name, &error);
        }
        let watched = before.values().flatten().count();
        tracing::warn!("watching {}; Ctrl-C ends this", plural(watched, "file"));
        wait(options, directory, &before);
    }
}

/// Returns once a file has changed, come or gone.
fn wait(options: &Options, directory: &Path, before: &Stamps) {
    let known: Vec<PathBuf> = before.keys().cloned().collect();
    for look in 1_u32.. {
        thread::sleep(PAUSE);
        let now = if look.is_multiple_of(LOOKS_PER_SEARCH) {
            stamps(&files(options, directory))
        } else {
            stamps(&known)
        };
        if now != *before {
            return;
        }
    }
}

/// The files of the run, and those that may have a say in it.
fn files(options: &Options, directory: &Path) -> Vec<PathBuf> {
    let request = Request { paths: &options.paths, exclude: &[], directory };
    let targets = discover::discover(&request).map(|targets| targets.files).unwrap_or_default();
    let mut all: Vec<PathBuf> = targets.iter().map(|target| directory.join(target)).collect();
    let above = all.iter().flat_map(|file| file.ancestors().skip(1).map(Path::to_owned));
    let mut directories: Vec<PathBuf> = above.collect();
    directories.sort();
    directories.dedup();
    for directory in directories {
        all.extend(BESIDE.iter().map(|name| directory.join(name)));
    }
    all
}

fn stamps(files: &[PathBuf]) -> Stamps {
    let stamp = |file: &PathBuf| {
        let metadata = file.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(|file| (file.clone(), stamp(file))).collect()
}
