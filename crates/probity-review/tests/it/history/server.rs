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
    /// Reached by its socket alone.
    pub(crate) fn start() -> Self {
        let server = Self::new();
        server.serve("-c listen_addresses=''");
        server
    }

    /// Reached by TLS on a loopback port, with a certificate for `localhost` from an authority of its own.
    pub(crate) fn start_with_tls(port: u16) -> Self {
        let server = Self::new();
        let data = PathBuf::from(server.data());
        fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").unwrap();
        let subject = ["-subj", "/CN=probity test", "-days", "2"];
        let new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
        let authority = ["-keyout", "ca.key", "-out", "ca.pem", "-nodes"];
        server.openssl(&data, &[&new[..], &authority, &subject].concat());
        let own = ["-keyout", "server.key", "-out", "server.crt", "-nodes"];
        let signed =
            ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=DNS:localhost"];
        let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
        server.openssl(&data, &[&new[..], &own, &subject, &signed, &leaf].concat());
        server.serve(&format!("-c listen_addresses=127.0.0.1 -p {port} -c ssl=on"));
        server
    }

    /// The certificate of the authority behind the server's.
    pub(crate) fn authority(&self) -> String {
        format!("{}/ca.pem", self.data())
    }

    fn new() -> Self {
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
        server
    }

    fn serve(&self, listening: &str) {
        let (data, directory) = (self.data(), self.directory.path().display());
        let options = format!("{listening} -k {directory} -c fsync=off -c synchronous_commit=off");
        let log = format!("{directory}/log");
        self.run("pg_ctl", &["-D", &data, "-w", "-t", "60", "-l", &log, "-o", &options, "start"]);
    }

    fn openssl(&self, directory: &Path, arguments: &[&str]) {
        let mut command = Command::new("openssl");
        command.args(arguments).current_dir(directory).stderr(Stdio::null());
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        assert!(command.status().unwrap().success(), "openssl {arguments:?}");
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
    // Without PostgreSQL: `script/tools` installs it.
    found.pop().unwrap()
}

fn postgres_user() -> (u32, u32) {
    let users = fs::read_to_string(Path::new("/etc/passwd")).unwrap();
    let line = users.lines().find(|line| line.starts_with("postgres:")).unwrap();
    let fields: Vec<&str> = line.split(':').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}
