//! Who is who: the sessions of the editor, the agents, and what agents have asked the editor.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use probity_acp::{Id, IdMap};

use crate::{
    SessionRecord, Workspace,
    connection::{Connection, Known},
    figures::{Counters, SessionFigures},
};

#[derive(Default)]
pub(crate) struct Table {
    /// Sessions that are open, by the editor's id.
    pub(crate) sessions: HashMap<Arc<str>, Arc<Session>>,
    /// Agents that live or are being started, the latest last.
    pub(crate) connections: Vec<Arc<Connection>>,
    /// What agents have asked the editor, by the agent's number and its own id.
    pub(crate) asked: IdMap<(u64, Id<'static>), Arc<Connection>>,
    /// Sessions of this run and of earlier ones, the oldest first.
    records: Vec<SessionRecord>,
    /// Figures of sessions that are over.
    pub(crate) finished: Vec<SessionFigures>,
    last_connection: u64,
    /// The editor is gone: nothing is started any more.
    pub(crate) closing: bool,
}

/// An open session.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    /// The agent's id, as raw JSON.
    pub(crate) agent_session: String,
    pub(crate) workspace: Arc<Workspace>,
    /// The parameters that set it up, for an agent that has to take it up again.
    pub(crate) setup: String,
    pub(crate) connection: Arc<Connection>,
    pub(crate) counters: Arc<Counters>,
}

impl Session {
    pub(crate) fn known(&self) -> Known {
        Known { id: Arc::clone(&self.id), counters: Arc::clone(&self.counters) }
    }

    /// Looks at what its agent has taken, while that lives.
    pub(crate) fn measure(&self) {
        self.counters.measure(self.connection.process.get().map(|process| &**process));
    }

    pub(crate) fn record(&self) -> SessionRecord {
        SessionRecord {
            id: self.id.to_string(),
            agent_session: self.agent_session.clone(),
            cwd: self.workspace.cwd.clone(),
            root: self.workspace.root.clone(),
        }
    }
}

/// More sessions than this are not remembered.
const RECORDS: usize = 2000;

impl Table {
    pub(crate) fn with_records(records: Vec<SessionRecord>) -> Self {
        Self { records, ..Self::default() }
    }

    pub(crate) fn next_connection(&mut self) -> u64 {
        self.last_connection += 1;
        self.last_connection
    }

    pub(crate) fn remember(&mut self, record: SessionRecord) {
        self.records.retain(|known| known.id != record.id);
        if self.records.len() >= RECORDS {
            self.records.remove(0);
        }
        self.records.push(record);
    }

    pub(crate) fn forget(&mut self, id: &str) {
        self.records.retain(|known| known.id != id);
    }

    pub(crate) fn record(&self, id: &str) -> Option<&SessionRecord> {
        self.records.iter().rev().find(|record| record.id == id)
    }

    /// The session that has this id at the agent, in this workspace.
    pub(crate) fn record_of(&self, root: &Path, agent_session: &str) -> Option<&SessionRecord> {
        let fits =
            |record: &&SessionRecord| record.root == root && record.agent_session == agent_session;
        self.records.iter().rev().find(fits)
    }

    pub(crate) fn records(&self) -> impl DoubleEndedIterator<Item = &SessionRecord> {
        self.records.iter()
    }

    /// An agent that lives, for what belongs to no session: the one that came last.
    pub(crate) fn latest(&self) -> Option<Arc<Connection>> {
        let usable = |connection: &&Arc<Connection>| connection.takes_sessions(true);
        self.connections.iter().rev().find(usable).cloned()
    }

    /// Whether a session that is open has this agent.
    pub(crate) fn is_used(&self, connection: &Arc<Connection>) -> bool {
        self.sessions.values().any(|session| Arc::ptr_eq(&session.connection, connection))
    }

    /// Takes a session out and keeps its figures.
    pub(crate) fn close(&mut self, id: &str) -> Option<Arc<Session>> {
        let session = self.sessions.remove(id)?;
        self.finished.push(session.counters.figures(id));
        Some(session)
    }
}

/// A list of sessions that several agents contribute to.
pub(crate) struct Listing {
    pub(crate) id: Id<'static>,
    pub(crate) agents: usize,
    parts: Mutex<Parts>,
}

struct Parts {
    missing: usize,
    /// Raw JSON of each session.
    sessions: Vec<String>,
}

impl Listing {
    pub(crate) fn new(id: Id<'static>, agents: usize) -> Self {
        Self { id, agents, parts: Mutex::new(Parts { missing: agents, sessions: Vec::new() }) }
    }

    /// Adds what one agent has; gives the whole list when it was the last.
    pub(crate) fn add(&self, sessions: impl IntoIterator<Item = String>) -> Option<String> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.sessions.extend(sessions);
        parts.missing = parts.missing.saturating_sub(1);
        let whole = || format!(r#"{{"sessions":[{}]}}"#, parts.sessions.join(","));
        (parts.missing == 0).then(whole)
    }
}
