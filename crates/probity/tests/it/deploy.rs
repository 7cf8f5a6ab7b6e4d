//! The image files that we ship: clean by our own measure, with what they promise in them.

use std::path::{Path, PathBuf};

use crate::binary::probity;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_image_files_have_no_finding() {
    let run = probity().dir(root()).args([
        "check",
        "--no-config",
        "--preset",
        "all",
        "--fail-level",
        "style",
    ]);
    let files = ["deploy/Dockerfile", "deploy/Dockerfile.agents", "deploy/Dockerfile.ci-agent"];
    let output = run.args(["--format", "json"]).args(files).run().code(0);
    assert!(output.stdout.contains("\"files_scanned\":3"), "{}", output.stdout);
}

#[test]
fn the_image_has_what_the_sandbox_needs_and_the_agents_that_are_known() {
    let text = std::fs::read_to_string(root().join("deploy/Dockerfile.agents")).unwrap();
    for words in
        ["claude-agent-acp", "codex-acp", "gemini-cli", "git", "/home/agent", "USER 1000:1000"]
    {
        assert!(text.contains(words), "{words} is not in the image");
    }
}
