//! `config`: what is in force, what the files may say, and which variables count.

mod migrate;
mod mounts;
mod promises;
mod variables;

use std::{env, io::Write as _, path::PathBuf};

use anyhow::Context as _;
use probity_containment::{RepositoryFile, Trust};
use probity_sandbox::workspace_root;

pub(crate) use self::{
    migrate::{MigrateOptions, run as migrate},
    mounts::run as mounts,
    promises::run as promises,
    variables::run as variables,
};
use super::{ListFormat, print_json};
use crate::{
    config::{Catalogue, Configs, Dialect, Layer, Sources, table::SECTIONS, word::words},
    containment::containai_files,
    exit::Exit,
    name::Name,
    seats::state,
    streams,
};

/// The tools whose files have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaOf {
    Probity,
    Tally,
}

words! {
    SchemaOf { Probity = "probity", Tally = "tally" }
}

/// Shows what is in force for a file or a directory.
pub(crate) fn show(path: Option<PathBuf>, format: ListFormat) -> anyhow::Result<Exit> {
    let current = env::current_dir().context("cannot tell the working directory")?;
    let target = current.join(path.unwrap_or_default());
    let directory = if target.is_dir() { Some(target.as_path()) } else { target.parent() };
    let directory = directory.unwrap_or(&current);
    // Without a workspace or a state directory nothing is trusted.
    let root = workspace_root(directory).ok();
    let trusted = root.as_ref().map(|root| {
        let trust =
            state().and_then(|state| Ok(RepositoryFile::Configuration.trust(root, &state)?));
        (root, trust.unwrap_or(Trust::NotGiven))
    });
    let here = Sources::here(Name::Probity, SECTIONS, &current, Layer::default());
    let mut configs = Configs::new(Sources { containai: containai_files(trusted), ..here })?;
    let settings = if target.is_dir() {
        configs.for_directory(&target)?
    } else {
        configs.for_target(&target)?
    };
    for warning in configs.take_warnings() {
        tracing::warn!("{warning}");
    }
    let catalogue = Catalogue::shipped();
    match format {
        ListFormat::Text => {
            let page = settings.print(&catalogue, Dialect::Probity, SECTIONS);
            streams::stdout().for_programs().write_all(page.as_bytes())?;
        }
        ListFormat::Json => print_json(&settings.to_json(&catalogue, SECTIONS))?,
    }
    Ok(Exit::Clean)
}

/// Prints a JSON Schema.
pub(crate) fn schema(of: SchemaOf) -> anyhow::Result<Exit> {
    let dialect = match of {
        SchemaOf::Probity => Dialect::Probity,
        SchemaOf::Tally => Dialect::Tally,
    };
    print_json(&crate::config::schema(&Catalogue::shipped(), dialect))?;
    Ok(Exit::Clean)
}
