//! The language server: documents, requests, conversions.
//!
//! The protocol's types and its positions stay in this crate. Whatever reads a file, looks at a
//! process or asks an agent is asked of the binary through [`Host`].
//!
//! **Invariant:** findings come from [`Host::check`], the same function that `probity check` uses.
//! A request never starts an agent, except the resolution of an action that a person has chosen.

mod capabilities;
mod client;
mod document;
mod features;
mod frame;
mod host;
mod lines;
mod server;
mod uri;

pub use crate::{
    host::{
        AiAnswer, AiRequest, AiWatch, ConfigFile, ConfigProblem, DocumentKind, Host, Report,
        RuleName, Subject,
    },
    server::{ServerEnd, serve},
};
