//! The name `trix`: `init`, and `audit`, which stays hidden as its specification says.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use crate::{
    cli::{matches, refuse_absent, with_absent},
    exit::Exit,
    failure::Failure,
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
    #[command(subcommand)]
    command: TrixCommand,
}

#[derive(Debug, Subcommand)]
enum TrixCommand {
    /// Make a new project in this directory
    Init {
        /// Ask nothing, take every default
        #[arg(short, long)]
        yes: bool,
    },
    /// Run vulnerability analysis scaffolding (UNSTABLE - This feature is experimental and may change)
    #[command(hide = true)]
    Audit(Box<AuditArgs>),
}

/// The flags of the audit, shared by `trix audit` and `probity audit`.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Where the state of the analysis is kept
    #[arg(long, value_name = "PATH", default_value = ".tx3/audit/state.json")]
    state_out: PathBuf,
    /// Where the report is written
    #[arg(long, value_name = "PATH", default_value = ".tx3/audit/vulnerabilities.md")]
    report_out: PathBuf,
    /// The directory of vulnerability skills
    #[arg(long, value_name = "DIR", default_value = "skills/vulnerabilities")]
    skills_dir: PathBuf,
    /// The analysis provider: scaffold, openai, anthropic or ollama
    #[arg(long, value_name = "NAME", default_value = "scaffold")]
    provider: String,
    /// The provider's endpoint, used as it is
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// The model to ask
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The variable that holds the API key
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Show each step and the model's answers on stderr
    #[arg(long)]
    ai_logs: bool,
    /// What the model may read
    #[arg(long, value_name = "SCOPE", default_value = "workspace")]
    read_scope: ReadScope,
    /// Ask before each read
    #[arg(long)]
    interactive_permissions: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReadScope {
    Workspace,
    Strict,
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
    let found = matches(with_absent(Trix::command(), ABSENT), args)?;
    refuse_absent("trix", &found, ABSENT)?;
    match Trix::from_arg_matches(&found)?.command {
        TrixCommand::Init { yes: _ } => Err(Failure::not_built("trix init").into()),
        TrixCommand::Audit(_) if !cfg!(feature = "unstable") => Err(Failure::new(
            "The audit command is currently unstable and requires the `unstable` feature to be enabled.",
            "build with `--features unstable`, or use `probity audit`",
        )
        .into()),
        TrixCommand::Audit(_) => Err(Failure::not_built("trix audit").into()),
    }
}
