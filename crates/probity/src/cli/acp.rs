//! The flags of the ACP proxy, shared by all names under which it is called.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct AcpArgs {
    /// The agent behind the proxy [default: the configuration's `agent.default`, else claude]
    pub(crate) agent: Option<String>,
    /// Write down what is said between the editor and the agents, without secrets
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Keep changed files that tools run by themselves (.envrc, Makefile, CI files, …) in the state
    /// directory until `cai accept`
    #[arg(long)]
    pub(crate) quarantine: bool,
    /// Run the terminal login that the agent offers under this id, in the agent's sandbox
    #[arg(long, value_name = "ID")]
    pub(crate) login: Option<String>,
}

pub(crate) const EXAMPLES: &str = "Examples:
  probity acp claude                       for an editor; docs/editors.md says where to write it
  probity acp claude --trace talk.ndjson   `probity agent replay talk.ndjson` plays it again

Sandboxed agents cannot use the editor's files and terminals. `acp.fs = \"editor\"` in your own
containai/config.toml allows files; an agent that replaces a link at the right moment can then lead
the editor to any file of yours.

CAI_ACP_TEST_MODE=1 takes any name and runs `NAME --acp`; CAI_ACP_DIRECT_SPAWN=1 runs it without a
container.";
