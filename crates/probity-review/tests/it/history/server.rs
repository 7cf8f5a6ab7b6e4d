//! A PostgreSQL server of our own, on a socket in a temporary directory, for as long as a test.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

pub(crate) struct Server {
    directory: TempDir,
    programs: PathBuf,
    owner: Option<(u32, u32)>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let programs = programs();
        // The server refuses to be root.
        let owner = rustix::process::geteuid().is_root().then(postgres_user);
        let directory = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap();
        if let Some((user, group)) = owner {
            chown(directory.path(), Some(user), Some(group)).unwrap();
        }
        let server = Self { directory, programs, owner };
        let data = server.data();
        server.run("initdb", &["-D", &data, "-A", "trust", "-U", "postgres", "--no-sync"]);
        let options = format!(
            "-c listen_addresses='' -k {} -c fsync=off -c synchronous_commit=off",
            server.directory.path().display()
        );
        let log = format!("{}/log", server.directory.path().display());
        server.run("pg_ctl", &["-D", &data, "-w", "-t", "60", "-l", &log, "-o", &options, "start"]);
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@localhost/postgres?host={}", self.directory.path().display())
    }

    fn data(&self) -> String {
        format!("{}/data", self.directory.path().display())
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command
            .args(arguments)
            .env_clear()
            .env("LC_ALL", "C")
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::null())
            // The server inherits it, and a pipe would stay open for as long as it runs.
            .stdout(Stdio::null());
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        let status = command.status().unwrap();
        assert!(status.success(), "{program} {arguments:?}: {status}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }
}

/// Where Debian puts the newest version.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").map(|entries| {
        entries.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect::<Vec<_>>()
    });
    let mut found: Vec<PathBuf> = versions.unwrap_or_default();
    found.retain(|bin| bin.join("initdb").exists());
    found.sort();
    found.pop().expect("PostgreSQL is missing: run script/tools once")
}

fn postgres_user() -> (u32, u32) {
    let users = fs::read_to_string(Path::new("/etc/passwd")).unwrap();
    let line = users.lines().find(|line| line.starts_with("postgres:")).unwrap();
    let fields: Vec<&str> = line.split(':').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}
