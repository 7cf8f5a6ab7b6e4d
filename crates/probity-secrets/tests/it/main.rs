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

use std::sync::LazyLock;

use probity_secrets::{Detector, Options, Secret};

/// Built once: in a debug build that takes longer than most tests.
#[expect(clippy::unwrap_used, reason = "the tests cannot go on without one")]
fn detector() -> &'static Detector {
    static DETECTOR: LazyLock<Detector> =
        LazyLock::new(|| Detector::new(&Options::default()).unwrap());
    &DETECTOR
}

fn find(text: &str) -> Vec<Secret> {
    detector().find(text)
}
