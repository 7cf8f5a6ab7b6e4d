//! Containers for single questions: each sees what one set of mounts shows, and all end with the
//! run.
//!
//! A container belongs to a workspace, and what it shows is settled when it is made. So each set of
//! mounts has an empty directory of the state for its workspace, and the containers of people's own
//! workspaces are left alone.

use std::{
    fs, process,
    sync::{Mutex, PoisonError},
};

use probity_sandbox::{Engine, FoundProgram, Mount, containers, remove_container};

use crate::{Unseated, state};

/// The containers of a run.
#[derive(Debug, Default)]
pub(crate) struct Containers {
    rented: Mutex<Vec<Rented>>,
}

#[derive(Debug)]
struct Rented {
    engine: Engine,
    mounts: Vec<Mount>,
}

impl Containers {
    /// The container with these mounts; it is made when the first process starts in it.
    pub(crate) fn rent(&self, mut engine: Engine, mounts: &[Mount]) -> Result<Engine, Unseated> {
        let mut rented = self.rented.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            rented.iter().find(|one| one.engine.kind == engine.kind && one.mounts == mounts);
        if let Some(known) = known {
            return Ok(known.engine.clone());
        }
        let name = format!("fix-{}-{}", process::id(), rented.len());
        engine.workspace = engine.state.join("fixes").join(name);
        state::make(&engine.workspace)?;
        rented.push(Rented { engine: engine.clone(), mounts: mounts.to_vec() });
        Ok(engine)
    }
}

impl Drop for Containers {
    fn drop(&mut self) {
        let rented = self.rented.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Rented { engine, .. } in rented.drain(..) {
            let version = engine.kind.name().to_owned();
            let found = FoundProgram { program: engine.program.clone(), version };
            let ours = containers(&found).map(|all| {
                all.into_iter().filter(|container| container.workspace == engine.workspace)
            });
            let removed = ours.and_then(|mut ours| {
                ours.try_for_each(|container| remove_container(&found, &container.name))
            });
            if let Err(error) = removed {
                tracing::warn!("a container of this run may be left: {error}; see `cai status`");
            }
            if let Err(error) = fs::remove_dir(&engine.workspace) {
                tracing::warn!("cannot remove {}: {error}", engine.workspace.display());
            }
        }
    }
}
