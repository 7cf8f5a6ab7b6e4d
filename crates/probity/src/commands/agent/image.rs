//! `agent image`: the Dockerfile of the image that sandboxed agents run in.

use std::io::Write as _;

use crate::{exit::Exit, streams};

/// Part of the program, since installed users lack the files of this project.
const DOCKERFILE: &str = include_str!("../../../../../deploy/Dockerfile.agents");

pub(crate) fn run() -> anyhow::Result<Exit> {
    streams::stdout().for_programs().write_all(DOCKERFILE.as_bytes())?;
    Ok(Exit::Clean)
}
