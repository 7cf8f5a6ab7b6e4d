//! docker and podman, where they are named: containers that see what a fix needs, and end with the
//! run.
//!
//! A container belongs to a workspace, and what it shows is settled when it is made. So each set of
//! mounts has an empty directory of the state for its workspace, and the containers of people's own
//! workspaces are left alone.

use std::{
    fs,
    path::PathBuf,
    process,
    sync::{Mutex, PoisonError},
};

use probity_sandbox::{
    Backend, Engine, Found, Kind, Mount, containers, has_image, look_for, remove_container,
};

use crate::containment::{DEFAULT_IMAGE, State, users_image};

/// The containers of a run.
#[derive(Default)]
pub(super) struct Engines {
    rented: Mutex<Vec<Rented>>,
}

struct Rented {
    engine: Engine,
    mounts: Vec<Mount>,
}

impl Engines {
    /// The engine with the image, as far as that is there; no workspace is chosen yet.
    pub(super) fn find(kind: Kind) -> Result<Engine, String> {
        let in_words = |error: anyhow::Error| format!("{error:#}");
        let Found { program, version } = look_for(kind)?;
        let image = users_image().map_err(in_words)?.unwrap_or_else(|| DEFAULT_IMAGE.to_owned());
        has_image(&Found { program: program.clone(), version }, &image)
            .map_err(|why| format!("{} cannot contain the agent: {why}", kind.name()))?;
        let state = State::find().map_err(in_words)?.directory;
        Ok(Engine { kind, program, image, workspace: PathBuf::new(), state })
    }

    /// The container with these mounts; it is made when the first process starts in it.
    pub(super) fn rent(&self, mut engine: Engine, mounts: &[Mount]) -> Result<Backend, String> {
        let mut rented = self.rented.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rented.iter().find(|it| it.engine.kind == engine.kind && it.mounts == mounts);
        if let Some(known) = known {
            return Ok(Backend::Engine(known.engine.clone()));
        }
        let name = format!("fix-{}-{}", process::id(), rented.len());
        engine.workspace = engine.state.join("fixes").join(name);
        fs::create_dir_all(&engine.workspace).map_err(|error| {
            format!("cannot make the directory {}: {error}", engine.workspace.display())
        })?;
        rented.push(Rented { engine: engine.clone(), mounts: mounts.to_vec() });
        Ok(Backend::Engine(engine))
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        let rented = self.rented.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Rented { engine, .. } in rented.drain(..) {
            let version = engine.kind.name().to_owned();
            let found = Found { program: engine.program.clone(), version };
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
                tracing::warn!("{} stays: {error}", engine.workspace.display());
            }
        }
    }
}
