//! The flags of the ACP proxy, shared by all names under which it is called.

use std::path::PathBuf;

use clap::Args;

use super::words;
use crate::{
    commands::acp::{Login, Request},
    config::words::Sandbox,
};

#[derive(Args, Debug)]
pub(super) struct AcpArgs {
    /// Agent to run [default: `containment.agent` in the configuration, or claude]
    agent: Option<String>,
    /// Sandbox for the agents; `auto` refuses to start them if none works
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = words::<Sandbox>())]
    sandbox: Sandbox,
    /// Record the messages between the editor and the agents, without secrets
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Keep changed files that tools run by themselves (.envrc, Makefile, CI files, …) in the state
    /// directory until `cai accept`
    #[arg(long)]
    quarantine: bool,
    /// Log in to the agent in a terminal, in its sandbox; ID selects one of the logins that the
    /// agent offers [default: the first]
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    login: Option<Option<String>>,
}

impl From<AcpArgs> for Request {
    fn from(AcpArgs { agent, sandbox, trace, quarantine, login }: AcpArgs) -> Self {
        let login = login.map(|id| id.map_or(Login::First, Login::WithId));
        Self { agent, sandbox, trace, quarantine, login }
    }
}

pub(super) const EXAMPLES: &str = "Examples:
  probity acp claude                       the command for an editor
  probity acp claude --login               in a terminal, once for all workspaces
  probity acp claude --trace talk.ndjson   record, for `probity agent replay talk.ndjson`

Sandboxed agents cannot use the editor's files and terminals. `fs = \"editor\"` below \
`[containment.acp]` in your own probity.toml allows files. This has a risk: an agent that swaps a \
symbolic link at the right moment can make the editor open any of your files.

CAI_ACP_TEST_MODE=1 accepts any name and runs `NAME --acp`. CAI_ACP_DIRECT_SPAWN=1 runs the agent \
without a container.";
