//! What outlives the proxy, and who watches it: kept by the caller, who alone writes files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Side;

/// What is remembered of a session. Nothing of what was said in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The id that the editor knows.
    pub id: String,
    /// The agent's own id, as raw JSON.
    pub agent_session: String,
    /// The working directory as the editor gave it.
    pub cwd: PathBuf,
    /// The root of the workspace.
    pub root: PathBuf,
}

/// Keeps sessions and capabilities from one run to the next. A failure to keep something is the
/// store's to report: it must not end a session that works.
pub trait Store: Send + Sync {
    /// The sessions of earlier runs, the oldest first.
    fn sessions(&self) -> Vec<SessionRecord>;

    /// One session, which another proxy may have kept a moment ago.
    fn session(&self, id: &str) -> Option<SessionRecord>;

    fn keep_session(&self, record: &SessionRecord);

    fn forget_session(&self, id: &str);

    /// What this version of the agent last answered to an `initialize` with these capabilities of
    /// the editor, given as JSON.
    fn capabilities(&self, client: &str) -> Option<String>;

    fn keep_capabilities(&self, client: &str, result: &str);
}

/// Sees what goes on: for traces and for the log.
pub trait Observer: Send + Sync {
    /// A message as the editor sent it or is about to get it.
    fn message(&self, from: Side, frame: &str);

    /// Something a person may want to know.
    fn note(&self, what: &str);

    /// Something a person has to know.
    fn warning(&self, what: &str);

    /// A line that an agent wrote to its standard error, without the secrets we know and of
    /// bounded length. Must not wait: an agent would wait with it.
    fn stderr(&self, _agent: &str, _line: &str) {}
}

/// Bytes of one line of an agent's standard error that are passed on.
pub(crate) const STDERR_LINE: usize = 4 << 10;

/// Bytes of an agent's standard error that are passed on in all, for each of its processes.
pub(crate) const STDERR_TOTAL: usize = 1 << 20;

/// Bytes of it that are shown in one second.
pub(crate) const STDERR_SECOND: usize = 32 << 10;
