//! What tests see of this machine, as the threat model prints it.

use std::io::Write as _;

use crate::{exit::Exit, streams};

pub(crate) fn run() -> anyhow::Result<Exit> {
    streams::stdout().for_programs().write_all(probity_proof::mounts_as_markdown().as_bytes())?;
    Ok(Exit::Clean)
}
