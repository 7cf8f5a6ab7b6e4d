//! The name `acp-proxy`: the ACP proxy and nothing else.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser};

use crate::{
    cli::{acp::AcpArgs, parse},
    commands::acp,
    exit::Exit,
    logging::{self, Loudness},
    name::Name,
};

/// An ACP agent for an editor, with contained agents behind it
///
/// This is probity under the name acp-proxy.
#[derive(Debug, Parser)]
#[command(name = "acp-proxy", version = env!("CARGO_PKG_VERSION"), after_help = "Examples:\n  acp-proxy claude\n  acp-proxy proxy claude")]
struct AcpProxy {
    #[command(flatten)]
    acp: AcpArgs,
    /// Say more; once shows the figures of each session at its end
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let mut args = args.peekable();
    // The original has a subcommand for the only thing that it does.
    args.next_if(|first| first == "proxy");
    let proxy: AcpProxy = parse(AcpProxy::command(), args)?;
    logging::start(Loudness { verbose: proxy.verbose, quiet: false });
    acp::run(Name::AcpProxy, proxy.acp.into())
}

/// What stands behind `cai --acp`, which is taken before anything else is looked at.
pub(crate) fn run_as_cai(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    let proxy: AcpProxy = parse(AcpProxy::command().name("cai --acp"), args)?;
    logging::start(Loudness { verbose: proxy.verbose, quiet: false });
    acp::run(Name::Cai, proxy.acp.into())
}
