//! What is kept between runs: a small file for each session, and what each agent can do.
//!
//! One file a session, so that two editors at once never write the same one.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context as _;
use atomic_write_file::AtomicWriteFile;
use probity_proxy::{SessionRecord, Store};
use probity_scope::read_text;
use probity_seat::{State, find_program};
use sha2::{Digest as _, Sha256};

use super::agents::Agent;

/// Sessions that are kept; the oldest go first.
const KEPT: usize = 1000;

/// Bytes of an agent's answer to `initialize` that are kept for the next run.
const LARGEST_ANSWER: u64 = 1 << 20;

/// No record of a session is larger.
const LARGEST_RECORD: u64 = 64 << 20;

pub(super) struct Files {
    /// `None` where there is no place for state.
    sessions: Option<PathBuf>,
    /// The directory of what agents can do; `None` where there is no place for caches.
    cache: Option<PathBuf>,
    /// The agent and its version, as far as that can be seen without starting it.
    version: String,
}

impl Files {
    pub(super) fn new(state: Option<&State>, agent: &Agent) -> Self {
        let name = key(&[agent.name.as_bytes()]);
        let sessions = state.map(|state| state.directory.join("acp/sessions").join(name));
        Self { sessions, cache: cache(), version: version(agent) }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        // An id that is none of ours must not name another file.
        let plain = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        if id.len() != 36 || !id.bytes().all(plain) {
            return None;
        }
        Some(self.sessions.as_ref()?.join(format!("{id}.json")))
    }

    /// An agent may answer one editor otherwise than another, and after an update otherwise than
    /// before.
    fn capabilities_file(&self, client: &str) -> Option<PathBuf> {
        let name = key(&[self.version.as_bytes(), client.as_bytes()]);
        Some(self.cache.as_ref()?.join(format!("{name}.json")))
    }

    /// The files, the oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let Some(directory) = &self.sessions else { return Vec::new() };
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut dated: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        dated.sort();
        dated.into_iter().map(|(_, path)| path).collect()
    }
}

impl Store for Files {
    fn sessions(&self) -> Vec<SessionRecord> {
        let files = self.files();
        let surplus = files.len().saturating_sub(KEPT);
        for (index, path) in files.iter().enumerate() {
            if index < surplus
                && let Err(error) = fs::remove_file(path)
            {
                tracing::info!("cannot remove {}: {error}", path.display());
            }
        }
        files.iter().skip(surplus).filter_map(|path| read(path)).collect()
    }

    fn session(&self, id: &str) -> Option<SessionRecord> {
        read(&self.path(id)?)
    }

    fn keep_session(&self, record: &SessionRecord) {
        let text = serde_json::to_string(record).map_err(anyhow::Error::from);
        let written = text.and_then(|text| match self.path(&record.id) {
            Some(path) => write(&path, &text),
            None => Ok(()),
        });
        if let Err(error) = written {
            tracing::warn!("the session cannot be resumed later: {error:#}");
        }
    }

    fn forget_session(&self, id: &str) {
        let Some(path) = self.path(id) else { return };
        if let Err(error) = fs::remove_file(&path) {
            tracing::info!("cannot remove {}: {error}", path.display());
        }
    }

    fn capabilities(&self, client: &str) -> Option<String> {
        let path = &self.capabilities_file(client)?;
        read_text(path, LARGEST_ANSWER).ok()
    }

    fn keep_capabilities(&self, client: &str, result: &str) {
        let Some(path) = &self.capabilities_file(client) else { return };
        if result.len() as u64 > LARGEST_ANSWER {
            return tracing::info!(
                "what the agent can do is not remembered: its answer is too long"
            );
        }
        if let Err(error) = write(path, result) {
            tracing::info!("what the agent can do is not remembered: {error:#}");
        }
    }
}

fn read(path: &Path) -> Option<SessionRecord> {
    serde_json::from_str(&read_text(path, LARGEST_RECORD).ok()?).ok()
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    }
    let mut file = AtomicWriteFile::open(path)?;
    file.write_all(text.as_bytes())?;
    file.commit()?;
    Ok(())
}

/// `$XDG_CACHE_HOME/probity/acp`, or the same below `~/.cache`.
fn cache() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("probity/acp"))
}

/// Changes with the agent's program and its image.
fn version(agent: &Agent) -> String {
    let program = agent.argv.first().and_then(|name| find_program(name));
    let program = program.and_then(|path| path.canonicalize().ok());
    let seen = program.as_ref().and_then(|path| fs::metadata(path).ok());
    let seen = seen.map(|seen| format!("{} {:?}", seen.len(), seen.modified().ok()));
    key(&[
        agent.argv.join("\0").as_bytes(),
        program.as_deref().map(|path| path.as_os_str().as_encoded_bytes()).unwrap_or_default(),
        seen.unwrap_or_default().as_bytes(),
        agent.image.as_deref().unwrap_or_default().as_bytes(),
    ])
}

fn key(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
