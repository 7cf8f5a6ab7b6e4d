//! The project that is audited: `trix.toml`, and the sources.

use std::{
    io::{self, Read as _},
    path::Path,
};

use anyhow::Context as _;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use probity_scope::{EntryKind, Ignored, Policy, Quota, Scope, TreeError, TreeFile, WithoutGit};
use serde::Deserialize;

use crate::failure::Failure;

const FILE: &str = "trix.toml";

/// The profiles that every project has.
const USUAL_PROFILES: &[&str] = &["local", "preview", "preprod", "mainnet"];

/// What an audit wants to know of `trix.toml`. What else stands there is another tool's business.
#[derive(Debug, Deserialize)]
pub(super) struct Project {
    protocol: Protocol,
    #[serde(rename = "ledger")]
    _ledger: Ledger,
    #[serde(default)]
    profiles: toml::Table,
}

#[derive(Debug, Deserialize)]
struct Protocol {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "version")]
    _version: String,
    main: String,
}

#[derive(Debug, Deserialize)]
struct Ledger {
    #[serde(rename = "family")]
    _family: Family,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Family {
    Cardano,
    Bitcoin,
    Midnight,
}

/// Reads the project of this directory; those above it are not looked at.
pub(super) fn read(root: &Path) -> anyhow::Result<Project> {
    let text = match text(&root.join(FILE)) {
        Ok(text) => text,
        Err(TreeError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            let what = "No trix.toml found in current directory";
            return Err(Failure::new(what, "`trix init --yes` makes a project here").into());
        }
        Err(error) => return Err(error).context(Failure::new("cannot read trix.toml", "")),
    };
    toml::from_str(&text).with_context(|| {
        let way_out = "it needs [protocol] with name, version and main, and [ledger] with family";
        Failure::new("trix.toml is not the file of a project", way_out)
    })
}

/// Errors show lines of the file, so a link to another one of the user's is not read.
fn text(path: &Path) -> Result<String, TreeError> {
    let mut text = String::new();
    TreeFile::find(path, WithoutGit::OwnDirectory)?.open()?.read_to_string(&mut text)?;
    Ok(text)
}

impl Project {
    /// Itself, if it has a profile of this name, which an audit reads nothing from.
    pub(super) fn with_profile(self, name: &str) -> Result<Self, Failure> {
        if USUAL_PROFILES.contains(&name) || self.profiles.contains_key(name) {
            return Ok(self);
        }
        let what = format!("{name} profile not found in config");
        Err(Failure::new(what, format!("choose {}, or add it", USUAL_PROFILES.join(", "))))
    }
}

/// The sources: the files that are asked for, or every `*.ak` file, or the one that the project names.
pub(super) fn sources(
    root: &Path,
    include: &[String],
    allow_ignored: bool,
    project: Option<Project>,
) -> anyhow::Result<Vec<String>> {
    let failed = || Failure::new("cannot look for sources", "see the cause");
    let ignored = probity_audit::ignored_files(allow_ignored);
    if !include.is_empty() {
        let globs = globs(include).with_context(failed)?;
        let is_included = |path: &Path| globs.is_match(path);
        let found = probity_audit::discover(root, ignored, &is_included).with_context(failed)?;
        if found.is_empty() {
            let what = format!("no file matches --include {}", include.join(" --include "));
            let way_out = "patterns are relative to this directory, for example 'src/**/*.py'; files \
                           that git ignores need --allow-ignored";
            return Err(Failure::new(what, way_out).into());
        }
        return Ok(found);
    }
    let found = probity_audit::discover(root, ignored, &probity_audit::is_contract);
    let found = found.with_context(failed)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let project = match project {
        Some(project) => project,
        None => read(root).context(Failure::new(
            "there is no *.ak file here, and no project that names another source",
            "name the sources, for example `--include 'src/**/*.py' --skills-dir builtin:web`, or \
             run it where the contracts are",
        ))?,
    };
    Ok(vec![main_of(root, project.protocol.main, ignored)?])
}

/// A pattern without a slash fits a name in any directory, as in `.gitignore`.
fn globs(patterns: &[String]) -> anyhow::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let anywhere =
            if pattern.contains('/') { pattern.clone() } else { format!("**/{pattern}") };
        set.add(GlobBuilder::new(&anywhere).literal_separator(true).build()?);
    }
    Ok(set.build()?)
}

/// The file that the project names, if it is one of the project's.
fn main_of(root: &Path, main: String, ignored: Ignored) -> anyhow::Result<String> {
    let policy = Policy {
        allow_sensitive: false,
        ignored,
        max_file_bytes: u64::MAX,
        quota: Quota::UNLIMITED,
    };
    let failed = || {
        Failure::new(
            format!("`protocol.main` of trix.toml names no source of this project: {main}"),
            "name a file below this directory, or run it where the contracts are",
        )
    };
    let kind = Scope::open(root, policy)
        .and_then(|scope| scope.metadata(Path::new(&main)))
        .with_context(failed)?
        .kind;
    if kind == EntryKind::File { Ok(main) } else { Err(failed().into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_one_that_every_project_has_or_one_of_its_own() {
        let text = "[protocol]\nname = 'n'\nversion = '0'\nmain = 'm'\n[ledger]\nfamily = 'cardano'\n\
                    [profiles.staging]\nnetwork = 'x'\n";
        for (name, is_there) in
            [("local", true), ("mainnet", true), ("staging", true), ("Local", false), ("", false)]
        {
            let project: Project = toml::from_str(text).unwrap();
            let found = project.with_profile(name).map(|_| ()).map_err(|error| error.to_string());
            let missing = Err(format!("{name} profile not found in config"));
            assert_eq!(found, if is_there { Ok(()) } else { missing });
        }
    }
}
