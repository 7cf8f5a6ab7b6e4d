//! The name `tally`: its subcommands, flags and exit codes.

use std::{ffi::OsString, io::Write as _};

use clap::{
    ArgAction, Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
};
use clap_complete::Shell;
use probity_report::Detail;

use crate::{
    cli::{
        check::{self, CheckArgs, switch},
        color::ColorArgs,
        manual, matches, print_help, refuse_absent, with_absent,
    },
    commands::{self, print_json},
    exit::Exit,
    logging::{self, Loudness},
    name::Name,
    screen, streams,
};

/// Lint Dockerfiles and Containerfiles
///
/// This is probity under the name tally: the same flags, files, variables and exit codes.
#[derive(Debug, Parser)]
#[command(
    name = "tally",
    disable_version_flag = true,
    version = env!("CARGO_PKG_VERSION"),
    after_help = "Examples:\n  tally lint .\n  tally lint --format sarif --output report.sarif Dockerfile\n  \
        cat Dockerfile | tally lint -"
)]
struct Tally {
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: Option<TallyCommand>,
}

#[derive(Debug, Subcommand)]
enum TallyCommand {
    /// Lint Dockerfiles
    #[command(visible_alias = "check", args_override_self = true)]
    Lint(Box<LintArgs>),
    /// Lint Dockerfiles and ask an AI agent for problems that no rule finds; needs --ai
    #[command(args_override_self = true)]
    Analyze(Box<LintArgs>),
    /// Serve an editor over the Language Server Protocol
    #[command(args_override_self = true)]
    Lsp {
        /// Talk over standard input and output, the only way there is
        #[arg(long)]
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

#[derive(Args, Debug)]
struct LintArgs {
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten, next_help_heading = "Output")]
    color: ColorArgs,
}

const ABSENT: &[&str] = &["register-docker-plugin"];

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let found = matches(with_absent(command(), ABSENT), args)?;
    refuse_absent("tally", &found, ABSENT)?;
    let tally = Tally::from_arg_matches(&found)?;
    if let Some(TallyCommand::Lint(args) | TallyCommand::Analyze(args)) = &tally.command {
        screen::ask(args.color.when());
    }
    logging::start(Loudness::default());
    match tally.command {
        None => print_help(command()),
        Some(TallyCommand::Lint(args)) => {
            let matches = found.subcommand().map_or(&found, |(_, lint)| lint);
            commands::check::run(&check::options(Name::Tally, args.check, matches, Detail::Full)?)
        }
        Some(TallyCommand::Analyze(args)) => {
            let matches = found.subcommand().map_or(&found, |(_, analyze)| analyze);
            let options = check::options(Name::Tally, args.check, matches, Detail::Full)?;
            commands::check::run(&check::analyzing(options)?)
        }
        Some(TallyCommand::Lsp { .. }) => commands::lsp::run(Name::Tally),
        Some(TallyCommand::Version { json }) => version(json),
        Some(TallyCommand::Completion { shell }) => manual::completions(command(), "tally", shell),
    }
}

/// The command line, with switches that take `=true` and `=false` as tally's do.
fn command() -> Command {
    let tally = Tally::command()
        .mut_subcommand("lint", check::with_tally_flags)
        .mut_subcommand("analyze", check::with_tally_flags);
    ["lint", "analyze", "lsp", "version"].into_iter().fold(tally, |command, name| {
        command.mut_subcommand(name, |sub| {
            sub.mut_args(|arg| match arg.get_action() {
                ArgAction::SetTrue => arg
                    .action(ArgAction::Set)
                    .num_args(0..=1)
                    .require_equals(true)
                    .value_name("BOOL")
                    .value_parser(switch)
                    .default_missing_value("true")
                    .default_value("false")
                    .hide_default_value(true),
                // There every list is divided by commas.
                ArgAction::Append if arg.get_long().is_some() => arg.value_delimiter(','),
                _ => arg,
            })
        })
    })
}

fn version(json: bool) -> anyhow::Result<Exit> {
    if json {
        let version = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "implementation": "probity",
            "platform": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH },
        });
        print_json(&version)?;
    } else {
        writeln!(streams::stdout(), "tally {} (probity)", env!("CARGO_PKG_VERSION"))?;
    }
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_line_is_well_formed() {
        with_absent(command(), ABSENT).debug_assert();
    }
}
