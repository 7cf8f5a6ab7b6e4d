//! The name `hadolint`: its own way through a run, from its flags to its exit code.
//!
//! The rules are the ones that `check` runs. What they find goes by hadolint's codes, texts and
//! severities, and stands where it is instead of at the first column of its instruction.

mod codes;
mod format;
mod settings;
mod verbose;
mod verdict;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_secrets::Detector;
use probity_text::runner::Syntax;

pub(crate) use self::settings::label;
use self::{
    format::Report,
    settings::Settings,
    verdict::{Examined, Verdict},
};
use crate::{
    config::hadolint::{Format, LabelType, Threshold},
    exit::Exit,
    failure::Failure,
    streams::{self, Device},
};

/// The release whose answers are given here.
const VERSION: &str = "2.15.1";

/// What a command line asks for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) file_path_in_report: Option<PathBuf>,
    pub(crate) output: Vec<PathBuf>,
    pub(crate) no_fail: bool,
    pub(crate) no_color: bool,
    pub(crate) verbose: bool,
    pub(crate) format: Vec<Format>,
    pub(crate) error: Vec<String>,
    pub(crate) warning: Vec<String>,
    pub(crate) info: Vec<String>,
    pub(crate) style: Vec<String>,
    pub(crate) ignore: Vec<String>,
    pub(crate) trusted_registry: Vec<String>,
    pub(crate) require_label: Vec<(String, LabelType)>,
    pub(crate) strict_labels: bool,
    pub(crate) disable_ignore_pragma: bool,
    pub(crate) failure_threshold: Option<Threshold>,
}

pub(crate) fn version() -> anyhow::Result<Exit> {
    let own = env!("CARGO_PKG_VERSION");
    writeln!(streams::stdout(), "Haskell Dockerfile Linter {VERSION} (probity {own})")?;
    Ok(Exit::Clean)
}

pub(crate) fn run(args: &Options) -> anyhow::Result<Exit> {
    let directory = std::env::current_dir().context("cannot tell the working directory")?;
    let found = settings::find(args, &directory)?;
    let settings = Settings::new(args, |name| std::env::var(name).ok(), &found.said);
    if settings.verbose {
        let text = verbose::describe(&settings, found.path.as_deref());
        streams::stderr().write_all(text.as_bytes())?;
    }
    if args.files.is_empty() {
        return Err(Failure::new("Please provide a Dockerfile", "name a file, or `-`")
            .with_exit(Exit::Findings)
            .into());
    }
    let detector = Detector::new(&probity_secrets::Options::default())?;
    let rules = verdict::rules(&settings);
    let mut reports = Vec::with_capacity(args.files.len());
    let mut unread = false;
    for file in &args.files {
        match verdict::examine(file, &directory, &settings, &rules, &detector) {
            Examined::Read(verdicts) => reports.push(Report { path: shown(file), verdicts }),
            Examined::Unread(reason) => {
                unread = true;
                tracing::error!("{}: {reason}", file.display());
            }
        }
    }
    let replaced = args.file_path_in_report.as_deref().map(shown);
    let mut outputs = args.output.iter();
    for format in settings.formats() {
        let text = format::write(*format, settings.no_color, &reports, replaced.as_deref())?;
        match outputs.next() {
            Some(path) => write_file(path, format::syntax(*format), &text)?,
            None => {
                streams::stdout().as_syntax(format::syntax(*format)).write_all(&text)?;
            }
        }
    }
    let all = reports.iter().flat_map(|report| &report.verdicts);
    Ok(if unread { Exit::Findings } else { exit(&settings, all) })
}

/// The path as it was given.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Two of the formats are read by services that take any failure for their own, and one of them is enough.
fn exit<'a>(settings: &Settings, mut all: impl Iterator<Item = &'a Verdict>) -> Exit {
    let never_fails = settings
        .formats()
        .iter()
        .any(|format| matches!(format, Format::Codeclimate | Format::Codacy));
    let least = settings.threshold.least();
    if settings.no_fail || never_fails || !all.any(|verdict| verdict.severity >= least) {
        Exit::Clean
    } else {
        Exit::Findings
    }
}

fn write_file(path: &Path, syntax: Syntax, text: &[u8]) -> anyhow::Result<()> {
    let failure = || {
        let what = format!("cannot write the report to {}", path.display());
        Failure::new(what, "choose another place with --output").with_exit(Exit::Findings)
    };
    // A device or a pipe cannot be replaced, only written to.
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_special {
        let device = fs::OpenOptions::new().write(true).open(path).with_context(failure)?;
        return Device::new(device, syntax).write_all(text).with_context(failure);
    }
    let mut file = atomic_write_file::AtomicWriteFile::open(path).with_context(failure)?;
    file.write_all(text).with_context(failure)?;
    file.commit().with_context(failure)
}
