//! The library as the binary uses it: real directories, scripted models.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audits;
mod coverage;
mod examples;
mod heuristic;
mod model;
mod odd_files;
mod previous;
mod project;
mod proving;
mod second_opinions;
mod tools;
