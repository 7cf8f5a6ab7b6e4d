//! `--login [ID]`: a login in a terminal, as the agent describes it, run where the agent runs.

use std::{
    env,
    path::Path,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use probity_acp::{Envelope, FrameReader, FrameWriter, MessageKind, Outcome};
use probity_proxy::{
    Launcher as _, Logins, Started, Store as _, TerminalLogin, terminal_login, terminal_logins,
};

use super::{Login, agents::Agent, launch::Sandboxed, store::Files};
use crate::{exit::Exit, failure::Failure, name::Name};

/// How long an agent may take to start and to say which logins it has.
const PATIENCE: Duration = Duration::from_secs(120);

/// What we can do as the client that asks an agent for its logins.
const CLIENT: &str = r#"{"auth":{"terminal":true},"_meta":{"terminal-auth":true}}"#;

pub(super) fn run(agent: &Sandboxed, store: &Files, wanted: &Login) -> anyhow::Result<Exit> {
    let cwd = env::current_dir()?;
    let known = store.capabilities(CLIENT).and_then(|answer| chosen(&answer, wanted));
    let login = match known {
        Some(login) => login,
        None => {
            let answer = asked(agent, store, &cwd)?;
            chosen(&answer, wanted).ok_or_else(|| missing(&answer, wanted))?
        }
    };
    agent.log_in(&cwd, login)
}

fn chosen(answer: &str, wanted: &Login) -> Option<TerminalLogin> {
    match wanted {
        Login::WithId(id) => terminal_login(answer, id),
        Login::First => {
            let ids = terminal_logins(answer);
            let (first, others) = ids.split_first()?;
            if !others.is_empty() {
                tracing::warn!(
                    "this is the login `{first}`; the agent also has `{}`, which `--login ID` runs",
                    others.join("`, `")
                );
            }
            terminal_login(answer, first)
        }
    }
}

fn missing(answer: &str, wanted: &Login) -> Failure {
    let what = match wanted {
        Login::First => "the agent has no login for a terminal".to_owned(),
        Login::WithId(id) => format!("the agent has no terminal login `{id}`"),
    };
    let ids = terminal_logins(answer);
    let way_out = if ids.is_empty() {
        "choose a login in your editor, or set the variable of the agent's key; `probity agent \
         list` shows it"
            .to_owned()
    } else {
        format!("its terminal logins are `{}`", ids.join("`, `"))
    };
    Failure::new(what, way_out)
}

/// What an editor may be told about logins of this agent.
pub(super) fn offered(agent: &Agent) -> Logins {
    let command = own_command(&agent.name).unwrap_or_default();
    Logins { command, variables: agent.variables.clone() }
}

/// The command that starts us for this agent.
fn own_command(agent: &str) -> Option<Vec<String>> {
    let program = env::current_exe().ok()?;
    let words: &[&str] = match Name::from_argv0(program.as_os_str()) {
        Name::Cai => &["--acp"],
        Name::AcpProxy => &[],
        _ => &["acp"],
    };
    let words = std::iter::once(program.to_str()?).chain(words.iter().copied()).chain([agent]);
    Some(words.map(str::to_owned).collect())
}

/// The agent's own answer to `initialize`.
fn asked(agent: &Sandboxed, store: &Files, cwd: &Path) -> anyhow::Result<String> {
    let Started { stdin, stdout, stderr: _stderr, process } =
        agent.start(&agent.workspace(cwd, &[])?).context(Failure::new(
            "cannot ask the agent for its logins",
            "`probity agent list` shows which agents start here, and how to install the others",
        ))?;
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{CLIENT}}}}}"#
    );
    thread::scope(|scope| {
        let (answered, waiting) = channel::<()>();
        let process = &process;
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                process.kill();
            }
        });
        let mut writer = FrameWriter::new(stdin);
        writer.write(&request)?;
        let mut reader = FrameReader::new(stdout);
        while let Some(message) = reader.read()? {
            if let Some(answer) = result_of(&message) {
                drop(answered);
                store.keep_capabilities(CLIENT, &answer);
                return Ok(answer);
            }
        }
        let way_out = "`probity doctor` shows whether the agent is installed";
        Err(Failure::new("the agent ended without an answer to `initialize`", way_out).into())
    })
}

/// The result in an answer. An error has none, and the agent's end follows.
fn result_of(message: &Envelope<'_>) -> Option<String> {
    match message.kind() {
        MessageKind::Response { id: Some(_), outcome: Outcome::Result(result) } => {
            Some(result.to_owned())
        }
        MessageKind::Response { id: Some(_), outcome: Outcome::Error(_) } => Some("{}".to_owned()),
        _ => None,
    }
}
