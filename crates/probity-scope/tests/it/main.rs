//! What a scope promises, on real files: one module per promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its stage fails there and then")]

mod escapes;
mod held;
mod ignored;
mod limits;
mod listing;
mod names;
mod places;
mod races;
mod trees;
mod writing;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use probity_scope::{Ignored, Policy, Quota, Scope};
use tempfile::TempDir;

/// Text that must never come back from a read below the root.
const OUTSIDE: &str = "outside: never to be read";

/// A root with a file beside it that is not to be read.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = Self { directory };
        fs::create_dir_all(place.root().join("src/deep")).unwrap();
        fs::create_dir(place.outside()).unwrap();
        fs::write(place.outside().join("private"), OUTSIDE).unwrap();
        fs::write(place.root().join("src/main.rs"), "fn main() {}\n").unwrap();
        fs::write(place.root().join("src/deep/leaf"), "leaf").unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("root")
    }

    fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.root().join(name)).unwrap();
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn scope(&self) -> Scope {
        Scope::open(&self.root(), policy()).unwrap()
    }
}

fn policy() -> Policy {
    Policy {
        allow_sensitive: false,
        ignored: Ignored::Shown,
        max_file_bytes: 1 << 20,
        quota: Quota::UNLIMITED,
    }
}

fn read(scope: &Scope, path: impl AsRef<Path>) -> Result<String, String> {
    scope
        .read(path.as_ref(), u64::MAX)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|error| error.to_string())
}
