//! The one test binary of this crate.

mod answers;
mod configuration;
mod documents;
mod history;
mod repositories;
mod scores;
