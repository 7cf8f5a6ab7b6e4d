//! A review as a whole: its documents, repositories, claims, and what becomes of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its stage fails there and then")]

mod answers;
mod configuration;
mod documents;
mod history;

mod reviewing;
mod scores;
