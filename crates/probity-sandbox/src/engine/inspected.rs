//! A container as its engine describes it, and whether it is the one that we mean.

use std::{fs, path::Path};

use rustix::process::Pid;
use serde_json::Value;

use super::{Engine, container};
use crate::{Exit, SpawnError, Spec};

pub(super) struct Inspected(pub(super) Value);

impl Inspected {
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.0.pointer("/Config/Labels")?.get(name)?.as_str()
    }

    pub(super) fn name(&self) -> Option<&str> {
        Some(self.0.get("Name")?.as_str()?.trim_start_matches('/'))
    }

    pub(super) fn is_running(&self) -> bool {
        self.0.pointer("/State/Running").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The first process of the container, if that is on this machine: an engine elsewhere gives
    /// numbers that are other processes here.
    pub(super) fn first_process(&self) -> Option<Pid> {
        let id = self.0.get("Id")?.as_str()?;
        let pid = i32::try_from(self.0.pointer("/State/Pid")?.as_i64()?).ok()?;
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        groups.contains(id).then(|| Pid::from_raw(pid)).flatten()
    }

    pub(super) fn is_busy(&self) -> bool {
        let execs = self.0.get("ExecIDs").and_then(Value::as_array);
        self.is_running() && execs.is_some_and(|execs| !execs.is_empty())
    }

    /// Labels can be written by anybody who can make containers; what is mounted cannot lie.
    pub(super) fn check_owner(
        &self,
        engine: &Engine,
        spec: &Spec,
        name: &str,
    ) -> Result<(), SpawnError> {
        let foreign =
            |why: &str| SpawnError::Foreign { name: name.to_owned(), why: why.to_owned() };
        if self.label("probity.managed") != Some("true") {
            return Err(foreign("it was not made by us"));
        }
        if self.label("probity.workspace") != engine.workspace.to_str() {
            return Err(foreign("it belongs to another workspace"));
        }
        let mounts = self.0.get("Mounts").and_then(Value::as_array);
        for mount in mounts.into_iter().flatten() {
            let field = |name: &str| mount.get(name).and_then(Value::as_str).unwrap_or_default();
            let ours = spec.mounts.iter().any(|ours| {
                ours.inside() == Path::new(field("Destination"))
                    && ours.host().is_none_or(|host| host == Path::new(field("Source")))
            });
            if !ours {
                return Err(foreign(&format!("{} is mounted in it", field("Destination"))));
            }
        }
        Ok(())
    }
}

/// What the engine knows by this name, if anything.
pub(super) fn inspect(engine: &Engine, name: &str) -> Result<Option<Inspected>, SpawnError> {
    let outcome = container::client(&engine.program, &["container", "inspect", name])?;
    if outcome.exit != Exit::Code(0) {
        return Ok(None);
    }
    let setup = |why: String| SpawnError::Setup { backend: engine.kind.name(), why };
    let value: Value =
        serde_json::from_slice(&outcome.stdout).map_err(|error| setup(error.to_string()))?;
    let first = value.get(0).cloned();
    Ok(first.map(Inspected))
}
