//! `config`: what the configuration file may say.

use std::io::{self, Write as _};

use crate::exit::Exit;

pub(crate) fn schema() -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    let schema = crate::config::schema(&crate::commands::check::catalogue());
    serde_json::to_writer_pretty(&mut out, &schema).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(Exit::Clean)
}
