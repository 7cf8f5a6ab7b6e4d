//! The command line of `probity names`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::{commands::names, exit::Exit};

#[derive(Debug, Subcommand)]
pub(super) enum NamesCommand {
    /// Show the names and whether they are installed
    #[command(
        after_help = "Examples:\n  probity names list\n  probity names list --dir ~/.local/bin"
    )]
    List {
        /// Directory to search [default: the directory of probity]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Create links to probity; never overwrites other files
    #[command(
        after_help = "Examples:\n  probity names install --dir ~/.local/bin\n  probity names install hadolint"
    )]
    Install {
        /// Directory for the links [default: the directory of probity]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Only these names
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Remove the links that `install` created
    #[command(after_help = "Examples:\n  probity names remove --dir ~/.local/bin")]
    Remove {
        /// Directory of the links [default: the directory of probity]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Only these names
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

pub(super) fn run(command: NamesCommand) -> anyhow::Result<Exit> {
    match command {
        NamesCommand::List { dir } => names::list(dir),
        NamesCommand::Install { dir, names } => names::install(dir, &names),
        NamesCommand::Remove { dir, names } => names::remove(dir, &names),
    }
}
