//! Which quoted words are taken for paths, and which links for files.

use std::fs;

use super::*;

/// A repository with a few files, and nothing that cargo would need.
fn with_workspace(show: impl Fn(&Workspace)) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let files = ["README.md", "docs/a.md", "docs/rules/b.md", "crates/x/src/lib.rs", "script/test"];
    for file in files {
        let path = directory.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, "").expect("written");
    }
    show(&Workspace {
        root: directory.path().to_path_buf(),
        members: Vec::new(),
        files: files.map(String::from).to_vec(),
        sources: Vec::new(),
    });
}

#[test]
fn a_quoted_path_of_ours_must_exist() {
    let missing = [
        ("docs/gone.md", "docs/gone.md"),
        ("crates/x/src/gone.rs:12", "crates/x/src/gone.rs"),
        ("crates/x/src/gone.rs:12:3", "crates/x/src/gone.rs"),
        ("./script/gone --all", "script/gone"),
        ("script/test/", "script/test/"),
        (".ci/gone.yml", ".ci/gone.yml"),
        ("y/src/lib.rs", "y/src/lib.rs"),
        ("docs/README.md", "docs/README.md"),
        ("docs/a.md/b", "docs/a.md/b"),
    ];
    with_workspace(|workspace| {
        for (quoted, path) in missing {
            assert_eq!(missing_quoted(workspace, quoted), Some(path), "{quoted}");
        }
    });
}

#[test]
fn what_exists_or_is_no_path_of_ours_is_left_alone() {
    let fine = [
        "docs/a.md",
        "docs/a.md#part",
        "docs/",
        "crates/x/src/lib.rs:12-14",
        "x/src/lib.rs",
        "src/lib.rs",
        "script/test --quick docs/gone.md",
        "probity check docs/gone.md",
        "tally/no-trailing-spaces",
        "buildkit/StageNameCasing",
        "hadolint/DL3006",
        "https://example.org/docs/gone.md",
        "session/new",
        "application/json",
        "/etc/passwd",
        "$HOME/docs/x.md",
        "docs/*.md",
        "docs/<name>.md",
        "docs/decisions/NNNN.md",
        "crates/NAME/tests/it/main.rs",
        "crates/x/src/rules/DIR",
        ".containai/config.toml",
        ".tx3/audit/state.json",
        "target/debug/probity",
        "../docs/gone.md",
        "crates/…",
        "README",
        "",
    ];
    with_workspace(|workspace| {
        for quoted in fine {
            assert_eq!(missing_quoted(workspace, quoted), None, "{quoted}");
        }
    });
}

#[test]
fn links_are_followed_from_the_document() {
    let cases = [
        ("README.md", "docs/a.md#part", None),
        ("README.md", "docs", None),
        ("README.md", "#part", None),
        ("README.md", "https://example.org/gone.md", None),
        ("README.md", "mailto:x@example.org", None),
        ("README.md", "docs/gone.md#part", Some("docs/gone.md")),
        ("docs/rules/b.md", "../a.md", None),
        ("docs/rules/b.md", "../../README.md", None),
        ("docs/rules/b.md", "/README.md", None),
        ("docs/rules/b.md", "a.md", Some("a.md")),
        ("docs/a.md", "../../README.md", Some("../../README.md")),
    ];
    with_workspace(|workspace| {
        for (document, target, expected) in cases {
            assert_eq!(missing_linked(workspace, document, target), expected, "{target}");
        }
    });
}
