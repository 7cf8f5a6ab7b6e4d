//! The one binary, under whichever name it is called.

mod builds;
mod ci;
mod cli;
mod commands;
mod config;
mod containment;
mod context_files;
mod discover;
mod exit;
mod failure;
mod ignore_file;
mod jsonc;
mod logging;
mod manual;
mod name;
mod open_texts;
mod recipe;
mod report;
mod screen;
mod seats;
mod source;
mod test_place;
mod write;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;

use crate::name::Name;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = std::env::args_os().skip(1);
    let name = Name::called();
    let result = match name {
        Name::Probity => cli::probity::run(args),
        Name::Tally => cli::tally::run(args),
        Name::Hadolint => cli::hadolint::run(args),
        Name::Trix => cli::trix::run(args),
        Name::Cai => cli::cai::run(args),
        Name::AcpProxy => cli::acp_proxy::run(args),
        Name::CiAgentReview => cli::ci_agent_review::run(args),
    };
    // What is still held back may fail to be written, and nobody else would notice.
    let result = result.and_then(|exit| {
        io::stdout().flush().context("cannot write to standard output")?;
        Ok(exit)
    });
    match result {
        Ok(exit) => exit.into(),
        Err(error) => failure::report(name, &error),
    }
}
