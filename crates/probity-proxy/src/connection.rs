//! One agent process: what waits for it, what was asked of it, and which sessions it has.

mod early;
mod outgoing;
mod tail;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        mpsc::{Sender, SyncSender},
    },
};

use probity_acp::{Id, IdMap};

use crate::{Limits, Process, Workspace, figures::Counters};
pub(crate) use early::{Early, Whose};
pub(crate) use outgoing::{NotSent, Outgoing};
pub(crate) use tail::Tail;

pub(crate) struct Connection {
    pub(crate) number: u64,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) outgoing: Outgoing,
    pub(crate) tail: Tail,
    /// There once the agent has been started.
    pub(crate) process: OnceLock<Box<dyn Process>>,
    queue_limit: usize,
    state: Mutex<State>,
}

pub(crate) struct State {
    pub(crate) phase: Phase,
    /// Messages for an agent that is not ready; requests with our number.
    held: Vec<(Option<u64>, String)>,
    held_bytes: usize,
    /// Requests under way: under the editor's id, or under none if they are our own.
    pub(crate) requests: IdMap<Option<Id<'static>>, Asked>,
    /// By what the agent's own ids say.
    pub(crate) sessions: HashMap<String, Known>,
    pub(crate) early: Early,
    /// Messages about sessions that it never announced.
    strangers: u64,
    /// Requests under way that bring a session.
    pub(crate) setups: usize,
    pub(crate) abilities: Abilities,
    /// A session that the agent has to take up before it is ready.
    pub(crate) reload: Option<Reload>,
    /// Nothing new is to be given to it.
    pub(crate) ending: bool,
    /// Why it was ended by us, to be told to those who still wait for an answer.
    pub(crate) reason: Option<String>,
    /// How it ended, for those who come too late.
    pub(crate) epitaph: Option<Epitaph>,
}

#[derive(Clone, Debug)]
pub(crate) struct Epitaph {
    pub(crate) how: String,
    pub(crate) data: serde_json::Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Ready,
    Dead,
}

/// A session as the agent's side sees it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The editor's id.
    pub(crate) id: Arc<str>,
    pub(crate) counters: Arc<Counters>,
}

/// What the agent said that it can do, as far as we have to know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Abilities {
    pub(crate) load: bool,
    pub(crate) resume: bool,
    pub(crate) close: bool,
}

/// A session of an agent that died.
pub(crate) struct Reload {
    /// Raw JSON.
    pub(crate) agent_session: String,
    /// The parameters with which the session was set up, without its id, as an object.
    pub(crate) setup: String,
    pub(crate) known: Known,
    /// How that agent ended.
    pub(crate) death: Option<Epitaph>,
}

/// What is to be done with an answer of the agent.
pub(crate) enum Asked {
    /// Give it to the editor.
    Forward,
    /// It brings a session. The sender is dropped with this, which ends the watch over it.
    Create {
        workspace: Arc<Workspace>,
        setup: String,
        _watch: Sender<()>,
    },
    /// It takes up a session that the editor knows.
    Load {
        session: Arc<str>,
        _watch: Sender<()>,
    },
    /// It lists sessions; where several agents were asked, their answers are put together.
    List(Arc<crate::table::Listing>),
    /// Its end is the end of the session.
    Close {
        answered: SyncSender<Answered>,
    },
    Delete {
        session: Arc<str>,
    },
    /// Ours: the first message of all.
    Initialize {
        _watch: Sender<()>,
    },
    /// Ours: the session of an agent that died, taken up by the next.
    Reload {
        reload: Reload,
        _watch: Sender<()>,
    },
    /// Ours: somebody waits for the answer and not for what it says.
    Own {
        _answered: SyncSender<Answered>,
    },
    /// Ours, and nobody waits.
    Ignored,
}

/// What became of a request that is withdrawn.
pub(crate) enum CalledOff {
    /// The agent has it, under this number.
    Sent(u64),
    /// It never left.
    Waiting(Asked),
}

/// That an agent has answered what it was told.
#[derive(Debug)]
pub(crate) struct Answered;

impl Asked {
    pub(crate) fn is_setup(&self) -> bool {
        matches!(self, Self::Create { .. } | Self::Load { .. })
    }
}

