//! The command line of `probity image`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use probity_image::Variant;

use super::words;
use crate::{
    commands::image::{self, DiffFormat, DiffOptions},
    config::memory,
    exit::Exit,
};

#[derive(Debug, Subcommand)]
pub(super) enum ImageCommand {
    /// Compare two images, or the images of two Dockerfiles
    #[command(after_help = EXAMPLES)]
    Diff(DiffArgs),
}

pub(super) const EXAMPLES: &str = "Examples:
  probity image diff app:1 app:2
  probity image diff Dockerfile Dockerfile.new --context .
  probity image diff Dockerfile Dockerfile.new --run --format markdown

Exit codes: 0 no harmful difference, 1 harmful differences, 2 failure.";

#[derive(Args, Debug)]
pub(super) struct DiffArgs {
    /// Original: a Dockerfile, or an image that docker or podman has
    original: String,
    /// New version: a Dockerfile, or an image that docker or podman has
    new: String,
    /// Build context of the Dockerfiles [default: the directory of the original]
    #[arg(long, value_name = "DIR")]
    context: Option<PathBuf>,
    /// Format of the report
    #[arg(short, long, default_value = "text", value_parser = words::<DiffFormat>())]
    format: DiffFormat,
    /// Also start both images, without a network
    #[arg(long)]
    run: bool,
    /// How many seconds to watch a started container
    #[arg(long, value_name = "N", default_value_t = 5, requires = "run")]
    seconds: u16,
    /// Pull images that are not on this machine
    #[arg(long)]
    pull: bool,
    /// Let `RUN` and `ADD` use the network
    #[arg(long)]
    network: bool,
    /// Time limit for each build in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// Disk space for the files of the images
    #[arg(long, value_name = "SIZE", default_value = "20g", value_parser = size)]
    disk: u64,
    /// Build argument of both Dockerfiles (repeat for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    build_arg: Vec<(String, String)>,
    /// Stage to build in both Dockerfiles [default: the last one]
    #[arg(long, value_name = "STAGE")]
    target: Option<String>,
    /// Platform to build for, such as linux/amd64 [default: that of the engine]
    #[arg(long)]
    platform: Option<String>,
}

/// Why the value of a flag cannot be used.
#[derive(Debug, thiserror::Error)]
enum BadFlag {
    #[error("write an amount such as 512m or 4g")]
    Size,
    #[error("write NAME=VALUE")]
    Assignment,
}

fn size(text: &str) -> Result<u64, BadFlag> {
    memory::parse(text).ok_or(BadFlag::Size)
}

fn assignment(text: &str) -> Result<(String, String), BadFlag> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or(BadFlag::Assignment)
}

pub(super) fn run(command: ImageCommand) -> anyhow::Result<Exit> {
    let ImageCommand::Diff(args) = command;
    image::diff(&DiffOptions {
        original: args.original,
        new: args.new,
        context: args.context,
        format: args.format,
        run: args.run,
        watched: Duration::from_secs(args.seconds.into()),
        pull: args.pull,
        network: args.network,
        timeout: Duration::from_secs(args.timeout),
        disk_limit: args.disk,
        variant: Variant {
            arguments: args.build_arg,
            target: args.target,
            platform: args.platform,
        },
    })
}
