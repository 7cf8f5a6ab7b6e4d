//! What tests see of this machine, as the threat model prints it.

use std::io::{self, Write as _};

use crate::exit::Exit;

pub(crate) fn run() -> anyhow::Result<Exit> {
    io::stdout().lock().write_all(probity_proof::mounts_as_markdown().as_bytes())?;
    Ok(Exit::Clean)
}
