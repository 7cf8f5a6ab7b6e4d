//! End-to-end tests: the built binary, run as a user would run it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod binary;
mod check;
mod configuration;
mod doctor;
mod exec;
mod failures;
mod fix;
mod formats;
mod hadolint;
mod help;
mod names;
mod oracle;
mod regressions;
mod secrets;
