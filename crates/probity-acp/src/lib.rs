//! The ACP wire: bounded NDJSON frames, JSON-RPC ids, the client, recording and replay.
//!
//! **Invariant:** knows no capability and no HTTP. No line is read without a limit, and what is not
//! understood is kept as it came.

mod client;
mod envelope;
mod frame;
mod id_map;
mod recording;
mod replay;
mod splice;

pub use client::{
    AgentInfo, AuthMethod, Cause, Client, ClientError, ClientName, Denied, Limits, Phase, Session,
    StopReason, Tap, Tokens, Turn, Usage,
};
pub use envelope::{Envelope, Id, Kind, Outcome};
pub use frame::{FrameReader, FrameWriter, LINE_LIMIT, Skipped};
pub use id_map::IdMap;
pub use recording::{Recorder, Side};
pub use replay::{Ended, HostAction, Mode, ReplayError, Script, ScriptError, replay};
pub use splice::{Splice, find};
