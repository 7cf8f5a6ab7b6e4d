//! Fetching what a repository depends on: in the sandbox, through its only way out, and without keys.
//!
//! Public registries are reached by the proxy that every one of these clients obeys. What a private one
//! needs comes from the user's own file alone: its hosts, variables and files.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use probity_sandbox::{Allowlist, Backend, Network, Spec};

use crate::{host, mounts};

/// Where a sandboxed process has its home.
const HOME: &str = "/home/agent";

/// What fetches get beside public hosts.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// The hosts that may be reached; a private address has to be named.
    pub hosts: Allowlist,
    /// Variables, such as the address of a registry and its token.
    pub environment: Vec<(OsString, OsString)>,
    /// Files and directories that are seen read-only, those of the home in the home.
    pub files: Vec<PathBuf>,
}

impl FetchOptions {
    /// Every public host, and nothing of the user's.
    #[must_use]
    pub fn public() -> Option<Self> {
        let hosts = Allowlist::parse(&["*"]).ok()?;
        Some(Self { hosts, environment: Vec::new(), files: Vec::new() })
    }
}

/// How fetches of one workshop are made.
#[derive(Debug)]
pub(crate) struct Fetching {
    /// Nothing is fetched without them.
    pub(crate) options: Option<FetchOptions>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) backend: Backend,
}

impl Fetching {
    pub(crate) fn is_allowed(&self) -> bool {
        self.options.is_some()
    }

    /// Whether the user gives this file to fetches.
    pub(crate) fn gives(&self, file: &Path) -> bool {
        let given = self.options.iter().flat_map(|options| &options.files);
        given.into_iter().any(|given| given == file) && host::is_file(file)
    }

    /// Opens the way out for one process.
    pub(crate) fn equip(&self, spec: &mut Spec) {
        let Some(options) = &self.options else { return };
        if self.backend == Backend::None {
            spec.network = Network::Open;
        } else {
            spec.reach = Some(options.hosts.clone());
        }
        for file in &options.files {
            if !host::is_file(file) && !host::is_directory(file) {
                continue;
            }
            let of_home = self.home.as_ref().and_then(|home| file.strip_prefix(home).ok());
            let inside = of_home.map_or_else(|| file.clone(), |rest| Path::new(HOME).join(rest));
            spec.mounts.push(mounts::FETCH_FILE.read_only(file, inside));
        }
        spec.env.extend(options.environment.iter().cloned());
    }
}
