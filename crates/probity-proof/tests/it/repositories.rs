//! What git says, and what is copied, of repositories that are as they should be and of others.

use std::{fs, path::Path, process::Command};

use probity_proof::{GitError, GitFacts, NO_COMMIT, Note, Tree, change};
use tempfile::TempDir;

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn write(directory: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// `main` with two files, and a branch that changes one and adds one.
fn changed() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    write(dir.path(), &[("a.go", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"), ("b.go", "b\n")]);
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "first"]);
    git(dir.path(), &["checkout", "-qb", "topic"]);
    write(
        dir.path(),
        &[("a.go", "one\nTWO\nthree\nfour\nfive\nsix\nseven\n"), ("new ü.go", "n\n")],
    );
    git(dir.path(), &["rm", "-q", "b.go"]);
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "second"]);
    dir
}

#[test]
fn a_change_is_what_the_branch_did_since_it_began() {
    let dir = changed();
    git(dir.path(), &["checkout", "-q", "main"]);
    write(dir.path(), &[("c.go", "later on main\n")]);
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "main goes on"]);
    git(dir.path(), &["checkout", "-q", "topic"]);
    let change = change(dir.path(), "main").unwrap();
    let files: Vec<(&str, &[(u64, u64)])> =
        change.files.iter().map(|file| (file.path.as_str(), file.lines.as_slice())).collect();
    assert_eq!(files, [("a.go", &[(1, 5)][..]), ("new ü.go", &[(1, 1)])]);
    assert!(change.hunks.contains("-two\n+TWO"), "{}", change.hunks);
    assert_eq!(change.merge_base, git(dir.path(), &["rev-parse", "main~1"]));
    assert!(change.touches("a.go") && !change.touches("c.go"));
    assert!(change.brings("new ü.go") && !change.brings("a.go"));
}

#[test]
fn facts_name_the_code_and_say_what_is_odd() {
    let dir = changed();
    let facts = GitFacts::of(dir.path());
    assert_eq!(facts.commit, git(dir.path(), &["rev-parse", "HEAD"]));
    assert_eq!((facts.branch.as_str(), facts.notes.len()), ("topic", 0));
    // Without a remote a repository has the name of its directory, and is known by its first commit.
    assert_eq!(facts.repo, dir.path().file_name().unwrap().to_str().unwrap());
    assert_eq!(facts.identity, git(dir.path(), &["rev-list", "--max-parents=0", "HEAD"]));
    git(dir.path(), &["remote", "add", "origin", "https://u:pass@example.org/o/r.git"]);
    git(dir.path(), &["checkout", "-q", "--detach"]);
    write(dir.path(), &[("dirty.go", "d\n")]);
    let facts = GitFacts::of(dir.path());
    assert_eq!((facts.repo.as_str(), facts.branch.as_str()), ("example.org/o/r", "topic"));
    assert_eq!(facts.identity, facts.repo);
    assert_eq!(facts.notes, [Note::Dirty]);

    let empty = tempfile::tempdir().unwrap();
    let facts = GitFacts::of(empty.path());
    assert_eq!(facts.commit, NO_COMMIT);
    assert_eq!(facts.notes, [Note::NotARepository]);
    git(empty.path(), &["init", "-q"]);
    let facts = GitFacts::of(empty.path());
    assert_eq!(facts.notes, [Note::NoCommits]);
    assert_eq!(facts.branch, "main");
}

