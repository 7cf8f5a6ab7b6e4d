//! `agent image`: the Dockerfile of the image that sandboxed agents run in.

use std::io::{self, Write as _};

use crate::exit::Exit;

/// Part of the program, since installed users lack the files of this project.
const DOCKERFILE: &str = include_str!("../../../../../deploy/Dockerfile.agents");

pub(crate) fn run() -> anyhow::Result<Exit> {
    io::stdout().write_all(DOCKERFILE.as_bytes())?;
    Ok(Exit::Clean)
}
