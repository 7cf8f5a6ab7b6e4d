//! End-to-end tests: the built binary, run as a user would run it.

mod binary;
mod check;
mod configuration;
mod failures;
mod formats;
mod help;
mod names;
