//! The flags of the ACP proxy, shared by all names under which it is called.

use std::path::PathBuf;

use clap::Args;

use crate::commands::acp::Request;

#[derive(Args, Debug)]
pub(super) struct AcpArgs {
    /// The agent behind the proxy [default: the configuration's `containment.agent`, otherwise claude]
    agent: Option<String>,
    /// Write down what is said between the editor and the agents, without secrets
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Keep changed files that tools run by themselves (.envrc, Makefile, CI files, …) in the state
    /// directory until `cai accept`
    #[arg(long)]
    quarantine: bool,
    /// Run the terminal login that the agent offers under this id, in the agent's sandbox
    #[arg(long, value_name = "ID")]
    login: Option<String>,
}

impl From<AcpArgs> for Request {
    fn from(AcpArgs { agent, trace, quarantine, login }: AcpArgs) -> Self {
        Self { agent, trace, quarantine, login }
    }
}

pub(super) const EXAMPLES: &str = "Examples:
  probity acp claude                       for an editor
  probity acp claude --trace talk.ndjson   `probity agent replay talk.ndjson` plays it again

Sandboxed agents cannot use the editor's files and terminals. `fs = \"editor\"` below
`[containment.acp]` in your own probity.toml allows files; an agent that replaces a link at the
right moment can then lead the editor to any file of yours.

CAI_ACP_TEST_MODE=1 takes any name and runs `NAME --acp`; CAI_ACP_DIRECT_SPAWN=1 runs it without a
container.";