#[test]
fn what_cannot_be_compared_is_explained() {
    let dir = changed();
    for (base, says) in [
        ("nobody", "this clone has no branch or commit `nobody` or `origin/nobody`"),
        ("--output=/tmp/x", "`--output=/tmp/x` cannot be the name of a base"),
        ("a..b", "`a..b` cannot be the name of a base"),
        ("", "`` cannot be the name of a base"),
    ] {
        let error = change(dir.path(), base).unwrap_err();
        assert_eq!(error.to_string(), says);
    }
    let clone = tempfile::tempdir().unwrap();
    let from = format!("file://{}", dir.path().display());
    git(clone.path(), &["clone", "-q", "--depth=1", "--no-single-branch", &from, "."]);
    let error = change(clone.path(), "main").unwrap_err();
    assert!(matches!(error, GitError::NoMergeBase { shallow: true, .. }), "{error:?}");
    assert!(error.help().contains("--unshallow"), "{}", error.help());
    git(clone.path(), &["fetch", "-q", "--unshallow"]);
    // There is no branch `main` here, only the one of the origin.
    assert_eq!(change(clone.path(), "main").unwrap().files.len(), 2);

    // A clone of one branch: the command of the message brings the other.
    for (depth, base) in
        [("--depth=1", "main"), ("--depth=9", "main"), ("--depth=9", "origin/main")]
    {
        let clone = tempfile::tempdir().unwrap();
        git(clone.path(), &["clone", "-q", depth, "-b", "topic", &from, "."]);
        let error = change(clone.path(), base).unwrap_err();
        assert_eq!(error.to_string().matches("`origin/main`").count(), 1, "{error}");
        let help = error.help();
        let command = help.split('`').nth(1).unwrap().strip_prefix("git ").unwrap();
        git(clone.path(), &command.split(' ').collect::<Vec<_>>());
        assert_eq!(change(clone.path(), base).unwrap().files.len(), 2, "{help}");
    }

    let empty = tempfile::tempdir().unwrap();
    let none = change(empty.path(), "main");
    assert!(matches!(none, Err(GitError::NoRepository(_))), "{none:?}");
    git(empty.path(), &["init", "-q"]);
    assert_eq!(change(empty.path(), "main"), Err(GitError::NoCommits));
    git(dir.path(), &["checkout", "-q", "--orphan", "alone"]);
    git(dir.path(), &["commit", "-qm", "no ancestor"]);
    let error = change(dir.path(), "main").unwrap_err();
    assert!(matches!(error, GitError::NoMergeBase { shallow: false, .. }), "{error:?}");
}

#[test]
fn a_tag_takes_no_branchs_place() {
    let dir = changed();
    let clone = tempfile::tempdir().unwrap();
    for name in ["main", "origin/main", "done"] {
        git(dir.path(), &["tag", name, "HEAD"]);
    }
    let from = format!("file://{}", dir.path().display());
    git(clone.path(), &["clone", "-q", "-b", "topic", &from, "."]);
    for place in [dir.path(), clone.path()] {
        assert_eq!(change(place, "main").unwrap().files.len(), 2);
        assert_eq!(change(place, "done").unwrap().files.len(), 0);
    }
    assert_eq!(change(clone.path(), "origin/main").unwrap().files.len(), 2);
}

#[test]
fn git_runs_nothing_that_the_repository_or_the_caller_names() {
    let dir = changed();
    let mark = dir.path().join("mark");
    let script = dir.path().join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let program = script.to_str().unwrap();
    for (key, value) in [
        ("core.fsmonitor", program),
        ("diff.external", program),
        ("core.pager", program),
        ("diff.evil.textconv", program),
        ("diff.evil.command", program),
        ("filter.evil.clean", program),
        ("core.hooksPath", dir.path().to_str().unwrap()),
    ] {
        git(dir.path(), &["config", key, value]);
    }
    fs::write(dir.path().join(".gitattributes"), "*.go diff=evil filter=evil\n").unwrap();
    fs::write(dir.path().join("a.go"), "changed\n").unwrap();
    let facts = GitFacts::of(dir.path());
    assert_eq!(facts.notes.first(), Some(&probity_proof::Note::DirtyUnknown), "{facts:?}");
    assert_eq!(change(dir.path(), "main").unwrap().files.len(), 2);
    assert!(!mark.exists());
}

#[test]
fn a_copy_has_what_git_would_keep_and_nothing_of_git_itself() {
    let dir = changed();
    write(
        dir.path(),
        &[(".gitignore", "ignored/\n"), ("ignored/big", "x"), ("out/review.json", "{}")],
    );
    std::os::unix::fs::symlink("a.go", dir.path().join("inside")).unwrap();
    std::os::unix::fs::symlink("../../etc/passwd", dir.path().join("outside")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("absolute")).unwrap();
    let tree = Tree::of(dir.path(), Some(&dir.path().join("out"))).unwrap();
    let to = tempfile::tempdir().unwrap();
    tree.take(dir.path(), to.path()).unwrap();
    let mut names: Vec<String> = fs::read_dir(to.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".gitignore", "a.go", "inside", "new ü.go"]);
    fs::write(to.path().join("a.go"), "by the agent").unwrap();
    assert!(fs::read_to_string(dir.path().join("a.go")).unwrap().starts_with("one"));
}
