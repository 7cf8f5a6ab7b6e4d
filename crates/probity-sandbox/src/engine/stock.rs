//! The containers of ours that an engine has: for a status, for stopping, for taking stale ones away.

use std::path::PathBuf;

use super::container;
use crate::{Exit, Found, SpawnError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub name: String,
    /// The root it belongs to. If that is gone, the container is stale.
    pub workspace: PathBuf,
    pub running: bool,
}

const FORMAT: &str = "{{.Names}}\t{{.State}}\t{{.Label \"probity.workspace\"}}";

/// Ours are known by their label.
const OURS: &str = "label=probity.managed=true";

pub fn containers(found: &Found) -> Result<Vec<Container>, SpawnError> {
    let listed = ask(found, &["ps", "-a", "--filter", OURS, "--format", FORMAT])?;
    let parsed = listed.lines().filter_map(|line| {
        let mut fields = line.splitn(3, '\t');
        let (name, state, workspace) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Container {
            name: name.to_owned(),
            workspace: workspace.into(),
            running: state == "running",
        })
    });
    Ok(parsed.collect())
}

/// Ends a container of ours and all that runs in it, and takes it away.
pub fn remove_container(found: &Found, name: &str) -> Result<(), SpawnError> {
    if !containers(found)?.iter().any(|container| container.name == name) {
        let why = "it was not made by us".to_owned();
        return Err(SpawnError::Foreign { name: name.to_owned(), why });
    }
    ask(found, &["rm", "-f", name]).map(drop)
}

fn ask(found: &Found, arguments: &[&str]) -> Result<String, SpawnError> {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    let outcome = container::client(&found.program, &arguments)?;
    if outcome.exit == Exit::Code(0) {
        return Ok(String::from_utf8_lossy(&outcome.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&outcome.stderr_tail).trim().to_owned();
    Err(SpawnError::Setup { backend: "container engine", why })
}
