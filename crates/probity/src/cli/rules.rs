//! The command line of `probity rules`.

use std::path::PathBuf;

use clap::Args;

use super::words;
use crate::{
    commands::{ListFormat, rules},
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
}

pub(super) fn run(args: &RulesArgs) -> anyhow::Result<Exit> {
    match &args.write_docs {
        Some(dir) => rules::write_docs(dir),
        None => rules::run(args.format),
    }
}
