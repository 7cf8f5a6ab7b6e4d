//! The ACP terminating proxy: an editor on one side, contained agents on the other.
//!
//! Blocking threads carry the data: one reads what the editor writes, and each agent has one that
//! reads what it writes and hands it to the editor under one lock. A stalled editor thereby stops
//! the agents, in bounded memory; a stalled agent has a queue of its own and stops nobody else.
//!
//! **Invariant:** the fields it knows are rewritten in place and everything else, unknown methods
//! and fields included, is forwarded byte for byte.
//!
//! **Invariant:** no thread holds a lock while it waits for an agent to read or to start.

mod broken;
mod close;
mod connection;
mod editor;
mod figures;
mod from_agent;
mod from_editor;
mod handshake;
mod introduction;
mod launcher;
mod literal;
mod login;
mod message;
mod options;
mod proxy;
mod rewrite;
mod serve;
mod start;
mod store;
mod table;
mod workspace;

pub use figures::{SessionFigures, Usage};
pub use launcher::{LaunchError, Launcher, Process, Started};
pub use login::{Logins, TerminalLogin, terminal_login, terminal_logins};
pub use options::{Limits, Options, Sharing};
pub use probity_acp::Side;
pub use serve::{Finished, Stopper, serve};
pub use store::{Observer, SessionRecord, Store};
pub use workspace::{INSIDE, Workspace};
