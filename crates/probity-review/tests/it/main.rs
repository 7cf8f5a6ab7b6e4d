//! The one test binary of this crate.

mod answers;
mod configuration;
mod documents;
mod repositories;
mod scores;
