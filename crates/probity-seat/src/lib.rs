//! Seats an agent: a reference and a policy in, a sandboxed launch or a typed reason out.
//!
//! Every command that starts an agent comes through here: `agent ask`, `agent list`, `audit`,
//! `review`, `check --fix-ai`, `acp`, its logins, and `exec`, whose code `acp` shares. What they do
//! differently is one row each in [`policy`](Caller::policy); how it is done is written once.
//!
//! **Invariant:** an agent gets the variables and login files of its own row, and of nobody else's.
//! What a sandboxed agent left in its home is read and written without following links. An agent that is
//! shown what others wrote, for a review, an audit or a fix, leaves nothing for the next session but a
//! login that it renewed.

mod containers;
mod environment;
mod error;
mod grants;
mod identity;
mod logins;
mod place;
mod placing;
mod policy;
mod programs;
mod renewed;
mod scratch;
mod shims;
mod state;
mod terms;

pub use error::Unseated;
pub use grants::Grants;
pub use identity::NamedBy;
pub use logins::LoginWatch;
pub use place::{Contained, Occupant, Request, Seated, Seats};
pub use policy::{Caller, ConfiguredBy, Form, Policy};
pub use programs::find as find_program;
pub use state::{State, StateError, hex};
pub use terms::{DEFAULT_IMAGE, Sandbox, Terms};
