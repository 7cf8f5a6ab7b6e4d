//! The language server through the real binary, by a client that speaks over its pipes.
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

mod actions;
mod agents;
pub(crate) mod client;
mod completion;
mod diagnostics;
mod documents;
mod lifecycle;
mod memory;
mod neovim;
mod reading;
mod settings;
mod sync;
mod vscode;
