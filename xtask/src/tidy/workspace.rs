//! What the checks look at: the members and their manifests, the sources, the files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::manifest::{self, Manifest, Renames};
use crate::{cargo, output};

/// The repository, read once.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) members: Vec<Member>,
    /// Every file but those of `target`, `.git` and the like; relative to the root, with `/`, sorted.
    pub(crate) files: Vec<String>,
    pub(crate) sources: Vec<Source>,
}

pub(crate) struct Member {
    pub(crate) name: String,
    /// The directory below the root, with `/`.
    pub(crate) directory: String,
    pub(crate) manifest: Manifest,
}

/// A Rust file of ours.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Where our Rust files are.
const SOURCE_DIRECTORIES: &[&str] = &["crates/", "xtask/", "fuzz/"];

impl Workspace {
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        let renames = manifest::workspace_renames(&read(root, "Cargo.toml")?)
            .map_err(|error| format!("Cargo.toml: {error}"))?;
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        files.sort();
        let mut sources = Vec::new();
        for path in files.iter().filter(|path| is_source(path)) {
            sources.push(Source { path: path.clone(), text: read(root, path)? });
        }
        let members = members(root, &renames)?;
        Ok(Self { root: root.to_path_buf(), members, files, sources })
    }

    pub(crate) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.path == path)
    }

    pub(crate) fn read(&self, path: &str) -> Result<String, String> {
        read(&self.root, path)
    }
}

impl Member {
    pub(crate) fn manifest_path(&self) -> String {
        format!("{}/Cargo.toml", self.directory)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
}

/// Asks cargo, since only cargo knows what its globs mean; without resolving, so that a wrong arrow
/// which closes a circle is reported by us and not by the resolver.
fn members(root: &Path, renames: &Renames) -> Result<Vec<Member>, String> {
    let mut command = cargo(root);
    command.args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"]);
    let metadata: Metadata = serde_json::from_slice(&output(command)?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut members = Vec::new();
    for package in metadata.packages {
        let directory = package.manifest_path.parent().unwrap_or(root);
        let directory = directory.strip_prefix(root).unwrap_or(directory);
        let directory = directory.to_string_lossy().replace('\\', "/");
        let path = format!("{directory}/Cargo.toml");
        let manifest = Manifest::parse(&read(root, &path)?, renames)
            .map_err(|error| format!("{path}: {error}"))?;
        members.push(Member { name: package.name, directory, manifest });
    }
    members.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(members)
}

/// Repositories that tests feed to probity are not our sources.
fn is_source(path: &str) -> bool {
    path.ends_with(".rs")
        && SOURCE_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
        && !path.split('/').any(|component| component == "fixtures")
}

fn walk(root: &Path, below: &str, files: &mut Vec<String>) -> Result<(), String> {
    let directory = root.join(below);
    let describe = |error: std::io::Error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(&directory).map_err(describe)? {
        let entry = entry.map_err(describe)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        // The type is that of the link itself, so that a link to a parent cannot lead in circles.
        if entry.file_type().map_err(describe)?.is_dir() {
            if !matches!(name.as_str(), "target" | ".git" | "node_modules") {
                walk(root, &path, files)?;
            }
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}
