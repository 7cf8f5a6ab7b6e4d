//! Repositories that a sandboxed command made: moved away at its end, restored by `cai accept`.

use std::{fs, path::Path, process::Command};

use crate::{
    binary::{named, probity},
    exec::Stage,
};

/// Runs git on the host.
fn git(at: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(at).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const MAKE: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
    GIT_COMMITTER_EMAIL=a@b; git init -q new && cd new && echo x > file && git add . && \
    git commit -qm made && git remote add origin https://host/x && \
    git config core.fsmonitor \"touch $PWD/../marker; false\" && \
    printf '#!/bin/sh\\ntouch %s/../marker\\n' \"$PWD\" > .git/hooks/post-checkout && \
    chmod +x .git/hooks/post-checkout && mkdir ../worktree && \
    echo 'gitdir: /etc' > ../worktree/.git; mkdir -p ../bare/objects ../bare/refs && \
    echo 'ref: refs/heads/main' > ../bare/HEAD";

#[test]
fn a_new_repository_is_moved_away_and_accepted_without_its_programs() {
    let stage = Stage::new(&[]);
    let root = stage.repository.path();
    let exec = ["exec", "--sandbox", "bwrap", "--", "sh", "-c", MAKE];
    let output = stage.place(probity()).args(exec).run().code(0);
    for moved in ["new/.git", "worktree/.git", "bare/HEAD"] {
        assert!(root.join(moved).symlink_metadata().is_err(), "{moved} stayed: {}", output.stderr);
        assert!(output.stderr.contains(&format!("{moved}: a ")), "{}", output.stderr);
    }
    assert!(output.stderr.contains("`cai accept`"), "{}", output.stderr);
    assert!(root.join("new/file").exists() && root.join("bare/objects").exists());

    // Nothing collects it.
    stage.place(named("cai")).args(["gc"]).run().code(0);
    let list = stage.place(named("cai")).args(["accept", "--list"]).run().code(0);
    assert_eq!(list.stdout.lines().count(), 3, "{}", list.stdout);

    let accepted = stage.place(named("cai")).args(["accept"]).run().code(2);
    assert!(accepted.stderr.contains("worktree/.git: leads to"), "{}", accepted.stderr);
    assert!(root.join("worktree/.git").symlink_metadata().is_err());
    assert!(root.join("bare/HEAD").exists());
    let new = root.join("new");
    assert_eq!(git(&new, &["log", "--format=%s"]), "made\n");
    assert_eq!(git(&new, &["status", "--porcelain"]), "");
    assert_eq!(git(&new, &["config", "remote.origin.url"]), "https://host/x\n");
    git(&new, &["checkout", "-q", "-b", "other"]);
    assert!(
        !root.join("marker").exists(),
        "{}",
        fs::read_to_string(new.join(".git/config")).unwrap()
    );
    // What is there when a session begins stays at its end.
    let again = ["exec", "--sandbox", "bwrap", "--", "true"];
    let output = stage.place(probity()).args(again).run().code(0);
    assert_eq!(output.stderr, "");
    assert!(new.join(".git").exists());
}
