//! The contract of a process, shown on real ones, in every backend.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set its stage fails there and then"
)]

mod conformance;
mod containment;
mod death;
mod ends;
mod engines;
mod escapes;
mod landlock;
mod limits;
mod machine;
mod reach;
mod repositories;
mod stage;
mod worktrees;
