//! The tools that proofs need on this machine, and options by which tests find them.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use probity_proof::ProofOptions;
use probity_sandbox::{Backend, probe};

/// Options for proofs in a repository, in a sandbox, with caches that stay.
pub(crate) fn options(repo: &Path) -> ProofOptions {
    let mut options = ProofOptions::new(repo, sandbox());
    options.environment = environment();
    // Where the binary has them if its directory of caches is this one, so that its tests share them.
    options.caches = Some(kept().join("probity/proofs"));
    options.jobs = 2;
    options
}

/// Bubblewrap, or the sandbox that somebody wants to try all of these tests in.
fn sandbox() -> Backend {
    match env::var("PROBITY_TEST_SANDBOX").as_deref() {
        Ok("landlock") => Backend::Landlock,
        _ => Backend::Bubblewrap { program: probe().bubblewrap.unwrap().program },
    }
}

/// What `script/tools` has installed.
pub(crate) fn tools() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"))
        .unwrap_or_else(|error| panic!("run script/tools first: {error}"))
}

/// Where tests keep what the next run can use.
pub(crate) fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp")
}

/// Installs the packages of JavaScript tests into a repository: a link to them would not be followed.
pub(crate) fn install_packages(repo: &Path) {
    let mut copy = Command::new("cp");
    copy.args(["-a", "--link"]).arg(tools().join("proof-node/node_modules")).arg(repo);
    // Links need one file system, and a directory for temporary files may be another.
    let linked = copy.stderr(Stdio::null()).status().unwrap().success();
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(tools().join("proof-node/node_modules")).arg(repo);
    assert!(linked || copy.status().unwrap().success());
}

fn environment() -> Vec<(OsString, OsString)> {
    let mut path = tools().join("python/bin").into_os_string();
    path.push(":");
    path.push(env::var_os("PATH").unwrap());
    let mut environment: Vec<(OsString, OsString)> = ["HOME", "CARGO_HOME", "RUSTUP_HOME"]
        .into_iter()
        .filter_map(|name| Some((name.into(), env::var_os(name)?)))
        .collect();
    environment.push(("PATH".into(), path));
    environment.push(("ANTHROPIC_API_KEY".into(), "sk-a-secret-key".into()));
    environment.push(("DATABASE_URL".into(), "postgres://a-secret-key@db".into()));
    environment
}
