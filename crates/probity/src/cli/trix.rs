//! The name `trix`: `init`, and `audit`, which stays hidden as its specification says.

use std::ffi::OsString;

use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{
    cli::{
        audit::{self, AuditArgs},
        matches, refuse_absent, with_absent,
    },
    commands,
    exit::Exit,
    failure::Failure,
    logging::{self, Loudness},
};

/// Projects of the Tx3 language
///
/// This is probity under the name trix.
#[derive(Debug, Parser)]
#[command(
    name = "trix",
    version = env!("CARGO_PKG_VERSION"),
    arg_required_else_help = true,
    after_help = "Examples:\n  trix init --yes"
)]
struct Trix {
    /// The profile of trix.toml that a command works with
    #[arg(short, long, value_name = "NAME", default_value = "local", global = true)]
    profile: String,
    #[command(subcommand)]
    command: TrixCommand,
}

#[derive(Debug, Subcommand)]
enum TrixCommand {
    /// Make a new project in this directory
    Init {
        /// Ask no questions and use the defaults
        #[arg(short, long)]
        yes: bool,
    },
    /// Run vulnerability analysis scaffolding (UNSTABLE - This feature is experimental and may change)
    #[command(hide = true)]
    Audit(Box<AuditArgs>),
}

const ABSENT: &[&str] = &[
    "build",
    "check",
    "codegen",
    "devnet",
    "explore",
    "identities",
    "inspect",
    "invoke",
    "profile",
    "publish",
    "telemetry",
    "test",
    "wallet",
];

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let found = matches(with_absent(command(), ABSENT), args)?;
    refuse_absent("trix", &found, ABSENT)?;
    let Trix { profile, command } = Trix::from_arg_matches(&found)?;
    match command {
        TrixCommand::Init { yes } => commands::trix_init::run(yes),
        TrixCommand::Audit(args) => {
            open(cfg!(feature = "unstable"))?;
            logging::start(Loudness::default());
            let matches = found.subcommand_matches("audit").unwrap_or(&found);
            audit::run_as_trix(profile, &args, matches)
        }
    }
}

/// The command line, with the flags of settings that the specification has.
fn command() -> Command {
    Trix::command().mut_subcommand("audit", |audit| {
        audit::with_trix_flags(audit).mut_arg("audit.provider", |provider| {
            provider.help("Provider: scaffold, openai, anthropic or ollama [default: scaffold]")
        })
    })
}

/// The specification keeps the audit behind a feature of the build.
fn open(is_unstable: bool) -> Result<(), Failure> {
    if is_unstable {
        return Ok(());
    }
    let what = "The audit command is currently unstable and requires the `unstable` feature to be enabled.";
    let way_out = "build with `--features unstable`, or use `probity audit`";
    Err(Failure::new(what, way_out).with_exit(Exit::AuditError))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_is_hidden_and_refused_unless_built_with_the_feature() {
        let trix = command();
        assert!(trix.find_subcommand("audit").is_some_and(Command::is_hide_set));
        assert!(open(true).is_ok());
        assert_eq!(
            open(false).unwrap_err().to_string(),
            "The audit command is currently unstable and requires the `unstable` feature to be enabled."
        );
    }
}
