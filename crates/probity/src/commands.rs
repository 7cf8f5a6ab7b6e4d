//! What each command does, one file a command.

pub(crate) mod accept;
pub(crate) mod acp;
pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod containers;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod hadolint;
pub(crate) mod image;
pub(crate) mod init;
pub(crate) mod lsp;
pub(crate) mod names;
pub(crate) mod own_rules;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod stop;
pub(crate) mod trix_init;
pub(crate) mod version;

use std::io::{self, Write as _};

use probity_text::runner::Syntax;
use serde::Serialize;

use crate::{config::word::words, streams};

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListFormat {
    Text,
    Json,
}

words! {
    ListFormat { Text = "text", Json = "json" }
}

/// Prints one JSON document.
pub(crate) fn print_json(page: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(page)?;
    writeln!(streams::stdout().as_syntax(Syntax::Json), "{text}")
}
