//! Containers of builds that were killed: podman and buildah make one for each stage, without a label.
//!
//! A build of a proof has a secret that no instruction uses. Its name is the only word of ours that
//! both keep in the description of such a container, and it changes neither the image nor the cache.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use super::{LABEL, Leftover, LeftoverKind};
use crate::{Engine, ImageError};

/// A container in which a stage was being built.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) id: String,
    pub(super) owner: String,
    /// Where its files are, if they are mounted.
    mounted: Option<PathBuf>,
}

/// As buildah keeps it.
#[derive(Debug, Deserialize)]
struct Description {
    #[serde(rename = "container-id")]
    id: String,
    mountpoint: Option<PathBuf>,
    #[serde(rename = "CommonBuildOpts")]
    options: Option<BuildOptions>,
}

#[derive(Debug, Deserialize)]
struct BuildOptions {
    #[serde(rename = "Secrets")]
    secrets: Option<Vec<String>>,
}

/// The option that marks the containers of a build.
pub(crate) fn mark(owner: &str) -> String {
    format!("--secret=id={LABEL}.{owner},src=/dev/null")
}

/// Containers of unfinished builds of proofs; none where the engine's files are out of reach.
pub(super) fn unfinished(engine: &Engine) -> Result<Vec<Unfinished>, ImageError> {
    let Some(store) = engine.container_store()? else { return Ok(Vec::new()) };
    let Ok(directories) = fs::read_dir(store) else { return Ok(Vec::new()) };
    let described = directories.filter_map(|directory| {
        let text = fs::read(directory.ok()?.path().join("userdata/buildah.json")).ok()?;
        Unfinished::of(serde_json::from_slice(&text).ok()?)
    });
    Ok(described.collect())
}

/// Ends the commands of a container's `RUN`, which outlive the builder.
pub(super) fn end_commands(engine: &Engine, id: &str) -> Result<(), ImageError> {
    let all = unfinished(engine)?;
    all.iter().filter(|unfinished| unfinished.id == id).for_each(Unfinished::end_commands);
    Ok(())
}

impl Unfinished {
    fn of(description: Description) -> Option<Self> {
        let secrets = description.options?.secrets?;
        let prefix = format!("id={LABEL}.");
        let owner = secrets.iter().find_map(|secret| secret.strip_prefix(&prefix))?;
        let owner = owner.split(',').next().unwrap_or_default().to_owned();
        Some(Self { id: description.id, owner, mounted: description.mountpoint })
    }

    pub(super) fn leftover(&self) -> Leftover {
        Leftover { kind: LeftoverKind::UnfinishedBuild, id: self.id.clone() }
    }

    fn end_commands(&self) {
        let Some(layer) = self.mounted.as_deref().and_then(Path::parent) else { return };
        let upper = format!("upperdir={}/diff", layer.display());
        let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(pid) = pid.and_then(Pid::from_raw) else { continue };
            let mounts = fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
            // Its root is this layer; the host has the same mount elsewhere.
            let is_root = |line: &str| {
                line.split(' ').nth(4) == Some("/")
                    && line.split([' ', ',']).any(|word| word == upper)
            };
            if mounts.lines().any(is_root) {
                // It may have ended by itself meanwhile.
                kill_process(pid, Signal::KILL).ok();
            }
        }
    }
}
