//! The rules, their registry, suppression, and the loop that fixes until nothing changes.
//!
//! **Invariant:** text in, values out; pure and synchronous. Rules never read a file, never wait
//! and never know each other: what two rules need is a fact of probity-dockerfile.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-lint is pure"))]
