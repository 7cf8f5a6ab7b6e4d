//! The ACP wire: bounded NDJSON frames, JSON-RPC ids, the client, recording and replay.
//!
//! **Invariant:** knows no capability and no HTTP. No line is read without a limit, and what is not
//! understood is kept as it came.
