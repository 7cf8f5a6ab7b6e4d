//! The containers of ours that an engine has: for a status, for stopping, for taking stale ones away.

use std::path::PathBuf;

use serde_json::Value;

use super::{container, inspected::Inspected};
use crate::{Exit, FoundProgram, Outcome, SpawnError};

const NAME: &str = "container engine";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub name: String,
    /// The root it belongs to. If that is gone, the container is stale.
    pub workspace: PathBuf,
    pub running: bool,
}

/// Ours are known by their label.
const OURS: &str = "label=probity.managed=true";

pub fn containers(found: &FoundProgram) -> Result<Vec<Container>, SpawnError> {
    let names = ask(found, &["ps", "-a", "--filter", OURS, "--format", "{{.Names}}"])?;
    let mut words = vec!["container", "inspect"];
    words.extend(names.lines());
    if names.is_empty() {
        return Ok(Vec::new());
    }
    // Engines differ in what a list can show, and agree in this. One that was removed meanwhile
    // makes the answer an error, and the others are in it all the same.
    let listed = answer(found, &words)?;
    let listed: Vec<Value> = serde_json::from_slice(&listed.stdout)
        .map_err(|error| SpawnError::Setup { backend: NAME, why: error.to_string() })?;
    Ok(listed.into_iter().map(Inspected).filter_map(|one| container_of(&one)).collect())
}

fn container_of(inspected: &Inspected) -> Option<Container> {
    Some(Container {
        name: inspected.name()?.to_owned(),
        workspace: inspected.label("probity.workspace")?.into(),
        running: inspected.is_running(),
    })
}

/// Whether there is a container of this name, whoever made it.
pub fn has_container(found: &FoundProgram, name: &str) -> Result<bool, SpawnError> {
    Ok(answer(found, &["container", "inspect", name])?.exit == Exit::Code(0))
}

/// Ends a container of ours and all that runs in it, and takes it away.
pub fn remove_container(found: &FoundProgram, name: &str) -> Result<(), SpawnError> {
    if !containers(found)?.iter().any(|container| container.name == name) {
        let why = "it was not made by us".to_owned();
        return Err(SpawnError::Foreign { name: name.to_owned(), why });
    }
    ask(found, &["rm", "-f", name]).map(drop)
}

fn ask(found: &FoundProgram, arguments: &[&str]) -> Result<String, SpawnError> {
    let outcome = answer(found, arguments)?;
    if outcome.exit == Exit::Code(0) {
        return Ok(String::from_utf8_lossy(&outcome.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&outcome.stderr_tail).trim().to_owned();
    Err(SpawnError::Setup { backend: NAME, why })
}

fn answer(found: &FoundProgram, arguments: &[&str]) -> Result<Outcome, SpawnError> {
    container::client(&found.program, arguments)
}
