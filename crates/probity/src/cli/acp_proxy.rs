//! The name `acp-proxy`: the ACP proxy and nothing else.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser};

use crate::{cli::parse, exit::Exit, failure::Failure};

/// An ACP agent for an editor, with contained agents behind it
///
/// This is probity under the name acp-proxy.
#[derive(Debug, Parser)]
#[command(name = "acp-proxy", version = env!("CARGO_PKG_VERSION"), after_help = "Examples:\n  acp-proxy claude")]
struct AcpProxy {
    /// The agent behind the proxy
    #[arg(default_value = "claude")]
    agent: String,
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    parse::<AcpProxy>(AcpProxy::command(), args)?;
    Err(Failure::not_built("acp-proxy").into())
}
