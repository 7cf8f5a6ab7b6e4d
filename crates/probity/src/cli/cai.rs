//! The name `cai`: ContainAI's agents for editors and its contained commands.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{
    cli::{acp::AcpArgs, acp_proxy, matches, refuse_absent, with_absent, words},
    commands::{accept, acp, containers, doctor, exec},
    config::words::Sandbox,
    exit::Exit,
    failure::Failure,
    logging::{self, Loudness},
    name::Name,
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
    /// Serve an editor over ACP and pass its requests to this agent [default: `agent.default` in .containai/config.toml, or claude]
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "")]
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
    /// Run a command where it sees this workspace and nothing else of yours
    #[command(after_help = exec_examples("cai"))]
    Exec(ExecArgs),
    /// Show the sandboxes of this machine and the one that cai would use
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove containers and homes of workspaces that are gone, and what killed runs left
    Gc {
        /// List what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
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
    /// Restore or delete what sessions in this workspace left in quarantine
    #[command(after_help = ACCEPT_EXAMPLES)]
    Accept(AcceptArgs),
}

/// The flags of `cai accept`.
#[derive(Args, Debug)]
struct AcceptArgs {
    /// Paths or numbers of the items to restore or delete, as `--list` shows them [default: all]
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// List what is in quarantine, and change nothing
    #[arg(long, conflicts_with_all = ["drop", "all"])]
    list: bool,
    /// Delete the items for good instead of restoring them
    #[arg(long)]
    drop: bool,
    /// With --drop: delete everything in quarantine for this workspace
    #[arg(long, requires = "drop", conflicts_with = "items")]
    all: bool,
}

const ACCEPT_EXAMPLES: &str = "Examples:
  cai accept --list
  cai accept
  cai accept --drop old/.git

Repositories and working trees come back without hooks and settings that run programs, unfinished
rebases without commands, and files that tools run (--quarantine) as the session left them. Files in
the place of links and changed git configurations cannot be restored: look at them, copy what you
need, and delete them with --drop.";

impl AcceptArgs {
    fn action(&self) -> anyhow::Result<accept::Action> {
        if self.drop && self.items.is_empty() && !self.all {
            let way_out = "name items, or delete everything with `cai accept --drop --all`";
            return Err(Failure::new("`--drop` needs to know what to delete", way_out).into());
        }
        Ok(match (self.list, self.drop) {
            (true, _) => accept::Action::List,
            (false, true) => accept::Action::Drop,
            (false, false) => accept::Action::Restore,
        })
    }
}

#[derive(Debug, Subcommand)]
enum AcpCommand {
    /// Serve an editor with this agent
    Proxy(AcpArgs),
}

/// The flags of `exec`, shared by `cai exec` and `probity exec`.
#[derive(Args, Debug)]
pub(super) struct ExecArgs {
    /// Workspace directory [default: the workspace that contains the working directory]
    #[arg(short, long, value_name = "DIR", conflicts_with = "container")]
    workspace: Option<PathBuf>,
    /// Use the workspace of this container
    #[arg(long, value_name = "NAME")]
    container: Option<String>,
    /// Replace the container with a new one
    #[arg(long)]
    fresh: bool,
    /// Image of the container [default: containai:latest]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Sandbox for the command [default: an engine that has the image, otherwise bubblewrap, otherwise landlock]
    #[arg(long, value_name = "KIND", value_parser = words::<Sandbox>())]
    sandbox: Option<Sandbox>,
    /// Keep changed files that tools run by themselves (.envrc, Makefile, CI files, …) in the state
    /// directory until `cai accept`
    #[arg(long)]
    quarantine: bool,
    /// Print only errors
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

impl From<ExecArgs> for exec::Options {
    fn from(args: ExecArgs) -> Self {
        let ExecArgs { workspace, container, fresh, image, sandbox, quarantine, quiet: _, command } =
            args;
        Self { workspace, container, fresh, image, sandbox, quarantine, command }
    }
}

pub(super) fn exec_examples(name: &str) -> String {
    format!(
        "Examples:
  {name} exec -- make test
  {name} exec --workspace ../other -- sh -c 'git status'
  {name} exec --sandbox bwrap -- cargo build

Exit codes: those of the command; 11 the container did not start, 15 another program owns a \
container with that name, 126 the command cannot run, 127 the command does not exist."
    )
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
    let mut args = args.peekable();
    if args.next_if(|first| first == "--acp").is_some() {
        return acp_proxy::run_as_cai(args);
    }
    let found = matches(with_absent(Cai::command(), ABSENT), args)?;
    refuse_absent("cai", &found, ABSENT)?;
    let cai = Cai::from_arg_matches(&found)?;
    let quiet = matches!(&cai.command, Some(CaiCommand::Exec(args)) if args.quiet);
    logging::start(Loudness { verbose: 0, quiet });
    match (cai.acp, cai.command) {
        (Some(agent), _) => {
            let agent = Some(agent).filter(|agent| !agent.is_empty());
            acp::run(Name::Cai, acp::Request { agent, ..acp::Request::default() })
        }
        (None, Some(CaiCommand::Acp { command: AcpCommand::Proxy(args) })) => {
            acp::run(Name::Cai, args.into())
        }
        (None, Some(CaiCommand::Exec(args))) => exec::run(Name::Cai, args.into()),
        (None, Some(CaiCommand::Doctor { json })) => doctor::run(json, doctor::Runners::Skip),
        (None, Some(CaiCommand::Gc { dry_run })) => containers::gc(dry_run),
        (None, Some(CaiCommand::Stop)) => containers::stop(),
        (None, Some(CaiCommand::Status { json })) => containers::status(json),
        (None, Some(CaiCommand::Trust)) => containers::trust(),
        (None, Some(CaiCommand::Accept(args))) => accept::run(args.action()?, &args.items),
        (None, None) => Err(Failure::new(
            "`cai` alone, which opens a shell in the original, is not offered by probity",
            "`cai --help` lists what is; `cai exec -- sh` runs a shell in the workspace's container",
        )
        .into()),
    }
}
