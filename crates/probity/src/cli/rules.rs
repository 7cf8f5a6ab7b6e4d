//! The command line of `probity rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::words;
use crate::{
    commands::{ListFormat, own_rules, rules},
    config::Choice,
    exit::Exit,
};

#[derive(Args, Debug)]
pub(super) struct RulesArgs {
    /// Format of the list
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
    /// Write a page for each rule, and an index, into this directory
    #[arg(long, value_name = "DIR", hide = true)]
    write_docs: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// Try the examples of the rules in probity.toml
    Test {
        /// Use this file instead of the nearest one
        #[arg(short = 'c', long, value_name = "PATH")]
        config: Option<PathBuf>,
    },
}

pub(super) fn run(args: &RulesArgs) -> anyhow::Result<Exit> {
    if let Some(RulesCommand::Test { config }) = &args.command {
        return own_rules::test(config.clone().map_or(Choice::Nearest, Choice::This));
    }
    match &args.write_docs {
        Some(dir) => rules::write_docs(dir),
        None => rules::run(args.format),
    }
}
