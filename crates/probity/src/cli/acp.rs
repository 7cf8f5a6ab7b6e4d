//! The flags of the ACP proxy, shared by all names under which it is called.

use std::path::PathBuf;

use clap::Args;

use crate::commands::acp::{Login, Request};

#[derive(Args, Debug)]
pub(super) struct AcpArgs {
    /// The agent behind the proxy [default: `containment.agent` in the configuration, or claude]
    agent: Option<String>,
    /// Record the messages between the editor and the agents, without secrets
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Keep changed files that tools run by themselves (.envrc, Makefile, CI files, …) in the state
    /// directory until `cai accept`
    #[arg(long)]
    quarantine: bool,
    /// Log in to the agent: run the terminal login that it offers under this ID, or its first one,
    /// in its sandbox
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    login: Option<Option<String>>,
}

impl From<AcpArgs> for Request {
    fn from(AcpArgs { agent, trace, quarantine, login }: AcpArgs) -> Self {
        let login = login.map(|id| id.map_or(Login::First, Login::WithId));
        Self { agent, trace, quarantine, login }
    }
}

pub(super) const EXAMPLES: &str = "Examples:
  probity acp claude                       for an editor
  probity acp claude --login               in a terminal, once for all workspaces
  probity acp claude --trace talk.ndjson   `probity agent replay talk.ndjson` plays it again

Sandboxed agents cannot use the editor's files and terminals. `fs = \"editor\"` below
`[containment.acp]` in your own probity.toml allows files; an agent that replaces a link at the
right moment can then lead the editor to any file of yours.

CAI_ACP_TEST_MODE=1 accepts any name and runs `NAME --acp`; CAI_ACP_DIRECT_SPAWN=1 runs it without a
container.";
