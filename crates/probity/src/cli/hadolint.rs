//! The name `hadolint`: its flags, which take files and nothing else.

use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory as _, Parser, ValueEnum as _};

use crate::{
    cli::parse,
    commands,
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
pub(crate) struct Hadolint {
    /// Files, or `-` for standard input
    #[arg(value_name = "DOCKERFILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Configuration file
    #[arg(short = 'c', long, value_name = "FILENAME")]
    pub(crate) config: Option<PathBuf>,
    /// The path that checkstyle, codeclimate, gitlab_codeclimate, junit and sonarqube show instead
    #[arg(long, value_name = "FILEPATHINREPORT")]
    pub(crate) file_path_in_report: Option<PathBuf>,
    /// Write the report into this file; the second one is for the second format, and so on
    #[arg(short = 'o', long, value_name = "OUTPUT")]
    pub(crate) output: Vec<PathBuf>,
    /// Exit with 0 whatever is found
    #[arg(long)]
    pub(crate) no_fail: bool,
    /// No colours
    #[arg(long)]
    pub(crate) no_color: bool,
    /// Say on stderr which configuration holds
    #[arg(short = 'V', long)]
    pub(crate) verbose: bool,
    /// How findings are written, once for each that is given [default: tty]
    #[arg(short = 'f', long)]
    pub(crate) format: Vec<Format>,
    /// Report this rule as an error
    #[arg(long, value_name = "RULECODE")]
    pub(crate) error: Vec<String>,
    /// Report this rule as a warning
    #[arg(long, value_name = "RULECODE")]
    pub(crate) warning: Vec<String>,
    /// Report this rule as info
    #[arg(long, value_name = "RULECODE")]
    pub(crate) info: Vec<String>,
    /// Report this rule as style
    #[arg(long, value_name = "RULECODE")]
    pub(crate) style: Vec<String>,
    /// Do not report this rule
    #[arg(long, value_name = "RULECODE")]
    pub(crate) ignore: Vec<String>,
    /// A registry that FROM may name
    #[arg(long, value_name = "REGISTRY")]
    pub(crate) trusted_registry: Vec<String>,
    /// A label that must be there, with its format
    #[arg(long, value_name = "NAME:FORMAT", value_parser = label)]
    pub(crate) require_label: Vec<(String, LabelType)>,
    /// Report labels that are not required
    #[arg(long)]
    pub(crate) strict_labels: bool,
    /// Take no notice of ignore pragmas
    #[arg(long)]
    pub(crate) disable_ignore_pragma: bool,
    /// The least severity that makes the exit code 1 [default: info]
    #[arg(short = 't', long, value_name = "THRESHOLD")]
    pub(crate) failure_threshold: Option<Threshold>,
    /// Print the version
    #[arg(short = 'v', long)]
    pub(crate) version: bool,
}

/// A label and what its value has to be; nothing behind it means any text.
pub(crate) fn label(text: &str) -> Result<(String, LabelType), String> {
    let (name, kind) = text.split_once(':').unwrap_or((text, "text"));
    let kind = LabelType::from_str(kind, false).map_err(|_| {
        let kinds = LabelType::value_variants().iter().filter_map(|kind| kind.to_possible_value());
        let kinds: Vec<String> = kinds.map(|kind| kind.get_name().to_owned()).collect();
        format!("`{kind}` is no format of a label; there are {}", kinds.join(", "))
    })?;
    Ok((name.to_owned(), kind))
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let args = parse::<Hadolint>(Hadolint::command(), args)?;
    logging::start(Loudness::default());
    commands::hadolint::run(&args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Hadolint::command().debug_assert();
    }
}
