//! The flags of the ACP proxy, shared by all names under which it is called.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct AcpArgs {
    /// The agent behind the proxy [default: the configuration's `agent.default`, else claude]
    pub(crate) agent: Option<String>,
    /// Write down what is said between the editor and the agents, without secrets
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Run the agent with these arguments instead, contained, for a login
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

pub(crate) const EXAMPLES: &str = "Examples:
  probity acp claude                       for an editor; docs/editors.md says where to write it
  probity acp claude --trace talk.ndjson   `probity agent replay talk.ndjson` plays it again

CAI_ACP_TEST_MODE=1 takes any name and runs `NAME --acp`; CAI_ACP_DIRECT_SPAWN=1 runs it without a
container.";
