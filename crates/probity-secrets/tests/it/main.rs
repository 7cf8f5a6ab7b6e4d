//! What the crate promises, shown from outside.
//!
//! No whole token stands in these files: they are put together when the tests run, with valid
//! checksums, so that no scanner stumbles over the repository.

mod allowlist;
mod corpus;
mod forge;
mod genuine;
mod harmless;
mod limits;
mod linearity;
mod mask;
mod ranges;
mod tokenize;

use probity_secrets::{Detector, Options, Secret};

fn detector() -> Detector {
    Detector::new(&Options::default()).unwrap()
}

fn find(text: &str) -> Vec<Secret> {
    detector().find(text)
}
