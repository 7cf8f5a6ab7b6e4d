//! The name `tally`: its subcommands, flags and exit codes.

use std::{ffi::OsString, io::Write as _};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::{
    cli::{check::CheckArgs, matches, refuse_absent, with_absent},
    commands,
    exit::Exit,
    failure::Failure,
    logging::{self, Loudness},
    name::Name,
};

/// Lint Dockerfiles and Containerfiles
///
/// This is probity under the name tally: the same flags, files, variables and exit codes.
#[derive(Debug, Parser)]
#[command(
    name = "tally",
    disable_version_flag = true,
    version = env!("CARGO_PKG_VERSION"),
    arg_required_else_help = true,
    after_help = "Examples:\n  tally lint .\n  tally lint --format sarif --output report.sarif Dockerfile\n  \
        cat Dockerfile | tally lint -"
)]
struct Tally {
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: TallyCommand,
}

#[derive(Debug, Subcommand)]
enum TallyCommand {
    /// Lint Dockerfiles
    #[command(visible_alias = "check")]
    Lint(Box<CheckArgs>),
    /// Serve an editor over the Language Server Protocol
    Lsp {
        /// Talk over standard input and output, the only way there is
        #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
        stdio: bool,
    },
    /// Print the version
    Version {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script
    Completion { shell: Shell },
}

const ABSENT: &[&str] = &["register-docker-plugin"];

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let found = matches(with_absent(Tally::command(), ABSENT), args)?;
    refuse_absent("tally", &found, ABSENT)?;
    let tally = Tally::from_arg_matches(&found)?;
    logging::start(Loudness::default());
    match tally.command {
        TallyCommand::Lint(args) => commands::check::run(Name::Tally, *args),
        TallyCommand::Lsp { .. } => Err(Failure::not_built("tally lsp").into()),
        TallyCommand::Version { json } => version(json),
        TallyCommand::Completion { shell } => {
            commands::completions::run(Tally::command(), "tally", shell)
        }
    }
}

fn version(json: bool) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    if json {
        let version = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "implementation": "probity",
            "platform": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH },
        });
        writeln!(out, "{version:#}")?;
    } else {
        writeln!(out, "tally {} (probity)", env!("CARGO_PKG_VERSION"))?;
    }
    Ok(Exit::Clean)
}
