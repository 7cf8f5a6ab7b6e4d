//! Where a report goes: a stream, or a file that appears whole or not at all.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use atomic_write_file::AtomicWriteFile;
use probity_check::{Job, Target};
use probity_report::{self as report, FileReport, Reporter, Totals};
use probity_scope::{Missing, WholeFile, are_below};
use probity_text::runner::Syntax;

use super::{Options, statistics::Statistics};
use crate::{
    config::{Settings, guard, key},
    failure::Failure,
    manual::Manual,
    output::OutputFile,
    screen,
    streams::{self, Device, Stream},
};

/// Refuses to write the report over a file that is being checked.
pub(super) fn refuse_input(path: &str, jobs: &[Job]) -> anyhow::Result<()> {
    // What does not exist yet is no input.
    let Ok(report) = fs::canonicalize(path) else { return Ok(()) };
    let is_report = |job: &Job| match &job.target {
        Target::File(input) | Target::Inline(input, _) => {
            fs::canonicalize(input).is_ok_and(|input| input == report)
        }
        Target::Stdin(_) => false,
    };
    if !is_stream(path) && jobs.iter().any(is_report) {
        return Err(Failure::new(
            format!("{path} is one of the files to check, and the report would overwrite it"),
            "name another file with --output",
        )
        .into());
    }
    Ok(())
}

/// Whether the words for where a report goes mean a stream and not a file.
fn is_stream(path: &str) -> bool {
    matches!(path, "stdout" | "-" | "stderr")
}

/// An open report.
pub(super) struct Output {
    reporter: Box<dyn Reporter>,
    sink: Sink,
    shown: String,
}

enum Sink {
    Stream(io::BufWriter<Stream>),
    File(io::BufWriter<AtomicWriteFile>),
    /// A file that a repository's configuration names.
    OfRepository(io::BufWriter<WholeFile>),
    /// A pipe or a device, which cannot be replaced and must not be.
    Special(io::BufWriter<Device<fs::File>>),
}

impl Output {
    /// Opens what the configuration of the first file asks for; standard error where standard output
    /// is taken.
    pub(super) fn open(
        config: &Settings,
        options: &Options,
        manual: &Manual,
        stdout_is_taken: bool,
        jobs: &[Job],
    ) -> anyhow::Result<Self> {
        let asked = &config.check.output;
        let syntax = asked.format.syntax();
        let named_by = guard::directory_of(config.merged.origin(&key::check::output::path.key));
        let files = jobs.iter().filter_map(|job| job.target.path());
        let path = match &named_by {
            Some(directory) if !are_below(directory, files) => {
                tracing::warn!(
                    "the report goes to standard output: `{}` is the place in {}, and not all files \
                     are there; name a file with --output",
                    asked.path,
                    Path::new(".").join(directory).display()
                );
                "stdout"
            }
            _ => asked.path.as_str(),
        };
        let (sink, screen) = match path {
            "" => {
                let way_out = "name a file, or `-` for standard output";
                return Err(Failure::new("the path of the report is empty", way_out).into());
            }
            "stdout" | "-" if stdout_is_taken => {
                (Sink::stream(streams::stderr(), syntax), screen::stderr())
            }
            "stdout" | "-" => (Sink::stream(streams::stdout(), syntax), screen::stdout()),
            "stderr" => (Sink::stream(streams::stderr(), syntax), screen::stderr()),
            path => {
                let sink = match &named_by {
                    Some(directory) => Sink::of_repository(Path::new(path), directory)?,
                    None => Sink::at(Path::new(path), syntax)?,
                };
                (sink, screen::file())
            }
        };
        let reporter: Box<dyn Reporter> = if options.statistics {
            Box::new(Statistics::new(asked.format, screen)?)
        } else {
            asked.format.reporter(&report::Options {
                show_source: asked.show_source,
                detail: options.detail,
                screen,
                explain: manual.command(),
                tool_version: env!("CARGO_PKG_VERSION"),
                describe: crate::commands::rules::describe,
            })
        };
        Ok(Self { reporter, sink, shown: path.to_owned() })
    }

    pub(super) fn file(&mut self, file: &FileReport<'_>) -> anyhow::Result<()> {
        self.reporter.file(self.sink.writer(), file).with_context(|| self.cannot_write())
    }

    pub(super) fn finish(
        mut self,
        files_scanned: usize,
        rules_enabled: usize,
    ) -> anyhow::Result<()> {
        let totals = Totals { files_scanned, rules_enabled };
        let failure = format!("cannot write the report to {}", self.shown);
        self.reporter
            .finish(self.sink.writer(), &totals)
            .and_then(|()| self.sink.close())
            .context(failure)
    }

    fn cannot_write(&self) -> String {
        format!("cannot write the report to {}", self.shown)
    }
}

impl Sink {
    fn stream(stream: Stream, syntax: Syntax) -> Self {
        Self::Stream(io::BufWriter::new(stream.as_syntax(syntax)))
    }

    fn at(path: &Path, syntax: Syntax) -> anyhow::Result<Self> {
        // Replacing a link would leave its target as it was: what is meant is the target.
        let target: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let cannot = |why: &str| {
            let what = format!("cannot write the report to {}{why}", path.display());
            Failure::new(what, "name another file with --output, or make its directory first")
        };
        match fs::metadata(&target) {
            Ok(metadata) if metadata.is_dir() => Err(cannot(": it is a directory").into()),
            Ok(metadata) if !metadata.is_file() => {
                let file = fs::OpenOptions::new().write(true).open(&target);
                let device = Device::new(file.with_context(|| cannot(""))?, syntax);
                Ok(Self::Special(io::BufWriter::new(device)))
            }
            _ => {
                let file = AtomicWriteFile::open(&target).with_context(|| cannot(""))?;
                Ok(Self::File(io::BufWriter::new(file)))
            }
        }
    }

    /// A repository's file, of whatever tool, has nothing overwritten but reports, and nothing outside of
    /// its directory written.
    fn of_repository(path: &Path, directory: &Path) -> anyhow::Result<Self> {
        const WAY_OUT: &str = "name the file yourself with --output";
        // The directory of a file that is beside us is written as nothing.
        let directory = Path::new(".").join(directory);
        let file = OutputFile::open(path, &directory, Missing::Refuse, WAY_OUT)?;
        file.refuse_foreign(WAY_OUT)?;
        let file = file.begin().with_context(|| {
            let what = format!("cannot write the report to {}", path.display());
            Failure::new(what, WAY_OUT)
        })?;
        Ok(Self::OfRepository(io::BufWriter::new(file)))
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::OfRepository(out) => out,
            Self::Stream(out) => out,
            Self::File(out) => out,
            Self::Special(out) => out,
        }
    }

    fn close(self) -> io::Result<()> {
        match self {
            Self::Stream(mut out) => out.flush(),
            Self::Special(mut out) => out.flush(),
            Self::OfRepository(out) => {
                out.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
            }
            Self::File(out) => out.into_inner().map_err(io::IntoInnerError::into_error)?.commit(),
        }
    }
}
