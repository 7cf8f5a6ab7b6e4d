//! `cai status`, `stop`, `gc` and `trust`: what is kept for workspaces, seen and taken away.

use std::{
    env, fs,
    io::{self, Write as _},
    path::Path,
};

use probity_containment::{RepositoryFile, Trust, killed_workspaces, make_up};
use probity_image::Engine;
use probity_sandbox::{
    BackendKind, Container, FoundProgram, abandoned_cgroups, containers, look_for, remove_container,
};
use probity_seat::Unseated;
use serde_json::json;

use crate::{
    commands::{
        exec::{explained, root},
        print_json,
    },
    containment,
    exit::Exit,
    failure::Failure,
    name::Name,
    seats::state,
    streams,
};

pub(crate) fn status(json: bool) -> anyhow::Result<Exit> {
    let ours = ours()?;
    let here = root(Name::Cai, &env::current_dir()?).ok();
    let trust = match &here {
        Some(root) => RepositoryFile::Configuration.trust(root, &state()?)?,
        None => Trust::NoFile,
    };
    if json {
        let listed: Vec<_> = ours
            .iter()
            .map(|(kind, _, container)| {
                json!({
                    "engine": kind.name(),
                    "name": container.name,
                    "workspace": container.workspace,
                    "running": container.running,
                    "stale": is_stale(container),
                })
            })
            .collect();
        let workspace = here.map(|root| root.path);
        let all = json!({
            "workspace": workspace,
            "configuration": trust.name(),
            "containers": listed,
        });
        print_json(&all)?;
        return Ok(Exit::Clean);
    }
    let mut out = streams::stdout().lock();
    if let Some(root) = here {
        writeln!(out, "workspace      {}", root.path.display())?;
        writeln!(out, "configuration  {}", trust.name())?;
    }
    if ours.is_empty() {
        writeln!(out, "no containers")?;
    }
    for (kind, _, container) in &ours {
        let state = match (container.running, is_stale(container)) {
            (_, true) => "stale",
            (true, false) => "running",
            (false, false) => "stopped",
        };
        let workspace = container.workspace.display();
        writeln!(out, "{:<7} {:<7} {}  {workspace}", kind.name(), state, container.name)?;
    }
    Ok(Exit::Clean)
}

/// Ends and removes the container of the workspace around the working directory.
pub(crate) fn stop() -> anyhow::Result<Exit> {
    let root = root(Name::Cai, &env::current_dir()?)?;
    remove(|container| container.workspace == root.path)
}

/// Removes what is of no use any more: containers and homes of workspaces that are gone, and what
/// runs that were killed have left. Looks at the workspaces of sessions that were killed.
pub(crate) fn gc(dry_run: bool) -> anyhow::Result<Exit> {
    let mut out = streams::stdout().lock();
    let done = if dry_run { "would be removed" } else { "removed" };
    for (_, found, container) in ours()?.iter().filter(|(.., found)| is_stale(found)) {
        if !dry_run {
            remove_container(found, &container.name).map_err(|error| explained(&error))?;
        }
        writeln!(out, "{} {done}", container.name)?;
    }
    for engine in Engine::all() {
        for left in probity_image::abandoned(&engine)? {
            if !dry_run {
                probity_image::remove(&engine, &left)?;
            }
            writeln!(out, "{} {} of a proof {done}", left.kind.name(), left.id)?;
        }
    }
    let (state, mut failed) = (state()?, 0);
    if dry_run {
        for workspace in killed_workspaces(&state) {
            writeln!(out, "{}: a session was killed and would be looked at", workspace.display())?;
        }
    } else {
        for workspace in make_up(&state, None) {
            writeln!(out, "{}: looked at what a killed session left", workspace.display())?;
        }
    }
    for path in state.garbage() {
        if !dry_run && let Err(error) = discard(&path) {
            tracing::warn!("cannot remove {}: {error}", path.display());
            failed += 1;
            continue;
        }
        writeln!(out, "{} {done}", path.display())?;
    }
    for group in abandoned_cgroups() {
        // One whose processes are just ending is removed by the next run.
        if dry_run || fs::remove_dir(&group).is_ok() {
            writeln!(out, "{} {done}", group.display())?;
        }
    }
    Ok(if failed == 0 { Exit::Clean } else { Exit::Failure })
}

/// What is gone already has been removed by somebody else.
fn discard(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

pub(crate) fn trust() -> anyhow::Result<Exit> {
    let root = root(Name::Cai, &env::current_dir()?)?;
    let state = state()?;
    state.refuse_inside(&root).map_err(|error| Failure::from(Unseated::from(error)))?;
    let mut out = streams::stdout().lock();
    for (path, text) in containment::trust(&root, &state)? {
        writeln!(out, "{} is trusted until it changes:\n\n{}", path.display(), text.trim_end())?;
    }
    Ok(Exit::Clean)
}

fn remove(which: impl Fn(&Container) -> bool) -> anyhow::Result<Exit> {
    for (_, found, container) in ours()?.iter().filter(|(.., found)| which(found)) {
        remove_container(found, &container.name).map_err(|error| explained(&error))?;
        writeln!(streams::stdout().lock(), "{} removed", container.name)?;
    }
    Ok(Exit::Clean)
}

fn ours() -> anyhow::Result<Vec<(BackendKind, FoundProgram, Container)>> {
    let mut all = Vec::new();
    for kind in [BackendKind::Docker, BackendKind::Podman] {
        let Ok(found) = look_for(kind) else { continue };
        let listed = containers(&found).map_err(|error| explained(&error))?;
        all.extend(listed.into_iter().map(|container| (kind, found.clone(), container)));
    }
    Ok(all)
}

/// Only a workspace that is certainly gone counts: one that cannot be looked at may be there.
fn is_stale(container: &Container) -> bool {
    matches!(container.workspace.try_exists(), Ok(false))
}
