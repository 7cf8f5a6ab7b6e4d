//! The one binary, under whichever name it is called.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, reason = "`streams` prints, and `probity_scope` opens files")
)]

mod ci;
mod cli;
mod commands;
mod config;
mod containment;
mod exit;
mod failure;
#[cfg(target_os = "linux")]
mod initial_environment;
mod jsonc;
mod logging;
mod manual;
mod name;
mod output;
mod recipe;
mod screen;
mod seats;
mod streams;
mod test_place;
mod write;

use std::{io::Write as _, process::ExitCode};

use anyhow::Context as _;

use crate::name::Name;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    streams::tell_panics();
    #[cfg(target_os = "linux")]
    if let Err(error) = initial_environment::hide() {
        let what = "processes of the same user can read the variables of this process";
        // There is nobody to tell that it cannot be told.
        writeln!(streams::stderr(), "warning: {what}: it cannot be started without them: {error}")
            .ok();
    }
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
        streams::stdout().flush().context("cannot write to standard output")?;
        Ok(exit)
    });
    match result {
        Ok(exit) => exit.into(),
        Err(error) => failure::report(name, &error),
    }
}
