//! The container of a workspace: found by its name, believed by its labels and mounts, made if
//! it is not there.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use super::{
    Engine,
    inspected::{Inspected, inspect},
};
use crate::{
    Exit, FoundProgram, Mount, Network, Outcome, SpawnError, Spec, Unusable, tool, user::Ids,
};

/// Raised when containers of older versions must not be used any more.
const EPOCH: u32 = 1;

/// The image whose Dockerfile `probity agent image` prints.
const OURS: &str = "containai:latest";

/// Says with which settings a container was made.
const HASH: &str = "probity.config-hash";

/// Says which files were mounted. A mount on a file ends when somebody on the host replaces the
/// file, as git does with its configuration; the new one would be writable inside.
const MOUNTED: &str = "probity.mounted";

const PATIENCE: Duration = Duration::from_secs(120);

/// How long an engine may take to forget an `exec` that has ended.
const CLEARING: Duration = Duration::from_secs(2);

/// How often a container that another has made is asked whether it runs.
const STARTING: usize = 50;

/// Sleeps for ever, in a way that every shell knows.
const IDLE: &str = "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done";

/// The container's name, running, and what is to be said about it.
pub(super) fn find_or_create(
    engine: &Engine,
    spec: &Spec,
    ids: Ids,
) -> Result<(String, Vec<String>), SpawnError> {
    let name = name_of(&engine.workspace);
    let lock = engine.state.join("locks").join(format!("{name}.lock"));
    let without = format!("a container without its lock {}", lock.display());
    let locked = lock_file(&lock).map_err(SpawnError::io(without))?;
    let mut wanted = create_arguments(engine, spec, ids, &name)?;
    let mounted = hash_of(&identities(spec));
    wanted.insert(1, format!("--label={MOUNTED}={mounted}"));
    let hash = hash_of(&wanted);
    let mut notes = Vec::new();
    if let Some(found) = inspect(engine, &name)? {
        found.check_owner(engine, spec, &name)?;
        if found.label(HASH) == Some(hash.as_str()) {
            if !found.is_running() {
                told(engine, &["start", &name])?;
            }
        } else if is_in_use(engine, &name, &found)? {
            if found.label(MOUNTED) != Some(mounted.as_str()) {
                return Err(SpawnError::Setup {
                    backend: engine.kind.name(),
                    why: format!(
                        "git's configuration or the directories of the session are others than \
                         those that the container {name} was made with, and other sessions use it; \
                         end them first"
                    ),
                });
            }
            notes.push(format!("container {name} has older settings and is in use"));
        } else {
            told(engine, &["rm", "-f", &name])?;
            create(engine, spec, &name, wanted, &hash)?;
        }
    } else {
        create(engine, spec, &name, wanted, &hash)?;
    }
    drop(locked);
    Ok((name, notes))
}

/// Whether somebody works in a container. An engine counts an `exec` for a moment after its end.
fn is_in_use(engine: &Engine, name: &str, found: &Inspected) -> Result<bool, SpawnError> {
    let mut busy = found.is_busy();
    let deadline = Instant::now() + CLEARING;
    while busy && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(100));
        busy = inspect(engine, name)?.is_some_and(|found| found.is_busy());
    }
    Ok(busy)
}

/// Whether an engine has an image, without fetching it.
pub fn has_image(found: &FoundProgram, image: &str) -> Result<(), Unusable> {
    let program = found.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match client(&found.program, &["image", "inspect", image]) {
        Ok(outcome) if outcome.exit == Exit::Code(0) => Ok(()),
        Ok(_) if image == OURS => {
            Err(Unusable::OwnImageMissing { image: image.to_owned(), program })
        }
        Ok(_) => Err(Unusable::ImageMissing { image: image.to_owned(), program }),
        Err(error) => Err(Unusable::NoAnswer { program, why: error.to_string() }),
    }
}

/// A readable part, and one that is never the same for two directories.
fn name_of(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let key: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let last = root.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let slug: String = last
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .take(24)
        .collect();
    format!("probity-{}-{key}", if slug.is_empty() { "root" } else { slug.trim_matches('-') })
}

