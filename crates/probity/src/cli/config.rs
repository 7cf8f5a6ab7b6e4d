//! The command line of `probity config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::words;
use crate::{
    commands::{
        ListFormat,
        config::{self, MigrateOptions, SchemaOf},
    },
    exit::Exit,
};

pub(super) const EXAMPLES: &str = "Examples:
  probity config                             the effective settings here, and their origin
  probity config show images/Dockerfile      the effective settings for this file
  probity config --format json
  probity config schema > probity.schema.json
  probity config migrate --dry-run           one probity.toml from the files of other tools
  probity config variables                   every environment variable";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// File or directory whose settings are shown [default: this directory]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Output format
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show the effective settings, and where each value comes from
    #[command(after_help = "Examples:\n  probity config show images/Dockerfile")]
    Show(ShowArgs),
    /// Print the JSON Schema of a configuration file
    #[command(
        after_help = "Examples:\n  probity config schema > probity.schema.json\n  probity config schema --for tally"
    )]
    Schema {
        /// Tool whose file is described
        #[arg(long = "for", value_name = "TOOL", default_value = "probity", value_parser = words::<SchemaOf>())]
        of: SchemaOf,
    },
    /// Write one probity.toml from the files of tally, hadolint and containai in this directory
    #[command(
        after_help = "Examples:\n  probity config migrate --dry-run\n  probity config migrate"
    )]
    Migrate {
        /// File to write
        #[arg(short, long, value_name = "FILE", default_value = "probity.toml")]
        output: PathBuf,
        /// Print the file and write nothing
        #[arg(long)]
        dry_run: bool,
        /// Replace the file if it exists
        #[arg(long)]
        force: bool,
    },
    /// List every environment variable
    #[command(
        after_help = "Examples:\n  probity config variables\n  probity config variables --markdown"
    )]
    Variables {
        /// Print a markdown page
        #[arg(long)]
        markdown: bool,
    },
    /// Print the table of what tests see of this machine, for the threat model
    #[command(hide = true)]
    Mounts,
    /// Print the table of what each sandbox promises, for the guide
    #[command(hide = true)]
    Promises,
}

pub(super) fn run(args: ConfigArgs) -> anyhow::Result<Exit> {
    match args.command {
        None => config::show(args.show.path, args.show.format),
        Some(ConfigCommand::Show(show)) => config::show(show.path, show.format),
        Some(ConfigCommand::Schema { of }) => config::schema(of),
        Some(ConfigCommand::Migrate { output, dry_run, force }) => {
            config::migrate(&MigrateOptions { output, dry_run, force })
        }
        Some(ConfigCommand::Variables { markdown }) => config::variables(markdown),
        Some(ConfigCommand::Mounts) => config::mounts(),
        Some(ConfigCommand::Promises) => config::promises(),
    }
}