impl Connection {
    pub(crate) fn new(number: u64, workspace: Arc<Workspace>, limits: &Limits) -> Self {
        let state = State {
            phase: Phase::Starting,
            held: Vec::new(),
            held_bytes: 0,
            requests: IdMap::default(),
            sessions: HashMap::new(),
            early: Early::new(limits.early),
            strangers: 0,
            setups: 0,
            abilities: Abilities::default(),
            reload: None,
            ending: false,
            reason: None,
            epitaph: None,
        };
        Self {
            number,
            workspace,
            outgoing: Outgoing::new(limits.queue),
            tail: Tail::new(limits.tail),
            process: OnceLock::new(),
            queue_limit: limits.queue,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request under a number of ours; `make` writes it. Gives that number.
    pub(crate) fn request(
        &self,
        id: Option<Id<'static>>,
        asked: Asked,
        make: impl FnOnce(u64) -> String,
    ) -> Result<u64, NotSent> {
        let number = {
            let mut state = self.state();
            if state.phase == Phase::Dead {
                return Err(NotSent::Closed);
            }
            state.setups += usize::from(asked.is_setup());
            state.requests.issue(id, asked)
        };
        // A long message is written while nobody is kept from the state.
        let message = make(number);
        let sent = self.send_numbered(Some(number), message);
        match sent {
            Err(NotSent::Full) => match self.take(&Id::from(number)) {
                Some(_) => Err(NotSent::Full),
                // Whoever took it out meanwhile has answered it.
                None => Ok(number),
            },
            // An agent that is gone is buried by the thread that reads from it, which answers this
            // request too, and knows more about the death than we do.
            Ok(()) | Err(NotSent::Closed) => Ok(number),
        }
    }

    /// Sends a message when the agent is ready for it, in the order of the calls.
    fn send_numbered(&self, number: Option<u64>, message: String) -> Result<(), NotSent> {
        let mut state = self.state();
        match state.phase {
            Phase::Dead => Err(NotSent::Closed),
            Phase::Ready => self.outgoing.send(&message),
            Phase::Starting => state.hold(number, message, self.queue_limit),
        }
    }

    /// The same for what somebody may be waiting for.
    pub(crate) fn send_urgent(&self, message: String) -> Result<(), NotSent> {
        let mut state = self.state();
        match state.phase {
            Phase::Dead => Err(NotSent::Closed),
            Phase::Ready => self.outgoing.send_urgent(&message),
            Phase::Starting => state.hold(None, message, self.queue_limit.saturating_mul(2)),
        }
    }

    /// A request of our own that does not wait for the agent to be ready.
    pub(crate) fn request_first(
        &self,
        asked: Asked,
        make: impl FnOnce(u64) -> String,
    ) -> Result<(), NotSent> {
        let number = self.state().requests.issue(None, asked);
        self.outgoing.send(&make(number))
    }

    /// The agent is ready: sends what was held for it.
    pub(crate) fn ready(&self) {
        let mut state = self.state();
        if state.phase != Phase::Starting {
            return;
        }
        state.phase = Phase::Ready;
        state.held_bytes = 0;
        for (_, message) in std::mem::take(&mut state.held) {
            // A pipe that is closed is noticed by whoever reads from the agent.
            if self.outgoing.send_held(&message).is_err() {
                return;
            }
        }
    }

    /// Takes a request back that the agent has not been sent; one that it has, it has to be asked
    /// about. `None` if it is not under way here.
    pub(crate) fn call_off(&self, id: &Option<Id<'static>>) -> Option<CalledOff> {
        let mut state = self.state();
        let number = state.requests.number_of(id)?;
        let Some(at) = state.held.iter().position(|(held, _)| *held == Some(number)) else {
            return Some(CalledOff::Sent(number));
        };
        let (_, message) = state.held.remove(at);
        state.held_bytes = state.held_bytes.saturating_sub(message.len());
        let (_, asked) = state.requests.take(&Id::from(number))?;
        state.setups -= usize::from(asked.is_setup());
        Some(CalledOff::Waiting(asked))
    }

    /// Whether it is being started for nobody.
    pub(crate) fn is_needless(&self) -> bool {
        let state = self.state();
        state.phase == Phase::Starting
            && state.held.is_empty()
            && state.sessions.is_empty()
            && state.reload.is_none()
    }

    /// The request that an answer belongs to.
    pub(crate) fn take(&self, id: &Id<'_>) -> Option<(Option<Id<'static>>, Asked)> {
        let mut state = self.state();
        let taken = state.requests.take(id)?;
        state.setups -= usize::from(taken.1.is_setup());
        Some(taken)
    }

    /// Whose session a message of the agent is about; one that is not known yet is put away while
    /// an answer that may name it is awaited.
    pub(crate) fn whose(&self, said: &str, message: &str) -> Whose {
        let mut state = self.state();
        if let Some(known) = state.sessions.get(said) {
            return Whose::Known(known.clone());
        }
        // While a session is taken up again, the editor has seen what the agent repeats.
        if state.phase == Phase::Starting {
            return Whose::Repeated;
        }
        if state.setups > 0 && state.early.hold(said, message) {
            return Whose::Held;
        }
        state.strangers += 1;
        Whose::Strangers { count: state.strangers }
    }

    /// Nothing can be sent any more. Gives the requests that will never be answered.
    pub(crate) fn died(&self) -> Vec<(Option<Id<'static>>, Asked)> {
        let mut state = self.state();
        state.phase = Phase::Dead;
        state.held = Vec::new();
        state.early.clear();
        state.setups = 0;
        self.outgoing.abandon();
        state.requests.take_all(|_, _| true)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.state().phase == Phase::Dead
    }

    /// Whether a new session may be put here: alive, and idle unless sessions share processes.
    pub(crate) fn takes_sessions(&self, shared: bool) -> bool {
        let state = self.state();
        let idle = state.sessions.is_empty() && state.setups == 0;
        state.phase != Phase::Dead && !state.ending && (shared || idle)
    }
}

impl State {
    fn hold(&mut self, number: Option<u64>, message: String, limit: usize) -> Result<(), NotSent> {
        let bytes = self.held_bytes.saturating_add(message.len());
        if self.held_bytes > 0 && bytes > limit {
            return Err(NotSent::Full);
        }
        self.held_bytes = bytes;
        self.held.push((number, message));
        Ok(())
    }
}
