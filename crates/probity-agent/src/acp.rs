//! Agents that speak the Agent Client Protocol: one process and one session for all turns.
//!
//! The agent is given prompts, and files to read if somebody serves them. When a turn fails its process is ended, since
//! nobody knows what it is still doing; the next turn starts another and tells it what was said.

mod failure;
mod peer;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use probity_acp::{Canceller, Client, ClientName, FileRefusal, Files, ServeFiles, Session, Side};
use probity_text::one_line;

use crate::{
    Agent, AgentError, Answer, Cancel, Cause, Limits, Phase, Seat, StopReason, Turn, Usage,
    acp::peer::Peer, cancel::Woken, transcript::Transcript,
};

/// Sees every message of a conversation, in both directions, as it is on the wire.
pub type AcpTap = Arc<dyn Fn(Side, &str) + Send + Sync>;

/// The client waits no longer than this for one answer. The limit that counts is the turn's, which
/// is watched from here, where it can be another for each turn.
const FOR_EVER: Duration = Duration::from_secs(30 * 24 * 3_600);

/// How long an agent that was asked to stop may take to do so before it is ended.
const GRACE: Duration = Duration::from_secs(3);

/// How much is kept of the words of one thing that was denied.
const DENIED_CHARS: usize = 200;

/// One conversation with an agent that speaks ACP.
#[derive(Debug)]
pub struct AcpAgent {
    name: String,
    source: Source,
    tap: Option<Tap>,
    files: Option<Served>,
    transcript: Transcript,
    running: Option<Running>,
}

/// Where the agent comes from.
#[derive(Debug)]
enum Source {
    Command { argv: Vec<String>, seat: Arc<Seat> },
    Recording(PathBuf),
}

struct Tap(AcpTap);

struct Served(Files);

/// The files of a session, by the names that the agent has for them.
struct Below {
    directory: PathBuf,
    files: Files,
}

impl ServeFiles for Below {
    fn read(&self, path: &str) -> Result<String, FileRefusal> {
        let below = Path::new(path).strip_prefix(&self.directory).ok().and_then(Path::to_str);
        self.files.read(below.unwrap_or(path))
    }
}

#[derive(Debug)]
struct Running {
    client: Client,
    session: Session,
    peer: Peer,
    /// Nothing has been asked in this session.
    is_new: bool,
    /// How much of what was denied, and of what it cost, was part of earlier turns.
    denials: usize,
    cost: f64,
}

impl AcpAgent {
    /// An agent that is started by this command when it is first asked.
    #[must_use]
    pub fn command(
        name: &str,
        argv: &[String],
        seat: Seat,
        system: &str,
        tap: Option<AcpTap>,
    ) -> Self {
        Self::new(name, Source::Command { argv: argv.to_vec(), seat: Arc::new(seat) }, system, tap)
    }

    /// A recorded conversation, or a script, played by ourselves.
    #[must_use]
    pub fn recorded(name: &str, file: &Path, system: &str, tap: Option<AcpTap>) -> Self {
        Self::new(name, Source::Recording(file.to_owned()), system, tap)
    }

    fn new(name: &str, source: Source, system: &str, tap: Option<AcpTap>) -> Self {
        let (name, transcript) = (name.to_owned(), Transcript::new(system.to_owned()));
        Self { name, source, tap: tap.map(Tap), files: None, transcript, running: None }
    }

    /// Lets it read files.
    #[must_use]
    pub fn serving(mut self, files: Option<Files>) -> Self {
        self.files = files.map(Served);
        self
    }

    /// Initializes the agent and opens its session.
    fn open(&self, mut peer: Peer, limits: &Limits) -> Result<Running, AgentError> {
        let step = limits.attempt.min(limits.total);
        let bounds = probity_acp::Limits {
            start: step,
            session: step,
            answer_bytes: limits.answer_bytes,
            ..probity_acp::Limits::within(FOR_EVER)
        };
        let who = ClientName { name: "probity", version: env!("CARGO_PKG_VERSION") };
        let tap = self.tap.as_ref().map(|tap| {
            let tap = Arc::clone(&tap.0);
            Box::new(move |side, frame: &str| tap(side, frame)) as probity_acp::Tap
        });
        let (output, input) = peer.pipes();
        let cwd = match &self.source {
            Source::Command { seat, .. } => seat.working_directory(),
            // A recording runs nowhere; the protocol wants an absolute path all the same.
            Source::Recording(_) => PathBuf::from("/"),
        };
        let files = self.files.as_ref().map(|Served(files)| {
            Arc::new(Below { directory: cwd.clone(), files: Arc::clone(files) }) as Files
        });
        let opened = Client::connect_serving(output, input, who, bounds, tap, files).and_then(
            |mut client| {
                let session = client.open_session(&cwd.to_string_lossy())?;
                Ok((client, session))
            },
        );
        let (client, session) =
            opened.map_err(|error| failure::from_client(&self.name, error, &peer))?;
        Ok(Running { client, session, peer, is_new: true, denials: 0, cost: 0.0 })
    }

