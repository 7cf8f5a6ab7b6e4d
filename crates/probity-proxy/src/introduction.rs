//! What an agent can do, asked of the agent itself before there is a session.
//!
//! An editor asks first and opens sessions later. So an agent of which nothing is known is started
//! once in an empty workspace, and its answer to `initialize` becomes ours. An agent that takes too
//! long is not waited for, but its answer is still kept for the next editor.

use std::{
    io::Read,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{RecvTimeoutError, channel},
    },
};

use probity_acp::{Envelope, FrameReader, FrameWriter, Id, MessageKind, Outcome, find};

use crate::{
    LaunchError, Process, Started, Workspace,
    connection::Tail,
    handshake,
    proxy::{LAST_BREATH, Proxy, read_stderr, spawn},
};

/// The number of the one request.
const NUMBER: u64 = 0;

/// The introductions that are under way.
#[derive(Default)]
pub(crate) struct Introductions {
    /// Editors' requests that wait for one.
    waiting: AtomicUsize,
    /// Agents that are being asked.
    processes: Mutex<Vec<Arc<dyn Process>>>,
}

impl Introductions {
    pub(crate) fn are_awaited(&self) -> bool {
        self.waiting.load(SeqCst) > 0
    }

    pub(crate) fn are_running(&self) -> bool {
        !self.processes.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Ends all of them.
    pub(crate) fn end(&self) {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        processes.iter().for_each(|process| process.kill());
    }

    fn add(&self, process: &Arc<dyn Process>) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.push(Arc::clone(process));
    }

    fn remove(&self, process: &Arc<dyn Process>) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.retain(|other| !Arc::ptr_eq(other, process));
    }
}

/// Why an agent did not introduce itself.
#[derive(Debug, thiserror::Error)]
enum NoIntroduction {
    #[error("cannot be started: {0}")]
    Start(#[from] LaunchError),
    #[error("cannot be asked: {0}")]
    Pipe(#[from] std::io::Error),
    #[error("refused `initialize`: {0}")]
    Refused(String),
    #[error("cannot be used: {0}")]
    Unusable(#[from] handshake::BadHandshake),
    #[error("ended{} without an answer to `initialize`{}", with_code(*code), with_tail(stderr))]
    ProxyEnd { code: Option<i32>, stderr: String },
}

fn with_code(code: Option<i32>) -> String {
    code.map_or_else(String::new, |code| format!(" with exit code {code}"))
}

fn with_tail(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}

/// What the editor says that it can do, in its own words: agents answer differently to others.
pub(crate) fn client(message: &Envelope<'_>) -> String {
    find(message, "params.clientCapabilities").last().map_or("{}", |raw| raw).to_owned()
}

/// Answers `initialize` when the agent has answered it, or when it is not waited for any longer.
/// False if no agent can be asked.
pub(crate) fn begin(proxy: &Arc<Proxy>, message: &Envelope<'_>, id: &Id<'_>) -> bool {
    let Some(workspace) = proxy.launcher.scratch() else { return false };
    let (asked, id) = (message.text().to_owned(), id.clone().into_owned());
    proxy.introductions.waiting.fetch_add(1, SeqCst);
    let ours = Arc::clone(proxy);
    let is_begun = spawn(proxy, "introduction", move || {
        await_introduction(&ours, asked.clone(), workspace);
        if let Some(envelope) = Envelope::parse(&asked) {
            let known = ours.known_capabilities(&client(&envelope));
            ours.answer(handshake::answer(&id, &envelope, known.as_deref(), &ours.options));
        }
        ours.introductions.waiting.fetch_sub(1, SeqCst);
    });
    if !is_begun {
        proxy.introductions.waiting.fetch_sub(1, SeqCst);
    }
    is_begun
}

fn await_introduction(proxy: &Arc<Proxy>, asked: String, workspace: Workspace) {
    let (done, waiting) = channel::<()>();
    let ours = Arc::clone(proxy);
    let is_begun = spawn(proxy, "scratch", move || {
        let agent = &ours.options.agent;
        match introduce(&ours, &asked, &workspace) {
            Ok(result) => {
                let client = Envelope::parse(&asked).map(|envelope| client(&envelope));
                ours.learn(client.as_deref().unwrap_or_default(), &result);
            }
            Err(why) => {
                let why = ours.masked(&why.to_string());
                ours.observer.warning(&format!("the agent {agent} {why}"));
            }
        }
        drop(done);
    });
    let limit = proxy.options.limits.introduction;
    if is_begun && waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
        let agent = &proxy.options.agent;
        proxy.observer.warning(&format!(
            "the agent {agent} did not say within {} s what it can do; restart the editor's agent \
             to see all of it",
            limit.as_secs()
        ));
    }
}

/// One agent's own answer to `initialize`; nothing of the agent is left afterwards.
fn introduce(
    proxy: &Arc<Proxy>,
    asked: &str,
    workspace: &Workspace,
) -> Result<String, NoIntroduction> {
    let Started { stdin, stdout, stderr, process } = proxy.launcher.start(workspace)?;
    let process: Arc<dyn Process> = Arc::from(process);
    proxy.introductions.add(&process);
    if proxy.table().closing {
        process.kill();
    }
    let (in_time, watching) = channel::<()>();
    let (watched, limit) = (Arc::clone(&process), proxy.options.limits.setup);
    spawn(proxy, "watch", move || {
        if watching.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            watched.kill();
        }
    });
    let tail = Arc::new(Tail::new(proxy.options.limits.tail));
    let kept = Arc::clone(&tail);
    let is_read = read_stderr(proxy, stderr, move |stderr| kept.follow(stderr, |_| ()));
    // An agent ends with its input, which therefore stays open until the answer is there.
    let mut writer = FrameWriter::new(stdin);
    // An agent that does not read has ended, which its output shows.
    drop(writer.write(&handshake::request(NUMBER, Some(asked), workspace)));
    let answered = read_answer(stdout);
    let code = match &answered {
        Ok(None) => process.wait(LAST_BREATH),
        _ => None,
    };
    process.kill();
    drop(in_time);
    proxy.introductions.remove(&process);
    let Some(result) = answered? else {
        // What it said last may still be on its way; the channel only ever ends.
        is_read.recv_timeout(LAST_BREATH).ok();
        return Err(NoIntroduction::ProxyEnd { code, stderr: tail.text() });
    };
    handshake::abilities(&result)?;
    Ok(result)
}

/// The result in the agent's answer, if there is an answer.
fn read_answer(stdout: impl Read) -> Result<Option<String>, NoIntroduction> {
    let mut reader = FrameReader::new(stdout);
    while let Some(message) = reader.read()? {
        if let MessageKind::Response { id: Some(_), outcome } = message.kind() {
            return match outcome {
                Outcome::Result(result) => Ok(Some(result.to_owned())),
                Outcome::Error(error) => Err(NoIntroduction::Refused(error.to_owned())),
            };
        }
    }
    Ok(None)
}
