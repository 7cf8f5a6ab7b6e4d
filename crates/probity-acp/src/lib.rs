//! The ACP wire: bounded NDJSON frames, JSON-RPC ids, the client, recording and replay.
//!
//! **Invariant:** knows no capability and no HTTP. No line is read without a limit, and what is not
//! understood is kept as it came.
//!
//! A client and a scripted agent, joined by pipes:
//!
//! ```
//! use std::time::Duration;
//! use probity_acp::{Client, ClientName, Limits, Mode, Script, replay};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = Script::parse(
//!     r#"{"on":"session/prompt"}
//!        {"say":"you said: ${prompt}"}
//!        {"answer":{"stopReason":"end_turn"}}"#,
//! )?;
//! let (output, agent_output) = std::io::pipe()?;
//! let (agent_input, input) = std::io::pipe()?;
//! std::thread::spawn(move || {
//!     replay(&script, agent_input, agent_output, Mode::Lenient, &mut |_| Ok(()))
//! });
//!
//! let who = ClientName { name: "example", version: "1" };
//! let limits = Limits::within(Duration::from_secs(60));
//! let mut client = Client::connect(output, input, who, limits, None)?;
//! let session = client.open_session("/work")?;
//! let turn = client.prompt(&session, "hello")?;
//! assert_eq!(turn.text, "you said: hello");
//! client.close()?;
//! # Ok(())
//! # }
//! ```
//!
//! Relaying a message under another session id, every other byte as it came:
//!
//! ```
//! use probity_acp::{FrameReader, FrameWriter, Splice};
//!
//! # fn main() -> std::io::Result<()> {
//! let line = &br#"{"method":"session/update","params":{"n":1e2,"sessionId":"0"}}"#[..];
//! let mut reader = FrameReader::new(std::io::Read::chain(line, &b"\n"[..]));
//! let mut writer = FrameWriter::new(Vec::new());
//! while let Some(message) = reader.read()? {
//!     let mut splice = Splice::new(&message);
//!     splice.replace("params.sessionId", |raw| (raw == "\"0\"").then(|| "\"a-0\"".to_owned()));
//!     writer.write(&splice.finish())?;
//! }
//! let written = String::from_utf8_lossy(&writer.into_inner()).into_owned();
//! assert_eq!(written, "{\"method\":\"session/update\",\"params\":{\"n\":1e2,\"sessionId\":\"a-0\"}}\n");
//! # Ok(())
//! # }
//! ```

mod client;
mod envelope;
mod frame;
mod id_map;
mod recording;
mod replay;
mod splice;

pub use client::{
    AgentInfo, AuthMethod, Canceller, Cause, Client, ClientError, ClientName, Denied, FileRefusal,
    Files, Limits, Phase, ServeFiles, Session, StopReason, Tap, Tokens, Turn, Usage,
};
pub use envelope::{Envelope, Id, MessageKind, Outcome};
pub use frame::{Broken, Frame, FrameReader, FrameWriter, LINE_LIMIT, Skipped};
pub use id_map::IdMap;
pub use recording::{Recorder, Side};
pub use replay::{
    HostAction, Mode, ReplayEnd, ReplayError, Script, ScriptError, ScriptFault, replay,
};
pub use splice::{Places, Splice, find};
