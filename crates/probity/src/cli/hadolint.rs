//! The name `hadolint`: its flags, which take files and nothing else.

use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory as _, Parser};

use crate::{
    cli::{parse, words},
    commands::hadolint::{self, Options, label},
    config::hadolint::{Format, LabelType, Threshold},
    exit::Exit,
    logging::{self, Loudness},
};

/// Lint Dockerfiles for errors and best practices
///
/// This is probity under the name hadolint: the same flags, files, variables and exit codes.
#[derive(Debug, Parser)]
#[command(
    name = "hadolint",
    args_override_self = true,
    disable_version_flag = true,
    after_help = "Examples:\n  hadolint Dockerfile\n  hadolint --format json - < Dockerfile"
)]
struct Hadolint {
    /// Files, or `-` for standard input
    #[arg(value_name = "DOCKERFILE")]
    files: Vec<PathBuf>,
    /// Configuration file
    #[arg(short = 'c', long, value_name = "FILENAME")]
    config: Option<PathBuf>,
    /// The path that checkstyle, codeclimate, gitlab_codeclimate, junit and sonarqube show instead
    #[arg(long, value_name = "FILEPATHINREPORT")]
    file_path_in_report: Option<PathBuf>,
    /// Write the report into this file; the second one is for the second format, and so on
    #[arg(short = 'o', long, value_name = "OUTPUT")]
    output: Vec<PathBuf>,
    /// Exit with 0 whatever is found
    #[arg(long)]
    no_fail: bool,
    /// No colours
    #[arg(long)]
    no_color: bool,
    /// Say on stderr which configuration holds
    #[arg(short = 'V', long)]
    verbose: bool,
    /// How findings are written, once for each that is given [default: tty]
    #[arg(short = 'f', long, value_parser = words::<Format>())]
    format: Vec<Format>,
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
    #[arg(long, value_name = "NAME:FORMAT", value_parser = label)]
    require_label: Vec<(String, LabelType)>,
    /// Report labels that are not required
    #[arg(long)]
    strict_labels: bool,
    /// Take no notice of ignore pragmas
    #[arg(long)]
    disable_ignore_pragma: bool,
    /// The least severity that makes the exit code 1 [default: info]
    #[arg(short = 't', long, value_name = "THRESHOLD", value_parser = words::<Threshold>())]
    failure_threshold: Option<Threshold>,
    /// Print the version
    #[arg(short = 'v', long)]
    version: bool,
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let args = parse::<Hadolint>(Hadolint::command(), args)?;
    logging::start(Loudness::default());
    if args.version {
        return hadolint::version();
    }
    hadolint::run(&Options {
        files: args.files,
        config: args.config,
        file_path_in_report: args.file_path_in_report,
        output: args.output,
        no_fail: args.no_fail,
        no_color: args.no_color,
        verbose: args.verbose,
        format: args.format,
        error: args.error,
        warning: args.warning,
        info: args.info,
        style: args.style,
        ignore: args.ignore,
        trusted_registry: args.trusted_registry,
        require_label: args.require_label,
        strict_labels: args.strict_labels,
        disable_ignore_pragma: args.disable_ignore_pragma,
        failure_threshold: args.failure_threshold,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Hadolint::command().debug_assert();
    }
}
