//! The seat an agent sits in: one trait, one file per kind (ACP, chat APIs, command lines, recorded).
//!
//! Everything here blocks, and is meant to be called from plain threads; only a question to a chat
//! API starts a runtime, for as long as the question lasts.
//!
//! **Invariant:** the only room with an HTTP client. No message of an agent leaves it unbounded,
//! and no key is ever logged.

mod acp;
mod agent;
mod bounded;
mod cancel;
mod chat;
mod command;
mod error;
mod known;
mod open;
mod process;
mod reference;
mod seat;
mod transcript;
mod words;

pub use crate::{
    acp::{AcpAgent, AcpTap},
    agent::{Agent, Answer, Limits, StopReason, Turn, Usage},
    cancel::Cancel,
    chat::{
        ApiKey, ChatAgent, ChatKind, ChatOptions, ChatProvider, ChatWarning, OnRefused, Part,
        Refused, Retry, Schema,
    },
    command::{CommandAgent, CommandOptions},
    error::{AgentError, Cause, Phase},
    known::{AgentTable, CommandLine, Granted, KnownAgent, is_program},
    open::{Interface, OpenOptions, open},
    reference::{AgentRef, RefError},
    seat::{Seat, StderrTap},
    words::{WordsError, join_words, split_words},
};
pub use probity_acp::{FileRefusal, Files, ServeFiles, Side};
