//! A docker server of the tests' own, with an image of its own.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{
    Backend, Child, Engine, Kind, Network, Signal, Spec, Stream, Streams, spawn,
};
use tempfile::TempDir;

use crate::stage::SOON;

pub(super) const IMAGE: &str = "probity-test:latest";

/// A server without a network, in a directory of its own, and a client that talks to it.
pub(super) struct Docker {
    pub(super) place: TempDir,
    pub(super) client: PathBuf,
    server: Child,
}

impl Docker {
    pub(super) fn start() -> Self {
        let dockerd = ["/usr/sbin/dockerd", "/usr/bin/dockerd"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .unwrap_or_else(|| panic!("dockerd is not installed: run script/tools"));
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).display().to_string();
        let mut spec = Spec::new([dockerd, "--bridge=none", "--log-level=error"], "/");
        for option in ["iptables", "ip6tables", "ip-forward", "ip-masq"] {
            spec.argv.push(format!("--{option}=false").into());
        }
        for (option, value) in [
            ("--data-root", at("data")),
            ("--exec-root", at("exec")),
            ("--pidfile", at("pid")),
            ("-H", format!("unix://{}", at("socket"))),
        ] {
            spec.argv.extend([option.into(), value.into()]);
        }
        spec.env = vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())];
        spec.network = Network::Open;
        spec.streams = Streams { stdin: Stream::Null, stdout: Stream::Null, stderr: Stream::Null };
        let server = spawn(&Backend::None, &spec).unwrap();
        let client = place.path().join("docker");
        fs::write(&client, format!("#!/bin/sh\nexec docker -H unix://{} \"$@\"\n", at("socket")))
            .unwrap();
        fs::set_permissions(&client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let docker = Self { place, client, server };
        let started = Instant::now();
        while !docker.says(&["version"]).0 {
            assert!(started.elapsed() < 3 * SOON, "dockerd does not answer");
            thread::sleep(Duration::from_millis(100));
        }
        docker.import();
        docker
    }

    /// An image with nothing but busybox.
    fn import(&self) {
        let root = self.place.path().join("image");
        fs::create_dir_all(root.join("bin")).unwrap();
        for name in ["tmp", "run", "proc", "etc", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::copy("/usr/bin/busybox", root.join("bin/busybox")).unwrap();
        for name in
            ["sh", "cat", "env", "sleep", "setsid", "grep", "rm", "true", "head", "id", "stat"]
        {
            std::os::unix::fs::symlink("busybox", root.join("bin").join(name)).unwrap();
        }
        let tar = Command::new("tar").arg("-C").arg(&root).args(["-c", "."]).output().unwrap();
        let mut import = Command::new(&self.client)
            .args(["import", "-", IMAGE])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        import.stdin.take().unwrap().write_all(&tar.stdout).unwrap();
        assert!(import.wait().unwrap().success());
    }

    pub(super) fn says(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(&self.client).args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub(super) fn remove_containers(&self) {
        for container in self.says(&["ps", "-aq"]).1.lines() {
            self.says(&["rm", "-f", container]);
        }
    }

    pub(super) fn engine(&self, workspace: &Path) -> Engine {
        Engine {
            kind: Kind::Docker,
            program: self.client.clone(),
            image: IMAGE.to_owned(),
            workspace: workspace.to_owned(),
            state: self.place.path().join("state"),
        }
    }
}

impl Drop for Docker {
    /// Containers first: they would outlive their server.
    fn drop(&mut self) {
        self.remove_containers();
        self.server.signal(Signal::TERM);
        self.server.wait_timeout(SOON);
    }
}
