//! The name `cai`: ContainAI's agents for editors and its contained commands.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{
    cli::{matches, refuse_absent, with_absent},
    exit::Exit,
    failure::Failure,
};

/// Run agents and commands contained, one container per workspace
///
/// This is probity under the name cai.
#[derive(Debug, Parser)]
#[command(
    name = "cai",
    version = env!("CARGO_PKG_VERSION"),
    disable_version_flag = true,
    after_help = "Examples:\n  cai --acp claude\n  cai exec -- make test\n  cai doctor"
)]
struct Cai {
    /// Be an ACP agent for an editor, with this agent behind it [default agent: claude]
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "claude")]
    acp: Option<String>,
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: Option<CaiCommand>,
}

#[derive(Debug, Subcommand)]
enum CaiCommand {
    /// The ACP proxy
    Acp {
        #[command(subcommand)]
        command: AcpCommand,
    },
    /// Run a command in the workspace's container
    Exec(ExecArgs),
    /// Say what this machine can contain, and what would be used
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove stale containers and processes
    Gc,
    /// Stop the workspace's container
    Stop,
    /// Show containers
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Trust this repository's configuration
    Trust,
}

#[derive(Debug, Subcommand)]
enum AcpCommand {
    /// Serve an editor with this agent
    Proxy {
        #[arg(default_value = "claude")]
        agent: String,
    },
}

/// The flags of `exec`, shared by `cai exec` and `probity exec`.
#[derive(Args, Debug)]
pub(crate) struct ExecArgs {
    /// The workspace, instead of the one around the working directory
    #[arg(short, long, value_name = "DIR", conflicts_with = "container")]
    workspace: Option<PathBuf>,
    /// A container by name
    #[arg(long, value_name = "NAME")]
    container: Option<String>,
    /// Start from a new container
    #[arg(long)]
    fresh: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

const ABSENT: &[&str] = &[
    "completion",
    "config",
    "docker",
    "export",
    "import",
    "links",
    "refresh",
    "run",
    "sandbox",
    "setup",
    "shell",
    "ssh",
    "sync",
    "template",
    "uninstall",
    "update",
    "validate",
];

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let found = matches(with_absent(Cai::command(), ABSENT), args)?;
    refuse_absent("cai", &found, ABSENT)?;
    let cai = Cai::from_arg_matches(&found)?;
    let what = match (cai.acp, cai.command) {
        (Some(_), _) => "cai --acp",
        (None, Some(CaiCommand::Acp { command: AcpCommand::Proxy { .. } })) => "cai acp proxy",
        (None, Some(CaiCommand::Exec(_))) => "cai exec",
        (None, Some(CaiCommand::Doctor { .. })) => "cai doctor",
        (None, Some(CaiCommand::Gc)) => "cai gc",
        (None, Some(CaiCommand::Stop)) => "cai stop",
        (None, Some(CaiCommand::Status { .. })) => "cai status",
        (None, Some(CaiCommand::Trust)) => "cai trust",
        (None, None) => {
            return Err(Failure::new(
                "`cai` alone, which opens a shell in the original, is not offered by probity",
                "`cai --help` lists what is; `cai exec -- sh` runs a shell in the workspace's container",
            )
            .into());
        }
    };
    Err(Failure::not_built(what).into())
}
