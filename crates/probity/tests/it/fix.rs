//! `check --fix` and `--diff` through the binary: what is written, what is said, what is left.

mod broken;
mod cases;
mod foreign;
mod generated;
mod generator;
mod writing;

use std::fs;

use tempfile::TempDir;

use crate::binary::{Output, directory, probity};

/// Runs `check` with these arguments in a directory that has one Dockerfile.
fn check(text: &str, args: &[&str]) -> (TempDir, Output) {
    let dir = directory(&[("Dockerfile", text)]);
    let output = probity().dir(&dir).args(["check", "--format", "gnu"]).args(args).run();
    (dir, output)
}

fn text_of(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("Dockerfile")).unwrap()
}