fn create_arguments(
    engine: &Engine,
    spec: &Spec,
    ids: Ids,
    name: &str,
) -> Result<Vec<String>, SpawnError> {
    let mut words: Vec<String> = ["run", "-d", "--init", "--name", name].map(str::to_owned).into();
    let mut say = |option: &str, value: &str| words.push(format!("{option}={value}"));
    for label in ["probity.managed=true", "containai.managed=true"] {
        say("--label", label);
    }
    let workspace = text(&engine.workspace)?;
    say("--label", &format!("probity.workspace={workspace}"));
    say("--label", &format!("containai.workspace={workspace}"));
    say("--read-only", "true");
    say("--cap-drop", "ALL");
    say("--security-opt", "no-new-privileges");
    say("--user", &format!("{}:{}", ids.user, ids.group));
    let size = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| format!(",size={bytes}"));
    say("--tmpfs", &format!("/tmp:mode=1777{}", size(spec.limits.tmp)));
    say("--tmpfs", "/run:mode=1777,size=64m");
    if let Some(bytes) = spec.limits.shm {
        say("--shm-size", &bytes.to_string());
    }
    say("--env", &format!("CAI_HOST_WORKSPACE={workspace}"));
    if spec.network == Network::None {
        say("--network", "none");
    }
    if let Some(bytes) = spec.limits.memory {
        say("--memory", &bytes.to_string());
        say("--memory-swap", &bytes.to_string());
    }
    if let Some(cpus) = spec.limits.cpus {
        say("--cpus", &format!("{cpus:.2}"));
    }
    if let Some(pids) = spec.limits.pids {
        say("--pids-limit", &pids.to_string());
    }
    for mount in &spec.mounts {
        let inside = text(mount.inside())?;
        match mount {
            Mount::Tmpfs { bytes, .. } => {
                say("--tmpfs", &format!("{inside}:mode=1777{}", size(*bytes)));
            }
            Mount::ReadOnly { host, .. } => {
                say("--mount", &format!("type=bind,src={},dst={inside},readonly", text(host)?));
            }
            Mount::ReadWrite { host, .. } => {
                say("--mount", &format!("type=bind,src={},dst={inside}", text(host)?));
            }
        }
    }
    words.extend(["--entrypoint=/bin/sh".to_owned(), engine.image.clone()]);
    words.extend(["-c".to_owned(), IDLE.to_owned()]);
    Ok(words)
}

/// The engine's option is a list with commas, and a command line here is text.
fn text(path: &Path) -> Result<&str, SpawnError> {
    path.to_str().filter(|text| !text.contains([',', '"', '\n'])).ok_or_else(|| SpawnError::Mount {
        path: path.to_owned(),
        why: "an engine takes no such name".to_owned(),
    })
}

/// What is mounted, by device and number.
fn identities(spec: &Spec) -> Vec<String> {
    let hosts = spec.mounts.iter().filter_map(Mount::host);
    let found = hosts.filter_map(|host| fs::metadata(host).ok());
    found.map(|found| format!("{}:{}", found.dev(), found.ino())).collect()
}

fn hash_of(words: &[String]) -> String {
    let mut hash = Sha256::new();
    hash.update(EPOCH.to_le_bytes());
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn create(
    engine: &Engine,
    spec: &Spec,
    name: &str,
    mut words: Vec<String>,
    hash: &str,
) -> Result<(), SpawnError> {
    words.insert(1, format!("--label={HASH}={hash}"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Err(failure) = told(engine, &words) else { return Ok(()) };
    // Somebody whose lock is not ours, another user say, may have made the very same meanwhile.
    let Some(found) = inspect(engine, name)? else { return Err(failure) };
    found.check_owner(engine, spec, name)?;
    if found.label(HASH) == Some(hash) {
        for _ in 0..STARTING {
            if inspect(engine, name)?.is_some_and(|found| found.is_running()) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
    // One that was made and cannot be started is of no use, and nothing shall be left behind.
    if !found.is_running() {
        told(engine, &["rm", "-f", name]).ok();
    }
    Err(failure)
}

/// Runs the client for its effect.
fn told(engine: &Engine, arguments: &[&str]) -> Result<(), SpawnError> {
    let outcome = client(&engine.program, arguments)?;
    if outcome.exit == Exit::Code(0) {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&outcome.stderr_tail).trim().to_owned();
    Err(SpawnError::Setup { backend: engine.kind.name(), why })
}

pub(super) fn client(program: &Path, arguments: &[&str]) -> Result<Outcome, SpawnError> {
    tool::ask(program, arguments, PATIENCE)
}

/// Only one process at a time may look for a container and make it.
fn lock_file(path: &Path) -> std::io::Result<File> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}
