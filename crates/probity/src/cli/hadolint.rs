//! The name `hadolint`: its flags, which take files and nothing else.

use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory as _, Parser, ValueEnum};

use crate::{cli::parse, exit::Exit, failure::Failure};

/// Lint Dockerfiles for errors and best practices
///
/// This is probity under the name hadolint: the same flags, files, variables and exit codes.
#[derive(Debug, Parser)]
#[command(
    name = "hadolint",
    disable_version_flag = true,
    version = env!("CARGO_PKG_VERSION"),
    after_help = "Examples:\n  hadolint Dockerfile\n  hadolint --format json - < Dockerfile"
)]
struct Hadolint {
    /// Files, or `-` for standard input
    #[arg(value_name = "DOCKERFILE", required = true)]
    files: Vec<PathBuf>,
    /// Configuration file
    #[arg(short = 'c', long, value_name = "FILENAME")]
    config: Option<PathBuf>,
    /// The path that reports show instead of the real one
    #[arg(long, value_name = "FILEPATHINREPORT")]
    file_path_in_report: Option<PathBuf>,
    /// Exit with 0 whatever is found
    #[arg(long)]
    no_fail: bool,
    /// No colours
    #[arg(long)]
    no_color: bool,
    /// Say more
    #[arg(short = 'V', long)]
    verbose: bool,
    /// How findings are written
    #[arg(short = 'f', long, default_value = "tty")]
    format: HadolintFormat,
    /// Report this rule as an error
    #[arg(long, value_name = "RULECODE")]
    error: Vec<String>,
    /// Report this rule as a warning
    #[arg(long, value_name = "RULECODE")]
    warning: Vec<String>,
    /// Report this rule as info
    #[arg(long, value_name = "RULECODE")]
    info: Vec<String>,
    /// Report this rule as style
    #[arg(long, value_name = "RULECODE")]
    style: Vec<String>,
    /// Do not report this rule
    #[arg(long, value_name = "RULECODE")]
    ignore: Vec<String>,
    /// A registry that FROM may name
    #[arg(long, value_name = "REGISTRY")]
    trusted_registry: Vec<String>,
    /// A label that must be there, with its format
    #[arg(long, value_name = "NAME:FORMAT")]
    require_label: Vec<String>,
    /// Report labels that are not required
    #[arg(long)]
    strict_labels: bool,
    /// Take no notice of ignore pragmas
    #[arg(long)]
    disable_ignore_pragma: bool,
    /// The least severity that makes the exit code 1
    #[arg(short = 't', long, value_name = "THRESHOLD", default_value = "info")]
    failure_threshold: Threshold,
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HadolintFormat {
    Tty,
    Json,
    Checkstyle,
    Codeclimate,
    #[value(name = "gitlab_codeclimate")]
    GitlabCodeclimate,
    Gnu,
    Codacy,
    Sonarqube,
    Sarif,
    Junit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Threshold {
    Error,
    Warning,
    Info,
    Style,
    Ignore,
    None,
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    parse::<Hadolint>(Hadolint::command(), args)?;
    Err(Failure::not_built("hadolint").into())
}
