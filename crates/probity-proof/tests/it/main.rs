//! Proofs as their users see them: real repositories, real runners, real verdicts.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set its stage fails there and then"
)]

mod aiken;
mod base;
mod corpus;
mod counts;
mod custom;
mod exploits;
mod fixes;
mod framework_sample;
mod frameworks;
mod go;
mod guard;
mod javascript;
mod maps;
mod misbehavior;
mod missing;
mod python;
mod repositories;
mod rust;
mod sample;
mod stage;
mod tools;
#[path = "../../../probity/tests/it/whole_corpus.rs"]
mod whole_corpus;
mod workshop;
