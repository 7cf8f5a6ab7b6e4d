//! A review of a repository whose own settings run programs: none of them does.

use std::fs;

use serde_json::json;

use crate::{
    binary::probity,
    review::{commit, findings, git, recorded, repository},
};

/// Settings, and what chooses them.
const ROWS: &[(&str, &str)] = &[
    ("filter.a.smudge", "*.js filter=a"),
    ("filter.b.clean", "*.json filter=b"),
    ("filter.c.process", "*.md filter=c"),
    ("diff.d.textconv", "*.js diff=d"),
    ("diff.e.command", "*.json diff=e"),
    ("diff.external", ""),
    ("core.fsmonitor", ""),
    ("core.pager", ""),
    ("credential.helper", ""),
];

#[test]
fn a_review_runs_nothing_that_the_repository_names() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let ran = |index: usize| place.path().join(format!("ran-{index}"));
    let attributes: Vec<&str> = ROWS.iter().map(|(_, attributes)| *attributes).collect();
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
    for (index, (key, _)) in ROWS.iter().enumerate() {
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
    let names = ROWS.iter().map(|(key, _)| *key).chain(["hooks"]);
    let ran: Vec<&str> =
        names.enumerate().filter(|(index, _)| ran(*index).exists()).map(|(_, name)| name).collect();
    assert_eq!(ran, [] as [&str; 0]);
}
