//! The packages of a repository, as cargo lists them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Kinds of targets that tests inside of a library are compiled with.
const LIBRARIES: [&str; 6] = ["lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro"];

/// A package of the repository, all paths relative.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) directory: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) has_library: bool,
    pub(super) has_programs: bool,
    pub(super) has_features: bool,
    /// Names of all that it depends on, in whatever way.
    pub(super) dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Listed>,
    workspace_root: PathBuf,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<ListedTarget>,
    #[serde(default)]
    dependencies: Vec<Dependency>,
    #[serde(default)]
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
}

#[derive(Deserialize)]
struct ListedTarget {
    kind: Vec<String>,
    src_path: PathBuf,
}

/// A file that cargo compiles, relative to the repository.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) source: PathBuf,
}

/// What `cargo metadata` has written, as far as it is inside of the repository.
pub(super) fn listed(stdout: &[u8], repository: &Path) -> Option<(Vec<Package>, Vec<Target>)> {
    let metadata: Metadata = serde_json::from_slice(stdout).ok()?;
    let inside = |path: &Path| path.strip_prefix(repository).ok().map(Path::to_owned);
    let package = |listed: Listed| {
        let kinds = || listed.targets.iter().flat_map(|target| &target.kind);
        Some(Package {
            directory: inside(listed.manifest_path.parent()?)?,
            workspace: inside(&metadata.workspace_root)?,
            has_library: kinds().any(|kind| LIBRARIES.contains(&kind.as_str())),
            has_programs: kinds().any(|kind| kind == "bin"),
            has_features: !listed.features.is_empty(),
            dependencies: listed
                .dependencies
                .iter()
                .map(|dependency| dependency.name.clone())
                .collect(),
            name: listed.name,
        })
    };
    let sources = metadata.packages.iter().flat_map(|listed| &listed.targets);
    let targets = sources.filter_map(|target| Some(Target { source: inside(&target.src_path)? }));
    let targets = targets.collect();
    Some((metadata.packages.into_iter().filter_map(package).collect(), targets))
}
