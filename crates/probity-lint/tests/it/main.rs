//! Tests that need another process: steps are counted from outside.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod callgrind;
mod linear;
mod memory;
#[path = "../../../probity/tests/it/whole_corpus.rs"]
mod whole_corpus;
