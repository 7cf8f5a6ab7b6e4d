//! The command line of `probity acp`: the proxy, or the setting that starts it in an editor.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::{
    cli::{acp::AcpArgs, words},
    commands::acp::{
        self,
        setup::{self, Editor},
    },
    exit::Exit,
    name::Name,
};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ProbityAcpArgs {
    #[command(flatten)]
    acp: AcpArgs,
    #[command(subcommand)]
    command: Option<AcpCommand>,
}

#[derive(Debug, Subcommand)]
enum AcpCommand {
    /// Print or write the setting that runs a sandboxed agent in an editor
    #[command(after_help = EXAMPLES)]
    Setup(SetupArgs),
}

#[derive(Args, Debug)]
struct SetupArgs {
    /// The editor
    #[arg(value_parser = words::<Editor>())]
    editor: Editor,
    /// The agent to add [default: `containment.agent` in your own configuration, otherwise claude]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Write the setting to the editor's file instead of printing it
    #[arg(long)]
    write: bool,
    /// Settings file to change, instead of the one that the editor usually reads
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  probity acp setup zed                          print the setting for claude
  probity acp setup zed --agent gemini --write   add gemini beside it
  probity acp setup vscode --write --file ~/.config/VSCodium/User/settings.json

--write adds one entry and leaves every other byte of the file as it is. The previous version stays
beside it, with `.probity-backup` after its name.

For VS Code the setting is that of the extension `formulahendry.acp-client`. For Neovim, --write
makes `lua/probity_acp.lua` in your configuration, which CodeCompanion can use.";

pub(super) fn run(args: ProbityAcpArgs, quiet: bool) -> anyhow::Result<Exit> {
    match args.command {
        None => acp::run(Name::Probity, args.acp.into()),
        Some(AcpCommand::Setup(SetupArgs { editor, agent, write, file })) => {
            setup::run(setup::Options { editor, agent, write, file, quiet })
        }
    }
}
