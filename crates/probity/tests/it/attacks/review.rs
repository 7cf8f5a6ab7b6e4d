//! A review of a repository whose own settings run programs: none of them does.

use std::fs;

use serde_json::json;

use crate::{
    binary::probity,
    review::{commit, findings, git, recorded, repository},
};

/// Settings, what chooses them, and why they did not run before, if they did not.
const ROWS: &[(&str, &str, Option<&str>)] = &[
    ("filter.a.smudge", "*.js filter=a", None),
    ("filter.b.clean", "*.json filter=b", Some("trees with filters were not compared")),
    ("filter.c.process", "*.md filter=c", None),
    ("diff.d.textconv", "*.js diff=d", Some("git diff had --no-textconv")),
    ("diff.e.command", "*.json diff=e", Some("git diff had --no-ext-diff")),
    ("diff.external", "", Some("git diff had --no-ext-diff")),
    ("core.fsmonitor", "", Some("core.fsmonitor was overridden")),
    ("core.pager", "", Some("git had --no-pager")),
    ("credential.helper", "", Some("a review fetches nothing")),
];

#[test]
fn a_review_runs_nothing_that_the_repository_names() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let ran = |index: usize| place.path().join(format!("ran-{index}"));
    let attributes: Vec<&str> = ROWS.iter().map(|(_, attributes, _)| *attributes).collect();
    fs::write(repo.path().join(".gitattributes"), attributes.join("\n")).unwrap();
    fs::write(repo.path().join("notes.md"), "one\n").unwrap();
    commit(repo.path());
    git(repo.path(), &["checkout", "-q", "-b", "topic"]);
    for file in ["src/numbers.js", "notes.md"] {
        let path = repo.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("// changed\n{text}")).unwrap();
    }
    commit(repo.path());
    for (index, (key, ..)) in ROWS.iter().enumerate() {
        let command = format!("touch {}; cat", ran(index).display());
        // Half of them in an included file.
        let file = if index % 2 == 0 { ".git/config" } else { "included" };
        git(repo.path(), &["config", "--file", file, key, &command]);
    }
    git(repo.path(), &["config", "include.path", "../included"]);
    let hooks = repo.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let hook = format!("#!/bin/sh\ntouch {}\n", ran(ROWS.len()).display());
    for name in ["post-checkout", "post-index-change", "reference-transaction"] {
        fs::write(hooks.join(name), &hook).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(hooks.join(name), executable).unwrap();
    }
    let mut claims = findings();
    claims[0]["line"] = json!(5);
    let agent = recorded(place.path(), &json!([claims[0]]).to_string());
    let out = place.path().join("review");
    let run = probity().args(["review", "--agent", &agent, "--diff-only", "--base", "main"]);
    let output = run
        .args(["--threshold", "0", "--output", out.to_str().unwrap()])
        .env("XDG_STATE_HOME", place.path().join("state").to_str().unwrap())
        .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
        .dir(repo.path())
        .run();
    let page = fs::read_to_string(out.join("review.json")).unwrap_or_default();
    assert!(page.contains("\"introduced\""), "the base was written out: {}{page}", output.stderr);
    let hooks = ("hooks", Some("core.hooksPath was overridden"));
    let rows = ROWS.iter().map(|(key, _, held)| (*key, *held)).chain([hooks]);
    let ran = rows.enumerate().filter(|(index, _)| ran(*index).exists());
    assert_eq!(ran.map(|(_, row)| row).collect::<Vec<_>>(), []);
}
