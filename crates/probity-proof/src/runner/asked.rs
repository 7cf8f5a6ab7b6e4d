//! What tools of the machine say of themselves, asked before anything of the repository has run.

use std::path::{Path, PathBuf};

use probity_scope::HeldDirectory;

use super::{Trouble, Unavailable, go, python, rust};
use crate::host::HostTools;

/// The answers that runners are made with. A language that the repository does not have is not asked
/// about.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(super) pythons: python::Interpreters,
    /// The directory of the tool chain.
    pub(super) rust: Option<Result<PathBuf, Unavailable>>,
    pub(super) go: Option<Result<go::Environment, Unavailable>>,
}

impl Asked {
    /// `repo` is the reviewed repository, and `files` are its files as they were copied.
    pub(crate) fn of(
        host: &HostTools<'_>,
        has: impl Fn(&[&str]) -> bool,
        repo: &Path,
        files: &HeldDirectory,
    ) -> Self {
        let mut asked = Self::default();
        if has(&["py"]) {
            asked.pythons = python::interpreters(host, repo, files);
        }
        if has(&["rs"]) {
            asked.rust = Some(rust::sysroot(host, files));
        }
        if has(&["go"]) {
            asked.go = Some(go::environment(host));
        }
        asked
    }

    pub(super) fn not_asked() -> Unavailable {
        Unavailable::Trouble(Trouble::Machine("its tools were not asked".to_owned()))
    }
}
