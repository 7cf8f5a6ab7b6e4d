//! Engines of the tests' own, each with its own images and containers, and a client that talks to it.
//!
//! Also used by the tests of the binary, which name this file.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{Backend, BackendKind, Child, Network, Signal, Spec, Stream, Streams, spawn};
use tempfile::TempDir;

pub(crate) const IMAGE: &str = "probity-test:latest";

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    pub(crate) place: TempDir,
    /// In a directory in which nothing else is, so that it can stand first in a `PATH`.
    pub(crate) client: PathBuf,
    pub(crate) kind: BackendKind,
    daemon: Option<Child>,
}

impl Server {
    /// Without a network, since rules of the machine's firewall are nothing for a test to change.
    pub(crate) fn docker() -> Self {
        Self::docker_with(&program("docker"))
    }

    /// A docker whose client is this program.
    pub(crate) fn docker_with(client_program: &str) -> Self {
        let dockerd = program("dockerd");
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).display().to_string();
        let mut spec = Spec::new([dockerd.as_str(), "--bridge=none", "--log-level=error"], "/");
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
        let daemon = Some(spawn(&Backend::None, &spec).unwrap());
        let script = format!("exec {client_program} -H unix://{} \"$@\"", at("socket"));
        let client = client(&place, "docker", &script);
        let server = Self { place, client, kind: BackendKind::Docker, daemon };
        let started = Instant::now();
        while !server.says(&["version"]).0 {
            assert!(started.elapsed() < PATIENCE, "dockerd does not answer");
            thread::sleep(Duration::from_millis(100));
        }
        server.import();
        server
    }

    /// With settings under which it also runs where limits cannot be raised and cgroups are of both
    /// kinds, as in a small virtual machine.
    pub(crate) fn podman() -> Self {
        let podman = program("podman");
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).display().to_string();
        let settings = "[containers]\n\
             default_ulimits = [\"nofile=20000:20000\", \"nproc=32768:32768\"]\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";
        fs::write(at("containers.conf"), settings).unwrap();
        let script = format!(
            "export CONTAINERS_CONF={}\nexec {podman} --root {} --runroot {} --tmpdir {} \"$@\"",
            at("containers.conf"),
            at("root"),
            at("runroot"),
            at("tmp")
        );
        let client = client(&place, "podman", &script);
        let server = Self { place, client, kind: BackendKind::Podman, daemon: None };
        server.import();
        server
    }

    /// An image with nothing but busybox.
    fn import(&self) {
        let root = self.place.path().join("image");
        fs::create_dir_all(root.join("bin")).unwrap();
        // What the host has in /usr can be mounted, and finds its libraries.
        for name in ["lib", "lib64"] {
            std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name)).unwrap();
        }
        for name in ["tmp", "run", "proc", "etc", "home", "usr"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::copy("/usr/bin/busybox", root.join("bin/busybox")).unwrap();
        for name in [
            "sh", "cat", "env", "sleep", "setsid", "grep", "rm", "true", "head", "id", "stat",
            "ls", "tr", "mv", "mkdir", "touch", "ln", "nc",
        ] {
            std::os::unix::fs::symlink("busybox", root.join("bin").join(name)).unwrap();
        }
        let tar = Command::new("tar").arg("-C").arg(&root).args(["-c", "."]).output().unwrap();
        let mut import = Command::new(&self.client)
            .args(["import", "-", IMAGE])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        import.stdin.take().unwrap().write_all(&tar.stdout).unwrap();
        assert!(import.wait().unwrap().success());
    }

    pub(crate) fn says(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(&self.client).args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub(crate) fn remove_containers(&self) {
        for container in self.says(&["ps", "-aq"]).1.lines() {
            // Podman would first ask it for ten seconds to go by itself.
            self.says(&["kill", container]);
            self.says(&["rm", "-f", container]);
        }
    }
}

impl Drop for Server {
    /// Containers first: they would outlive their server.
    fn drop(&mut self) {
        self.remove_containers();
        if let Some(daemon) = &self.daemon {
            daemon.signal(Signal::TERM);
            daemon.wait_timeout(PATIENCE);
        }
    }
}

/// What the distribution installed comes first: its client and its server have the same version.
fn program(name: &str) -> String {
    let found = ["/usr/sbin", "/usr/bin", "/usr/local/bin"]
        .into_iter()
        .map(|directory| format!("{directory}/{name}"))
        .find(|path| Path::new(path).exists());
    assert!(found.is_some(), "{name} is not installed: run script/tools");
    found.unwrap()
}

fn client(place: &TempDir, name: &str, script: &str) -> PathBuf {
    let directory = place.path().join("bin");
    fs::create_dir(&directory).unwrap();
    let client = directory.join(name);
    fs::write(&client, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&client, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    client
}
