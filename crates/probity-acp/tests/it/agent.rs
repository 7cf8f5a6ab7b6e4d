//! A scripted agent on a thread, and clients for it.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use probity_acp::{
    Client, ClientError, ClientName, Limits, Mode, ReplayEnd, ReplayError, Script, Side, Tap,
    replay,
};
use serde_json::Value;

/// The client's ends of the pipes, and the agent that has the others.
pub(crate) struct Agent {
    pub(crate) output: PipeReader,
    pub(crate) input: PipeWriter,
    pub(crate) thread: JoinHandle<Result<ReplayEnd, ReplayError>>,
}

pub(crate) fn agent(script: &str) -> Agent {
    agent_in(Mode::Lenient, script)
}

pub(crate) fn agent_in(mode: Mode, script: &str) -> Agent {
    let script = Script::parse(script).unwrap();
    let (output, agent_output) = io::pipe().unwrap();
    let (agent_input, input) = io::pipe().unwrap();
    let thread =
        thread::spawn(move || replay(&script, agent_input, agent_output, mode, &mut |_| Ok(())));
    Agent { output, input, thread }
}

/// Limits that no test reaches unless it sets one of them.
pub(crate) fn limits() -> Limits {
    Limits::within(Duration::from_secs(60))
}

pub(crate) const WHO: ClientName<'_> = ClientName { name: "probity", version: "0" };

/// A client, all messages that went either way, and the agent's thread.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) messages: Messages,
    pub(crate) thread: JoinHandle<Result<ReplayEnd, ReplayError>>,
}

pub(crate) fn connect(script: &str, limits: Limits) -> Result<Connected, ClientError> {
    let Agent { output, input, thread } = agent(script);
    let (messages, tap) = tap();
    let client = Client::connect(output, input, WHO, limits, Some(tap))?;
    Ok(Connected { client, messages, thread })
}

/// One prompt in one session, and the connection as it is afterwards.
pub(crate) fn ask(
    script: &str,
    limits: Limits,
) -> (Result<probity_acp::Turn, ClientError>, Connected) {
    let mut connected = connect(script, limits).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    let turn = connected.client.prompt(&session, "do it");
    (turn, connected)
}

#[derive(Clone, Default)]
pub(crate) struct Messages(Arc<Mutex<Vec<(Side, String)>>>);

impl Messages {
    pub(crate) fn from(&self, side: Side) -> Vec<Value> {
        let messages = self.0.lock().unwrap();
        let of_side = messages.iter().filter(|(from, _)| *from == side);
        of_side.map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        let methods = self.from(Side::Client).into_iter();
        methods.filter_map(|message| Some(message.get("method")?.as_str()?.to_owned())).collect()
    }
}

pub(crate) fn tap() -> (Messages, Tap) {
    let messages = Messages::default();
    let shared = messages.clone();
    (messages, Box::new(move |side, text| shared.0.lock().unwrap().push((side, text.to_owned()))))
}
