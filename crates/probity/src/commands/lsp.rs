//! `lsp`: the language server over standard input and output.

mod agent;
mod config_file;
mod folders;
mod host;

use std::{io, sync::Arc};

use anyhow::Context as _;
use probity_lsp::ServerEnd;

use self::host::EditorHost;
use crate::{exit::Exit, name::Name, streams};

/// Serves one editor until it leaves.
pub(crate) fn run(name: Name) -> anyhow::Result<Exit> {
    let host = Arc::new(EditorHost::new(name)?);
    let ended = probity_lsp::serve(host, io::stdin(), streams::stdout().raw())
        .context("the language server cannot start")?;
    Ok(match ended {
        ServerEnd::Orderly => Exit::Clean,
        // The protocol names this code for an `exit` without a `shutdown`.
        ServerEnd::Abrupt => Exit::Program(1),
    })
}
