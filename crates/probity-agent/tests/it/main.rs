//! Agents as their callers see them, against servers and processes that are really there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acp;
mod ask;
mod called_off;
mod command;
mod command_lines;
mod contained;
mod errors;
mod extras;
mod limits;
mod network;
mod opened;
mod retries;
mod server;
mod wire;
