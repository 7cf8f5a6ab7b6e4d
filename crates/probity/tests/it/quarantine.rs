//! Repositories that a sandboxed command made: moved away at its end, restored by `cai accept`.

use std::{fs, path::Path, process::Command};

use crate::{
    binary::{named, probity, stable},
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
    }
    insta::assert_snapshot!(stable(&output.stderr), @"
    warning: [dir]/new/.git: a new git repository was moved to [dir]/probity/quarantine/1/item; `cai accept` restores it without hooks and settings that run programs
    warning: [dir]/bare/HEAD: a HEAD file that makes its directory a git repository was moved to [dir]/probity/quarantine/2/item; `cai accept` restores it without hooks and settings that run programs
    warning: [dir]/worktree/.git: a new git repository was moved to [dir]/probity/quarantine/3/item; `cai accept` restores it without hooks and settings that run programs
    ");
    assert!(root.join("new/file").exists() && root.join("bare/objects").exists());

    // Nothing collects it.
    stage.place(named("cai")).args(["gc"]).run().code(0);
    let list = stage.place(named("cai")).args(["accept", "--list"]).run().code(0);
    assert_eq!(list.stdout.lines().count(), 3, "{}", list.stdout);

    let accepted = stage.place(named("cai")).args(["accept"]).run().code(2);
    insta::assert_snapshot!(stable(&accepted.stderr), @"
    warning: [dir]/worktree/.git: leads to a git directory that is not its own; it stays in [dir]/probity/quarantine/3/item
    error: 1 of 3 stayed in quarantine
      help: copy what you need, then `cai accept --drop ITEM` deletes the rest
    ");
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

/// Files of a real repository with one commit, beside the user's directories.
fn repository(files: &[(&str, &str)]) -> Stage {
    let stage = Stage::new(files);
    let root = stage.repository.path();
    fs::remove_dir_all(root.join(".git")).unwrap();
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "."]);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git(root, &[&identity[..], &["commit", "-qm", "first"]].concat());
    stage
}

#[test]
fn a_working_tree_that_was_made_inside_is_accepted_with_paths_of_the_host() {
    let stage = repository(&[("file", "x\n")]);
    let root = stage.repository.path().canonicalize().unwrap();
    let evil = "git worktree add -q wt && d=.git/worktrees/wt && mkdir -p evil/objects evil/refs && \
        printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch %s/marker\\n' \"$CAI_HOST_WORKSPACE\" \
        > evil/config && cp evil/config $d/config.worktree && echo \"$CAI_HOST_WORKSPACE/evil\" > $d/commondir";
    let output = stage.shell(evil).run().code(0);
    assert!(!root.join("wt/.git").exists(), "{}", output.stderr);
    stage.place(named("cai")).args(["accept"]).run().code(0);
    let tree = root.join("wt");
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    assert_eq!(git(&tree, &["log", "--format=%s"]), "first\n");
    let listed = git(&root, &["worktree", "list"]);
    assert!(listed.contains(tree.to_str().unwrap()) && !listed.contains("prunable"), "{listed}");
    assert!(!root.join("marker").exists());
}

