//! The flags of the ACP proxy, shared by all names under which it is called.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::commands::acp::Request;

#[derive(Args, Debug)]
pub(super) struct AcpArgs {
    /// The agent behind the proxy [default: the configuration's `agent.default`, else claude]
    agent: Option<String>,
    /// Write down what is said between the editor and the agents, without secrets
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Run the agent with these arguments instead, contained, for a login
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl From<AcpArgs> for Request {
    fn from(AcpArgs { agent, trace, arguments }: AcpArgs) -> Self {
        Self { agent, trace, arguments }
    }
}

pub(super) const EXAMPLES: &str = "Examples:
  probity acp claude                       for an editor
  probity acp claude --trace talk.ndjson   `probity agent replay talk.ndjson` plays it again

CAI_ACP_TEST_MODE=1 takes any name and runs `NAME --acp`; CAI_ACP_DIRECT_SPAWN=1 runs it without a
container.";