    fn turn(
        &mut self,
        turn: &Turn,
        limits: &Limits,
        mut running: Running,
    ) -> Result<Answer, AgentError> {
        let prompt = if running.is_new { self.transcript.with(turn) } else { turn.prompt.clone() };
        // The agent reports what the session has cost, earlier turns included.
        running.client.limit_cost(limits.dollars.map(|dollars| running.cost + dollars));
        let said = running.client.prompt(&running.session, &prompt).map_err(|mut error| {
            if let probity_acp::Cause::CostLimit { spent } = &mut error.cause {
                *spent -= running.cost;
            }
            failure::from_client(&self.name, error, &running.peer)
        })?;
        if said.text.len() > limits.answer_bytes {
            return Err(failure::too_large(&self.name, limits.answer_bytes));
        }
        let answer = running.answer(said);
        self.running = Some(running);
        Ok(answer)
    }
}

impl Agent for AcpAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, turn: &Turn, limits: &Limits, cancel: &Cancel) -> Result<Answer, AgentError> {
        let until = Instant::now() + limits.total.min(FOR_EVER);
        let (bytes, limit) = (self.transcript.with(turn).len(), limits.prompt_bytes);
        if bytes > limit {
            let cause = Cause::PromptTooLarge { bytes, limit };
            let way_out = "send less, or raise the limit";
            return Err(AgentError::new(&self.name, Phase::Preparing, cause, way_out));
        }
        if cancel.is_cancelled() {
            return Err(failure::cancelled(&self.name));
        }
        let (running, peer) = match self.running.take() {
            Some(running) => (Some(running), None),
            None => (None, Some(Peer::start(&self.name, &self.source)?)),
        };
        let ender =
            running.as_ref().map(|running| &running.peer).or(peer.as_ref()).map(Peer::ender);
        let done = AtomicBool::new(false);
        let canceller = OnceLock::<Canceller>::new();
        let (answered, woken) = thread::scope(|threads| {
            let watch = threads.spawn(|| {
                let woken = cancel.watch(&done, Some(until));
                if let Some(ender) = ender
                    && woken != Woken::Done
                {
                    // Asked first: only so can it end what it has started elsewhere.
                    if canceller.get().is_some_and(Canceller::cancel) {
                        cancel.await_release(&done, GRACE);
                    }
                    ender.end();
                }
                woken
            });
            let answered = match (running, peer) {
                (Some(running), _) => Ok(running),
                (None, Some(peer)) => self.open(peer, limits),
                (None, None) => Err(failure::cancelled(&self.name)),
            }
            .and_then(|running| {
                canceller.get_or_init(|| running.client.canceller());
                self.turn(turn, limits, running)
            });
            cancel.release(&done);
            // The watch cannot panic; if it did, nothing was ended by it.
            (answered, watch.join().unwrap_or(Woken::Done))
        });
        if woken != Woken::Done {
            // It was ended, and what it said when it was told to stop is no answer.
            self.running = None;
            let error = answered.err().unwrap_or_else(|| failure::called_off(&self.name));
            return Err(failure::explained(error, woken, limits));
        }
        answered.inspect(|answer| self.transcript.push(turn, &answer.text))
    }
}

impl Drop for AcpAgent {
    fn drop(&mut self) {
        if let Some(Running { client, peer, .. }) = self.running.take() {
            // The end of its input is what an agent takes as a farewell.
            drop(client);
            peer.farewell();
        }
    }
}

impl Running {
    fn answer(&mut self, said: probity_acp::Turn) -> Answer {
        self.is_new = false;
        let (denied, _) = self.client.denied();
        let new = denied.iter().skip(self.denials);
        let denied_now: Vec<String> = new
            .map(|denied| one_line(&format!("{} {}", denied.method, denied.what), DENIED_CHARS))
            .collect();
        self.denials = denied.len();
        let usage = said.tokens.map(|tokens| Usage {
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cached_input_tokens: 0,
            cost: None,
        });
        // The agent says what the session has cost so far.
        let cost = self.client.usage().cost.filter(|(_, unit)| unit == "USD").map(|(sum, _)| {
            let now = (sum - self.cost).max(0.0);
            self.cost = sum;
            now
        });
        let usage = match (usage, cost) {
            (None, None) => None,
            (usage, cost) => Some(Usage { cost, ..usage.unwrap_or_default() }),
        };
        let stop = match said.stop {
            probity_acp::StopReason::EndTurn => StopReason::EndTurn,
            probity_acp::StopReason::MaxTokens => StopReason::MaxTokens,
            probity_acp::StopReason::Refusal => StopReason::Refusal,
            probity_acp::StopReason::Cancelled => StopReason::Cancelled,
            other => StopReason::Other(other.as_str().to_owned()),
        };
        Answer { text: said.text, stop, usage, denied: denied_now, requests: 1 }
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tap")
    }
}

impl std::fmt::Debug for Served {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Served")
    }
}
