//! The seat an agent sits in: one trait, one file per kind (ACP, chat APIs, command lines, recorded).
//!
//! **Invariant:** the only room with an HTTP client. No message of an agent leaves it unbounded,
//! and no key is ever logged.
