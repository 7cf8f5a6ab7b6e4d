//! What the parser makes of Dockerfiles, seen from outside.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its own case has failed")]

mod acceptance;
mod buildkit;
mod errors;
mod facts;
mod fuzz_driver;
mod invariants;
mod limits;
mod lossless;
mod packages;
mod spans;
