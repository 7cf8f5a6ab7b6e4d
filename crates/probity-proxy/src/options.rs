//! What the caller of the proxy decides.

use std::{path::PathBuf, time::Duration};

use crate::Logins;

/// How the proxy behaves, beside what its launcher does.
#[derive(Clone, Debug)]
pub struct Options {
    /// The agent's name, for messages and for `agentInfo` before the agent has given its own.
    pub agent: String,
    /// The version that stands in `serverInfo`.
    pub version: String,
    pub sharing: Sharing,
    /// Where an agent is started when it is asked for something that names no directory.
    pub default_cwd: Option<PathBuf>,
    /// The code of the error when no session could be made. ACP takes -32000 for a missing login,
    /// which older clients of this kind of proxy use for this.
    pub start_failure_code: i64,
    pub logins: Logins,
    pub limits: Limits,
}

/// Which sessions have a process in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each session has its own, but for forks.
    Session,
    /// All sessions of one workspace have one.
    Workspace,
}

/// How long, and how much.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From a request for a session to its answer, the start of the agent included.
    pub setup: Duration,
    /// From an editor's first word to the answer, where the agent is asked for it.
    pub introduction: Duration,
    /// From the word that it is over to the forced end of an agent.
    pub farewell: Duration,
    /// Bytes that wait for one agent to read them, or to start.
    pub queue: usize,
    /// Bytes of one agent about sessions that the editor does not know yet.
    pub early: usize,
    /// Bytes of standard error that are kept to explain an agent's death.
    pub tail: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            setup: Duration::from_secs(120),
            introduction: Duration::from_secs(10),
            farewell: Duration::from_secs(5),
            queue: 8 << 20,
            early: 8 << 20,
            tail: 8 << 10,
        }
    }
}
