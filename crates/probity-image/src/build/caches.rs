//! Cache mounts of one build's own: those of the user are neither read nor written, and neither of
//! two files can leave something for the other.
//!
//! Removing them leaves the user's alone. BuildKit's are entries of its cache, which the end of the
//! proof removes with the other entries that the build added; buildah's are files in a directory that
//! is given to this build.

use std::{env, ffi::OsString, fs::File, io::Read as _, path::PathBuf};

use tempfile::TempDir;

use crate::{Engine, EngineKind, ImageError, engine::SOON};

/// Where buildah keeps files for later unless `TMPDIR` says otherwise; `/tmp` is memory on many
/// machines.
const LARGE_FILES: &str = "/var/tmp";

#[derive(Debug)]
pub(super) enum Caches {
    /// BuildKit puts this name before the id of every cache, also of those in triggers of a base.
    Namespace(String),
    Directory(TempDir),
    /// The older builder of docker has none.
    None,
}

impl Caches {
    pub(super) fn new(engine: &Engine) -> Result<Self, ImageError> {
        Ok(match engine.kind {
            EngineKind::Docker if engine.has_buildkit => Self::Namespace(unguessable()?),
            EngineKind::Docker => Self::None,
            EngineKind::Podman | EngineKind::Buildah => {
                let above = env::var_os("TMPDIR").map_or_else(|| LARGE_FILES.into(), PathBuf::from);
                let directory = tempfile::Builder::new().prefix("probity-proof-").tempdir_in(above);
                Self::Directory(directory.map_err(ImageError::io("a directory for cache mounts"))?)
            }
        })
    }

    /// Given after the arguments of the user, of which none has this name.
    pub(super) fn argument(&self) -> Vec<String> {
        match self {
            Self::Namespace(name) => {
                vec!["--build-arg".to_owned(), format!("BUILDKIT_CACHE_MOUNT_NS={name}")]
            }
            Self::Directory(_) | Self::None => Vec::new(),
        }
    }

    pub(super) fn variables(&self) -> Vec<(OsString, OsString)> {
        match self {
            Self::Directory(directory) => vec![("TMPDIR".into(), directory.path().into())],
            Self::Namespace(_) | Self::None => Vec::new(),
        }
    }

    /// Without root, files in it may be those of the user's subordinate ids, which only the engine can
    /// remove.
    pub(super) fn remove(self, engine: &Engine) -> Result<(), ImageError> {
        let Self::Directory(directory) = self else { return Ok(()) };
        let path = directory.path().display().to_string();
        if directory.close().is_err() {
            engine.must(&["unshare", "rm", "-rf", "--", &path], SOON, &|| false)?;
        }
        Ok(())
    }
}

/// A name that no file can contain.
fn unguessable() -> Result<String, ImageError> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(ImageError::io("/dev/urandom"))?;
    Ok(format!("probity-{:032x}", u128::from_ne_bytes(bytes)))
}
