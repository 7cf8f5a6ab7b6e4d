//! What each sandbox promises, as the guide prints it.

use std::io::Write as _;

use crate::{exit::Exit, streams};

pub(crate) fn run() -> anyhow::Result<Exit> {
    streams::stdout().for_programs().write_all(probity_sandbox::promises_table().as_bytes())?;
    Ok(Exit::Clean)
}
