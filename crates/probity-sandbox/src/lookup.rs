//! Where the program and the working directory are, before anything is started.
//!
//! The answers only make errors clear and alike in every backend: 127 for a missing program, 126
//! for one that cannot run, and a name for a missing directory.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};

use crate::{SpawnError, Spec};

pub(crate) const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How a path of the process leads to the host.
pub(crate) trait View {
    /// The host's path of a path inside whose parents hold no more links; none if only the
    /// process has it.
    fn host(&self, inside: &Path) -> Option<PathBuf>;

    /// Whether a path that is not on the host is made by the sandbox.
    fn made(&self, _inside: &Path) -> bool {
        false
    }

    /// The target of a link that exists only inside.
    fn link(&self, _inside: &Path) -> Option<PathBuf> {
        None
    }
}

/// An uncontained process sees what we see.
pub(crate) struct Host;

impl View for Host {
    fn host(&self, inside: &Path) -> Option<PathBuf> {
        Some(inside.to_owned())
    }
}

/// The program as the process will name it, absolute if it was found in `PATH`.
pub(crate) fn program(view: &dyn View, spec: &Spec, cwd: &Path) -> Result<PathBuf, SpawnError> {
    let name = PathBuf::from(spec.argv.first().ok_or(SpawnError::NoProgram)?);
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        let path = cwd.join(&name);
        return match executable(view, &path) {
            Some(true) => Ok(path),
            Some(false) => Err(SpawnError::NotExecutable(name)),
            None => Err(SpawnError::NotFound(name)),
        };
    }
    let default = OsString::from(DEFAULT_PATH);
    let mut seen = false;
    for directory in std::env::split_paths(spec.variable("PATH").unwrap_or(&default)) {
        let path = cwd.join(directory).join(&name);
        match executable(view, &path) {
            Some(true) => return Ok(path),
            // A directory of that name is none of a program's business.
            Some(false) => seen |= is_file(view, &path),
            None => {}
        }
    }
    Err(if seen { SpawnError::NotExecutable(name) } else { SpawnError::NotFound(name) })
}

pub(crate) fn directory(view: &dyn View, path: &Path) -> Result<(), SpawnError> {
    let missing = || SpawnError::WorkingDirectory(path.to_owned());
    match resolve(view, path) {
        Resolved::Host(host) if host.is_dir() => Ok(()),
        // Made by the sandbox itself: that it is there is its own affair.
        Resolved::Inside => Ok(()),
        _ => Err(missing()),
    }
}

fn executable(view: &dyn View, path: &Path) -> Option<bool> {
    let Resolved::Host(host) = resolve(view, path) else { return None };
    let metadata = fs::metadata(host).ok()?;
    Some(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn is_file(view: &dyn View, path: &Path) -> bool {
    matches!(resolve(view, path), Resolved::Host(host) if host.is_file())
}

enum Resolved {
    Host(PathBuf),
    Inside,
    Nowhere,
}

const MAX_LINKS: usize = 40;

/// Follows links as the process would: a target that leads out of a mount is looked up inside.
fn resolve(view: &dyn View, path: &Path) -> Resolved {
    let mut pending: Vec<OsString> = words(path);
    let mut reached = PathBuf::from("/");
    let mut links = 0;
    while let Some(word) = pending.pop() {
        if word == ".." {
            reached.pop();
            continue;
        }
        reached.push(&word);
        let host = view.host(&reached);
        let target = view
            .link(&reached)
            .or_else(|| host.as_deref().and_then(|host| fs::read_link(host).ok()));
        match target {
            Some(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return Resolved::Nowhere;
                }
                reached.pop();
                if target.is_absolute() {
                    reached = PathBuf::from("/");
                }
                pending.extend(words(&target));
            }
            None if host.as_deref().is_some_and(|host| !host.exists()) => return Resolved::Nowhere,
            None => {}
        }
    }
    match view.host(&reached) {
        Some(host) => Resolved::Host(host),
        None if view.made(&reached) => Resolved::Inside,
        None => Resolved::Nowhere,
    }
}

/// The components, last first, to be popped in order.
fn words(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}
