//! What all threads of the proxy share.

use std::{
    fs::File,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use probity_acp::{Id, LINE_LIMIT, Skipped};
use probity_secrets::{Detector, mask_same_length};

use crate::{
    Launcher, Observer, Options, SessionRecord, Side, Store,
    connection::{Connection, Known},
    editor::Editor,
    figures::Counters,
    introduction::Introductions,
    message::Refusal,
    table::Table,
};

/// How long a process gets to have an exit code, and its last words to arrive, after its output has
/// ended.
pub(crate) const LAST_BREATH: Duration = Duration::from_secs(1);

pub(crate) struct Proxy {
    pub(crate) options: Options,
    pub(crate) launcher: Box<dyn Launcher>,
    pub(crate) store: Box<dyn Store>,
    pub(crate) observer: Box<dyn Observer>,
    pub(crate) editor: Editor,
    /// The editor's `initialize`, as it came.
    handshake: Mutex<Option<String>>,
    /// What an agent of this run answered to it last.
    capabilities: Mutex<Option<String>>,
    pub(crate) introductions: Introductions,
    pub(crate) detector: Option<Detector>,
    pub(crate) ended: Sender<ProxyEnd>,
    table: Mutex<Table>,
}

/// Why the proxy stops.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProxyEnd {
    /// The editor will send no more.
    Input,
    /// The editor reads no more.
    Output,
    /// Somebody said so.
    Stopped,
}

impl Proxy {
    pub(crate) fn new(
        options: Options,
        launcher: Box<dyn Launcher>,
        store: Box<dyn Store>,
        observer: Box<dyn Observer>,
        editor: Editor,
        ended: Sender<ProxyEnd>,
    ) -> Self {
        let table = Table::with_records(store.sessions());
        Self {
            options,
            launcher,
            store,
            observer,
            editor,
            handshake: Mutex::new(None),
            capabilities: Mutex::new(None),
            introductions: Introductions::default(),
            detector: Detector::new(&probity_secrets::Options::default()).ok(),
            ended,
            table: Mutex::new(table),
        }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The editor's `initialize`, as it came.
    pub(crate) fn handshake(&self) -> Option<String> {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn keep_handshake(&self, asked: &str) {
        let mut handshake = self.handshake.lock().unwrap_or_else(PoisonError::into_inner);
        *handshake = Some(asked.to_owned());
    }

    /// What an agent answered to `initialize`, in this run or an earlier one.
    pub(crate) fn known_capabilities(&self, client: &str) -> Option<String> {
        let known = self.capabilities.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.or_else(|| self.store.capabilities(client))
    }

    /// Keeps what an agent answered to `initialize`.
    pub(crate) fn learn(&self, client: &str, result: &str) {
        let mut known = self.capabilities.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_deref() != Some(result) {
            *known = Some(result.to_owned());
            self.store.keep_capabilities(client, result);
        }
    }

    /// Writes to the editor, and waits as long as that takes.
    pub(crate) fn write(&self, message: &str) -> bool {
        self.observer.message(Side::Agent, message);
        self.judged(self.editor.write(message))
    }

    /// The same on the thread that reads from an agent, which flushes before it reads on.
    pub(crate) fn write_soon(&self, message: &str) -> bool {
        self.observer.message(Side::Agent, message);
        self.judged(self.editor.write_soon(message))
    }

    pub(crate) fn flush(&self) -> bool {
        self.judged(self.editor.flush())
    }

    fn judged(&self, written: bool) -> bool {
        if !written {
            // If nobody listens the proxy is ending already.
            drop(self.ended.send(ProxyEnd::Output));
        }
        written
    }

    /// Answers the editor without waiting.
    pub(crate) fn answer(&self, message: String) {
        self.editor.answer(message);
    }

    pub(crate) fn refuse(&self, id: &Id<'_>, refusal: &Refusal) {
        self.answer(refusal.to(id));
    }

    pub(crate) fn note(&self, what: &str) {
        self.observer.note(what);
    }

    /// Says what was no message since the last time; gives how much that was until now, lines over
    /// the limit second.
    pub(crate) fn tell_skipped(
        &self,
        who: &str,
        skipped: &Skipped,
        (lines, too_long): (u64, u64),
    ) -> (u64, u64) {
        if skipped.too_long > too_long {
            // Whoever sent it waits for an answer that cannot come.
            let limit = LINE_LIMIT >> 20;
            let what = format!("{who} wrote a line of more than {limit} MiB, which was dropped");
            self.observer.warning(&what);
        } else if skipped.lines() > lines {
            let sample = skipped.sample.as_deref().unwrap_or("half a line");
            self.note(&format!("{who} wrote no message: {}", self.masked(sample)));
        }
        (skipped.lines(), skipped.too_long)
    }

    /// The editor's id for a session of an agent: the one it had, or a new one.
    pub(crate) fn session_id(&self, connection: &Connection, agent_session: &str) -> Arc<str> {
        let root = &connection.workspace.root;
        let mut table = self.table();
        if let Some(record) = table.record_of(root, agent_session) {
            return record.id.as_str().into();
        }
        let id: Arc<str> = fresh_id();
        let record = SessionRecord {
            id: id.to_string(),
            agent_session: agent_session.to_owned(),
            cwd: connection.workspace.cwd.clone(),
            root: root.clone(),
        };
        table.remember(record.clone());
        drop(table);
        self.store.keep_session(&record);
        id
    }

    /// A session that an agent tells of in one of the editor's, such as a subagent's.
    pub(crate) fn adopt(&self, connection: &Connection, said: &str) -> Option<Known> {
        let mut state = connection.state();
        if let Some(known) = state.sessions.get(said) {
            return Some(known.clone());
        }
        if state.sessions.len() >= MOST_SESSIONS || said.len() > LONGEST_ID {
            return None;
        }
        let known = Known { id: fresh_id(), counters: Arc::new(Counters::new()) };
        state.sessions.insert(said.to_owned(), known.clone());
        Some(known)
    }

    /// A text of an agent for a person, without secrets.
    pub(crate) fn masked(&self, text: &str) -> String {
        match &self.detector {
            Some(detector) => mask_same_length(text, &detector.find(text)),
            None => String::new(),
        }
    }
}

/// Names of sessions that one agent may invent.
const MOST_SESSIONS: usize = 4096;

/// Ids of agents are kept, those of sessions also on disk, so that none may be a novel.
pub(crate) const LONGEST_ID: usize = 4096;

/// Questions of agents that the editor has not answered; more than anybody could.
pub(crate) const MOST_QUESTIONS: usize = 4096;

pub(crate) fn fresh_id() -> Arc<str> {
    uuid::Uuid::new_v4().to_string().into()
}

/// A thread whose end nobody waits for; that none can be had is reported and survived.
pub(crate) fn spawn(proxy: &Arc<Proxy>, name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    if let Err(error) = &spawned {
        proxy.note(&format!("no thread can be started: {error}"));
    }
    spawned.is_ok()
}

/// Reads what an agent writes to its standard error. The answer ends when all of it has been read.
pub(crate) fn read_stderr(
    proxy: &Arc<Proxy>,
    stderr: Option<File>,
    read: impl FnOnce(File) + Send + 'static,
) -> Receiver<()> {
    let (reading, is_read) = channel();
    if let Some(stderr) = stderr {
        spawn(proxy, "stderr", move || {
            read(stderr);
            drop(reading);
        });
    }
    is_read
}
