//! The container of a workspace: found by its name, believed by its labels and mounts, made if
//! it is not there.

use std::{
    env,
    fs::{self, File},
    path::Path,
    time::Duration,
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Engine;
use crate::{
    Backend, Exit, Found, Limits, Mount, Network, Outcome, SpawnError, Spec, Why, run, user::Ids,
};

/// Raised when containers of older versions must not be used any more.
const EPOCH: u32 = 1;

const PATIENCE: Duration = Duration::from_secs(120);

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
    let locked = lock_file(&lock).map_err(SpawnError::io(lock.display().to_string()))?;
    let wanted = create_arguments(engine, spec, ids, &name)?;
    let hash = hash_of(&wanted);
    let mut notes = Vec::new();
    if let Some(found) = inspect(engine, &name)? {
        found.check_owner(engine, spec, &name)?;
        if found.label("probity.config-hash") == Some(hash.as_str()) {
            if !found.is_running() {
                told(engine, ["start".to_owned(), name.clone()].as_ref())?;
            }
        } else if found.is_busy() {
            notes.push(format!("container {name} has older settings and is in use"));
        } else {
            told(engine, &["rm".to_owned(), "-f".to_owned(), name.clone()])?;
            create(engine, wanted, &hash)?;
        }
    } else {
        create(engine, wanted, &hash)?;
    }
    drop(locked);
    Ok((name, notes))
}

/// Whether an engine has an image, without fetching it.
pub fn has_image(found: &Found, image: &str) -> Result<(), Why> {
    let asked = ["image", "inspect", image].map(str::to_owned);
    match client(&found.program, &asked) {
        Ok(outcome) if outcome.exit == Exit::Code(0) => Ok(()),
        Ok(_) => Err(format!("the image {image} is not there (pull it first)")),
        Err(error) => Err(error.to_string()),
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
    say("--tmpfs", "/tmp:mode=1777");
    say("--tmpfs", "/run:mode=1777");
    say("--env", &format!("CAI_HOST_WORKSPACE={workspace}"));
    if spec.network == Network::None {
        say("--network", "none");
    }
    if let Some(bytes) = spec.limits.memory {
        say("--memory", &bytes.to_string());
        say("--memory-swap", &bytes.to_string());
    }
    if let Some(pids) = spec.limits.pids {
        say("--pids-limit", &pids.to_string());
    }
    for mount in &spec.mounts {
        let inside = text(mount.inside())?;
        match mount {
            Mount::Tmpfs { bytes, .. } => {
                let size = bytes.map_or(String::new(), |bytes| format!(",size={bytes}"));
                say("--tmpfs", &format!("{inside}:mode=1777{size}"));
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

fn hash_of(words: &[String]) -> String {
    let mut hash = Sha256::new();
    hash.update(EPOCH.to_le_bytes());
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn create(engine: &Engine, mut words: Vec<String>, hash: &str) -> Result<(), SpawnError> {
    words.insert(1, format!("--label=probity.config-hash={hash}"));
    told(engine, &words)
}

struct Inspected(Value);

impl Inspected {
    fn label(&self, name: &str) -> Option<&str> {
        self.0.pointer("/Config/Labels")?.get(name)?.as_str()
    }

    fn is_running(&self) -> bool {
        self.0.pointer("/State/Running").and_then(Value::as_bool).unwrap_or(false)
    }

    fn is_busy(&self) -> bool {
        let execs = self.0.get("ExecIDs").and_then(Value::as_array);
        self.is_running() && execs.is_some_and(|execs| !execs.is_empty())
    }

    /// Labels can be written by anybody who can make containers; what is mounted cannot lie.
    fn check_owner(&self, engine: &Engine, spec: &Spec, name: &str) -> Result<(), SpawnError> {
        let foreign =
            |why: &str| SpawnError::Foreign { name: name.to_owned(), why: why.to_owned() };
        if self.label("probity.managed") != Some("true") {
            return Err(foreign("it was not made by us"));
        }
        if self.label("probity.workspace") != engine.workspace.to_str() {
            return Err(foreign("it belongs to another workspace"));
        }
        let mounts = self.0.get("Mounts").and_then(Value::as_array);
        for mount in mounts.into_iter().flatten() {
            let field = |name: &str| mount.get(name).and_then(Value::as_str).unwrap_or_default();
            let ours = spec.mounts.iter().any(|ours| {
                ours.inside() == Path::new(field("Destination"))
                    && ours.host().is_none_or(|host| host == Path::new(field("Source")))
            });
            if !ours {
                return Err(foreign(&format!("{} is mounted in it", field("Destination"))));
            }
        }
        Ok(())
    }
}

fn inspect(engine: &Engine, name: &str) -> Result<Option<Inspected>, SpawnError> {
    let outcome = client(&engine.program, &["container", "inspect", name].map(str::to_owned))?;
    if outcome.exit != Exit::Code(0) {
        return Ok(None);
    }
    let setup = |why: String| SpawnError::Setup { backend: engine.kind.name(), why };
    let value: Value =
        serde_json::from_slice(&outcome.stdout).map_err(|error| setup(error.to_string()))?;
    let first = value.get(0).cloned();
    Ok(first.map(Inspected))
}

/// Runs the client for its effect.
fn told(engine: &Engine, arguments: &[String]) -> Result<(), SpawnError> {
    let outcome = client(&engine.program, arguments)?;
    if outcome.exit == Exit::Code(0) {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&outcome.stderr_tail).trim().to_owned();
    Err(SpawnError::Setup { backend: engine.kind.name(), why })
}

/// The client is the user's own tool, and has their environment.
pub(super) fn client(program: &Path, arguments: &[String]) -> Result<Outcome, SpawnError> {
    let mut spec = Spec::new([program], "/");
    spec.argv.extend(arguments.iter().map(Into::into));
    spec.env = env::vars_os().collect();
    spec.limits = Limits { wall: Some(PATIENCE), output: Some(4 << 20), ..Limits::default() };
    run(&Backend::None, &spec, b"")
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
