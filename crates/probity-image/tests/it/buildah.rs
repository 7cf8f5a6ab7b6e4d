//! A buildah of the tests' own: a client whose images and containers are in a temporary directory.
//!
//! Also used by the tests of the binary, which name this file.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

pub(crate) struct Buildah {
    place: TempDir,
}

impl Buildah {
    /// With the settings that podman has in `server.rs`, for the same reasons.
    pub(crate) fn new() -> Self {
        assert!(
            Path::new("/usr/bin/buildah").exists(),
            "buildah is not installed: run script/tools"
        );
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).display().to_string();
        let settings = "[containers]\n\
             default_ulimits = [\"nofile=20000:20000\", \"nproc=32768:32768\"]\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";
        fs::write(at("containers.conf"), settings).unwrap();
        let script = format!(
            "#!/bin/sh\nexport CONTAINERS_CONF={} PATH=/usr/sbin:/usr/bin:/sbin:/bin\n\
             exec /usr/bin/buildah --root {} --runroot {} \"$@\"\n",
            at("containers.conf"),
            at("root"),
            at("runroot")
        );
        let buildah = Self { place };
        fs::create_dir(buildah.client().parent().unwrap()).unwrap();
        fs::write(buildah.client(), script).unwrap();
        fs::set_permissions(buildah.client(), fs::Permissions::from_mode(0o755)).unwrap();
        buildah
    }

    /// In a directory in which nothing else is: the `PATH` of a machine with buildah alone.
    pub(crate) fn client(&self) -> PathBuf {
        self.place.path().join("bin/buildah")
    }

    pub(crate) fn containers(&self) -> String {
        self.says(&["containers", "-aq"])
    }

    /// The tags of all images, layers included.
    pub(crate) fn images(&self) -> Vec<String> {
        let listed = self.says(&["images", "-a", "-n", "--format", "{{.Name}}:{{.Tag}}"]);
        listed.lines().map(str::to_owned).collect()
    }

    pub(crate) fn says(&self, arguments: &[&str]) -> String {
        let output = Command::new(self.client()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}