/// Restoring one thing, deleting another, and what is refused has a way out.
#[test]
fn items_are_accepted_or_dropped_by_path_or_number() {
    let stage = Stage::new(&[("real/x", "")]);
    let root = stage.repository.path();
    std::os::unix::fs::symlink("real", root.join("hooks")).unwrap();
    fs::write(root.join(".git/config"), "[core]\n\thooksPath = hooks\n").unwrap();
    let make = "git init -q one; git init -q two; git init -q three; rm hooks; mkdir hooks";
    let output = stage.shell(make).run().code(0);
    assert!(output.stderr.contains("the link is back in its place"), "{}", output.stderr);
    let accept = |args: &[&str]| stage.place(named("cai")).args(["accept"]).args(args).run();
    let list = || accept(&["--list"]).code(0).stdout;
    assert_eq!(list().lines().count(), 4, "{}", list());
    accept(&["one/.git"]).code(0);
    assert!(root.join("one/.git").exists() && !root.join("two/.git").exists());
    for wrong in [&["--drop"][..], &["--drop", "nothing"], &["one/.git"], &["--all"]] {
        assert_ne!(accept(wrong).code, Some(0), "{wrong:?}");
    }
    assert_eq!(list().lines().count(), 3, "{}", list());
    // By the number that the list shows.
    let shown = list();
    let line = shown.lines().find(|line| line.contains("two/.git")).unwrap();
    let number = line.rsplit('/').nth(1).unwrap();
    accept(&["--drop", number]).code(0);
    assert!(!list().contains("two/.git") && !root.join("two/.git").exists(), "{}", list());
    let refused = accept(&[]);
    assert_ne!(refused.code, Some(0));
    insta::assert_snapshot!(stable(&refused.stderr), @"
    warning: [dir]/hooks: the link that was there before stays; it stays in [dir]/probity/quarantine/1/item
    error: 1 of 2 stayed in quarantine
      help: copy what you need, then `cai accept --drop ITEM` deletes the rest
    ");
    assert!(root.join("three/.git").exists(), "what can be accepted is");
    accept(&["--drop", "--all"]).code(0);
    assert_eq!(list(), "nothing of this workspace is in quarantine\n");
}

#[test]
fn a_directory_around_a_repository_is_renamed_without_an_alarm() {
    for make in [
        "git init -q a/b/c",
        "git init -q --separate-git-dir store a/b/c",
        "git init -q a/store; mkdir -p a/b/c; ln -s ../../store/.git a/b/c/.git",
        "git init -q a/b/c; mkdir a/b/c/.husky; git -C a/b/c config core.hooksPath .husky; \
         ln -s x a/b/c/.husky/pre-commit",
    ] {
        let stage = repository(&[("file", "x\n")]);
        let root = stage.repository.path();
        let made = Command::new("sh").args(["-c", make]).current_dir(root).status().unwrap();
        assert!(made.success(), "{make}");
        // A directory on the way to something protected cannot be renamed, which is not an alarm.
        let output = stage.shell("mv a moved || true").run().code(0);
        assert!(!output.stderr.contains("warning"), "{make}: {}", output.stderr);
    }
}

#[test]
fn commits_inside_have_the_users_name() {
    let stage = repository(&[("file", "x\n")]);
    let root = stage.repository.path().canonicalize().unwrap();
    let home = crate::binary::directory(&[]);
    let home_config = |text: &str| fs::write(home.path().join(".gitconfig"), text).unwrap();
    fs::write(home.path().join("work"), "[user]\n\temail = me@work\n").unwrap();
    let commit = || {
        let script =
            "git commit -q --allow-empty -m x && git log -1 --format='%an <%ae> %cn <%ce>'";
        let run = stage.shell(script).env("HOME", home.path().to_str().unwrap());
        let output = run.run();
        if output.code == Some(0) { output.stdout } else { "refused".to_owned() }
    };
    assert_eq!(commit(), "refused", "nobody has said who commits");
    home_config("[user]\n\tname = Me\n\temail = me@home\n");
    assert_eq!(commit(), "Me <me@home> Me <me@home>\n");
    let parent = root.parent().unwrap().display().to_string();
    home_config(&format!(
        "[user]\n\tname = Me\n\temail = me@home\n[includeIf \"gitdir:{parent}/\"]\n\tpath = work\n\
         [includeIf \"gitdir:/elsewhere/\"]\n\tpath = other\n[author]\n\tname = My Robot\n"
    ));
    fs::write(home.path().join("other"), "[user]\n\temail = me@elsewhere\n").unwrap();
    assert_eq!(commit(), "My Robot <me@work> Me <me@work>\n");
    git(&root, &["config", "user.email", "me@here"]);
    assert_eq!(commit(), "My Robot <me@here> Me <me@here>\n");
}
