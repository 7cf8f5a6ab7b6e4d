//! Shell text in; commands, words and findings with spans out.
//!
//! The only room that knows the shell parser crate: no type of it leaves here, so that the parser
//! can be replaced without touching a rule.
//!
//! **Invariant:** broken shell is a value with spans, never a failure. This crate opens no file,
//! reads no variable of the environment and starts no process.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-shell is pure"))]
