//! The ACP wire: bounded NDJSON frames, JSON-RPC ids, the client, recording and replay.
//!
//! **Invariant:** knows no capability and no HTTP. No line is read without a limit, and what is not
//! understood is kept as it came.

mod envelope;
mod frame;
mod id_map;
mod splice;

pub use envelope::{Envelope, Id, Kind, Outcome};
pub use frame::{FrameReader, FrameWriter, LINE_LIMIT, Skipped};
pub use id_map::IdMap;
pub use splice::{Splice, find};
