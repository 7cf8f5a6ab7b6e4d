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
    let files = [
        "deploy/Dockerfile",
        "deploy/Dockerfile.agents",
        "deploy/Dockerfile.ci-agent",
        "deploy/Dockerfile.release",
    ];
    let output = run.args(["--format", "json"]).args(files).run().code(0);
    assert!(output.stdout.contains("\"files_scanned\":4"), "{}", output.stdout);
}

#[test]
fn the_image_has_what_the_sandbox_needs_and_every_known_agent() {
    let text = probity().args(["agent", "image"]).run().code(0).stdout;
    let file = std::fs::read_to_string(root().join("deploy/Dockerfile.agents")).unwrap();
    assert_eq!(text, file);
    for words in ["git", "/home/agent", "USER 1000:1000"] {
        assert!(text.contains(words), "{words} is not in the image");
    }
    let output = probity().args(["agent", "list", "--format", "json"]).env("PATH", "").run();
    let page: serde_json::Value = serde_json::from_str(&output.code(0).stdout).unwrap();
    for agent in page["agents"].as_array().unwrap() {
        let install = agent["install"].as_str().unwrap();
        let is_package = |word: &&str| !["npm", "pip", "install", "-g"].contains(word);
        for package in install.split(' ').filter(is_package) {
            // Pinned, and not the beginning of another package's name.
            let (npm, pip) = (format!(" {package}@"), format!(" {package}=="));
            assert!(text.contains(&npm) || text.contains(&pip), "{package} is not in the image");
        }
    }
}
