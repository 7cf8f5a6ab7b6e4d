//! The demo's directory: its own program, its own settings, and nothing of the user's.

use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::{DirBuilderExt as _, symlink},
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

use anyhow::Context as _;

use crate::config::{word::Word as _, words::Sandbox};

pub(super) struct DemoDirectory {
    root: PathBuf,
    sandbox: Sandbox,
    is_kept: bool,
}

impl DemoDirectory {
    pub(super) fn make(sandbox: Sandbox) -> anyhow::Result<Self> {
        let time = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.subsec_nanos());
        let root = env::temp_dir().join(format!("probity-demo-{}-{time}", process::id()));
        // A directory that exists already is somebody else's, and an error.
        let made = fs::DirBuilder::new().mode(0o700).create(&root);
        made.with_context(|| format!("cannot make {}", root.display()))?;
        let place = Self { root: root.canonicalize()?, sandbox, is_kept: false };
        fs::create_dir(place.root.join("bin"))?;
        let program = env::current_exe().context("cannot tell which program this is")?;
        symlink(program, place.root.join("bin/probity"))?;
        place.write("env", &place.settings())?;
        Ok(place)
    }

    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.root.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// What the commands of the demo see of the user's environment, and what is put in its place.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> =
            self.own_settings().into_iter().map(|(name, value)| (name.into(), value)).collect();
        let mut path = OsString::from(self.root.join("bin"));
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        variables.push(("PATH".into(), path));
        for name in ["HOME", "TMPDIR", "LANG", "CARGO_HOME", "RUSTUP_HOME", "PROBITY_DEMO_SWAP"] {
            variables.extend(env::var_os(name).map(|value| (name.into(), value)));
        }
        variables
    }

    /// The same for a shell, so that the commands can be run by hand.
    fn settings(&self) -> String {
        let mut text = format!("export PATH='{}':\"$PATH\"\n", self.root.join("bin").display());
        for (name, value) in self.own_settings() {
            text.push_str(&format!("export {name}='{}'\n", value.display()));
        }
        text
    }

    fn own_settings(&self) -> [(&'static str, OsString); 10] {
        [
            // Hooks, templates and signatures of the user's have no part in a demo.
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_AUTHOR_NAME", "demo".into()),
            ("GIT_AUTHOR_EMAIL", "demo@localhost".into()),
            ("GIT_COMMITTER_NAME", "demo".into()),
            ("GIT_COMMITTER_EMAIL", "demo@localhost".into()),
            ("XDG_CONFIG_HOME", self.root.join("home/config").into()),
            ("XDG_STATE_HOME", self.root.join("home/state").into()),
            ("XDG_CACHE_HOME", self.root.join("home/cache").into()),
            ("PROBITY_AI__SANDBOX", self.sandbox.word().into()),
            ("PROBITY_REVIEW__SANDBOX", self.sandbox.word().into()),
        ]
    }
}

impl Drop for DemoDirectory {
    fn drop(&mut self) {
        if !self.is_kept {
            remove(&self.root);
        }
    }
}

pub(super) fn remove(root: &Path) {
    // What cannot be removed is in the system's temporary directory, which is emptied.
    drop(fs::remove_dir_all(root));
}
