//! `completions`: a script that teaches a shell our command line.

use std::io::Write as _;

use clap::Command;
use clap_complete::Shell;

use crate::exit::Exit;

pub(crate) fn run(mut command: Command, name: &str, shell: Shell) -> anyhow::Result<Exit> {
    // The generator panics when its writer fails, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Clean)
}
