//! The wire, driven through its front door on in-memory pipes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod denials;
mod frames;
mod limits;
mod recordings;
mod replays;
mod schema;
mod splices;
mod turns;
