//! `acp`: an editor's agents, each contained, none confused with another.
//!
//! Standard output belongs to the protocol. Before anything is read it is taken away from everybody
//! else, so that a stray line lands on standard error.

mod agents;
mod launch;
mod login;
mod observe;
mod relay;
pub(crate) mod setup;
mod store;

use std::{
    env,
    fs::File,
    io::{self, IsTerminal as _, Read as _},
    path::PathBuf,
    sync::Arc,
    thread,
};

use anyhow::Context as _;
use probity_containment::Quarantine;
use probity_proxy::{Limits, Options, SessionFigures, Sharing, Stopper, Usage, serve};
use probity_sandbox::workspace_root;
use probity_seat::{Sandbox, Seats, State};

use crate::{
    commands::exec,
    containment::{AgentProcess, Containment, Users},
    exit::Exit,
    name::Name,
    streams,
};
use agents::Agent;
use launch::{Direct, Sandboxed};
use observe::Watch;
use relay::Relay;
use store::Files;

/// What older clients take for a session that could not be made; ACP takes it for a missing login.
const NO_SESSION: i64 = -32000;
const INTERNAL: i64 = -32603;

/// Which agent stands behind the proxy.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The configured one where none is named.
    pub(crate) agent: Option<String>,
    /// What `auto` leaves to the configuration.
    pub(crate) sandbox: Sandbox,
    /// Where to write down what is said.
    pub(crate) trace: Option<PathBuf>,
    /// Whether changed files that tools run by themselves wait for `cai accept`.
    pub(crate) quarantine: bool,
    /// The terminal login to run instead.
    pub(crate) login: Option<Login>,
}

/// Which of an agent's terminal logins is meant.
#[derive(Debug)]
pub(crate) enum Login {
    /// The one that the agent names first.
    First,
    WithId(String),
}

pub(crate) fn run(name: Name, args: Request) -> anyhow::Result<Exit> {
    let Users { acp: settings, agent: usual, table, grants, terms } = Users::load()?;
    let agent = args.agent.unwrap_or_else(|| usual_agent(usual));
    let agent = Agent::find(name, &agent, &table)?;
    let seats = Seats::new(table, grants, None);
    let quarantine = Quarantine::of(args.quarantine);
    let sandboxed = |agent, seats| Sandboxed {
        agent,
        seats,
        sandbox: args.sandbox,
        terms: terms.clone(),
        settings: settings.clone(),
        quarantine,
    };
    if let Some(login) = args.login {
        let store = Files::new(State::find().as_ref().ok(), &agent);
        return login::run(&sandboxed(agent, seats), &store, &login);
    }
    if io::stdin().is_terminal() {
        tracing::warn!(
            "standard input is a terminal, but this command is for an editor; `probity acp setup \
             EDITOR` prints the editor's setting, and Ctrl-D ends this"
        );
    }
    let output = own_output().context("cannot take over standard output")?;
    let signals = exec::signals::catch()?;
    // Without a place for state the handshake still works, and sessions are those of this run.
    let state = State::find();
    if let Err(error) = &state {
        tracing::warn!("sessions cannot be resumed later: {error:#}");
    }
    let store = Files::new(state.as_ref().ok(), &agent);
    let relay = Arc::new(Relay::start());
    let watch = Watch::new(args.trace.as_deref(), Arc::clone(&relay))?;
    let options = Options {
        agent: agent.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sharing: match settings.process {
            AgentProcess::Session => Sharing::Session,
            AgentProcess::Workspace => Sharing::Workspace,
        },
        default_cwd: env::current_dir().ok(),
        start_failure_code: if name == Name::Probity { INTERNAL } else { NO_SESSION },
        logins: login::offered(&agent),
        limits: Limits::default(),
    };
    let launcher: Box<dyn probity_proxy::Launcher> = if agents::is_set("CAI_ACP_DIRECT_SPAWN") {
        Box::new(Direct::new(agent))
    } else {
        Box::new(sandboxed(agent, seats))
    };
    let ready = |stopper| stop_at(signals, stopper);
    let (store, watch) = (Box::new(store), Box::new(watch));
    let finished = serve(io::stdin(), Box::new(output), options, launcher, store, watch, ready);
    relay.finish();
    for session in &finished.sessions {
        tracing::info!("{}", figures(session));
    }
    Ok(Exit::Clean)
}

/// The agent that the configuration of the repository we are started in names, or the user's.
/// What cannot be read here is told when a session is made.
fn usual_agent(users: Option<String>) -> String {
    let configured = || {
        let root = workspace_root(&env::current_dir().ok()?).ok()?;
        Containment::load(&root, &State::find().ok()?).ok()?.agent
    };
    configured().or(users).unwrap_or_else(|| "claude".to_owned())
}

/// Standard output for the protocol alone; whatever else is printed goes to standard error.
fn own_output() -> io::Result<File> {
    let output = File::from(streams::stdout().descriptor().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(streams::stderr().descriptor())?;
    Ok(output)
}

/// A signal that would end us ends the agents first.
fn stop_at(mut signals: File, stopper: Stopper) {
    thread::spawn(move || {
        let mut number = [0];
        if signals.read_exact(&mut number).is_ok() {
            stopper.stop();
        }
    });
}

fn figures(session: &SessionFigures) -> String {
    let SessionFigures { session, lasted, prompts, sent, received, asked, usage } = session;
    let usage = usage.map_or_else(String::new, |Usage { cpu, memory }| {
        format!(", {:.1} s of CPU, {} MiB of memory", cpu.as_secs_f64(), memory >> 20)
    });
    format!(
        "session {session}: {:.1} s, {prompts} prompts, {} messages ({} bytes) to the agent, \
         {} messages ({} bytes) from it, {asked} questions to the editor{usage}",
        lasted.as_secs_f64(),
        sent.0,
        sent.1,
        received.0,
        received.1,
    )
}
