//! A workspace and its container, and short ways to run something in it.

use std::path::{Path, PathBuf};

use probity_sandbox::{Backend, Engine, FoundProgram, Limits, Mount, Outcome, Spec, User, run};
use tempfile::TempDir;

use super::server::{IMAGE, Server};
use crate::stage::{INSIDE, SOON};

/// Never to be seen where it does not belong.
pub(super) const SECRET: &str = "hunter2-of-the-engines";

pub(super) struct Scene<'a> {
    pub(super) server: &'a Server,
    _place: TempDir,
    pub(super) workspace: PathBuf,
    pub(super) engine: Engine,
    pub(super) backend: Backend,
}

impl<'a> Scene<'a> {
    pub(super) fn new(server: &'a Server) -> Self {
        let place = tempfile::tempdir().unwrap();
        let workspace = place.path().canonicalize().unwrap();
        let engine = server.engine(&workspace);
        let backend = Backend::Engine(engine.clone());
        Self { server, _place: place, workspace, engine, backend }
    }

    pub(super) fn spec(&self, argv: &[&str]) -> Spec {
        let mut spec = Spec::new(argv, INSIDE);
        spec.mounts = [Path::new(INSIDE), &self.workspace]
            .map(|at| Mount::read_write(&self.workspace, at))
            .to_vec();
        spec.env = vec![
            ("PATH".into(), "/bin".into()),
            ("TOKEN".into(), format!("{SECRET} a b\nc").into()),
        ];
        spec.limits = Limits {
            wall: Some(3 * SOON),
            pids: Some(64),
            file: None,
            memory: Some(256 << 20),
            cpus: Some(1.5),
            output: None,
            tmp: Some(500 << 20),
            shm: Some(8 << 20),
        };
        spec.user = User::OwnerOf(self.workspace.clone());
        spec
    }

    pub(super) fn shell(&self, script: &str) -> Spec {
        self.spec(&["sh", "-c", script])
    }

    /// Without input: podman 4.3 loses the output of a process that ends before it has read what
    /// was sent to it.
    pub(super) fn outcome(&self, spec: &Spec) -> Outcome {
        run(&self.backend, spec, b"").unwrap()
    }

    /// The exit code and the output of a script.
    pub(super) fn says(&self, script: &str) -> (i32, String) {
        let outcome = self.outcome(&self.shell(script));
        (outcome.exit.code(), String::from_utf8_lossy(&outcome.stdout).into_owned())
    }

    /// The only container there is.
    pub(super) fn container(&self) -> String {
        self.server.says(&["ps", "-a", "--format", "{{.Names}}"]).1
    }

    pub(super) fn found(&self) -> FoundProgram {
        FoundProgram { program: self.engine.program.clone(), version: String::new() }
    }
}

impl Server {
    pub(super) fn engine(&self, workspace: &Path) -> Engine {
        Engine {
            kind: self.kind,
            program: self.client.clone(),
            image: IMAGE.to_owned(),
            workspace: workspace.to_owned(),
            state: self.place.path().join("state"),
        }
    }
}
