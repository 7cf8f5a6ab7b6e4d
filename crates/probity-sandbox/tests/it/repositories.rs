//! Every repository of a workspace: what git obeys in it stays, and what is new is found.

use std::{fs, os::unix::fs::symlink, path::Path};

use probity_sandbox::{Exit, HeldTree, StrayKind, clean_git_directory, workspace_root};
use tempfile::TempDir;

use crate::{
    stage::sandboxes,
    worktrees::{git, in_root, in_sandbox, repositories, wait_until_removed},
};

/// A workspace with a nested repository, one that is bare, hooks of its own, an included file, one
/// that is missing, and a filter that is a program in the tree.
fn workspace() -> TempDir {
    let place = repositories();
    let main = place.path().join("main");
    for directory in ["nested/deep", ".husky/_", "conf", "tools"] {
        fs::create_dir_all(main.join(directory)).unwrap();
    }
    for file in [".husky/_/pre-commit", ".husky/pre-commit", "conf/shared", "tools/clean.sh"] {
        fs::write(main.join(file), "").unwrap();
    }
    git(&main.join("nested/deep"), &["init", "-q"]);
    git(&main, &["init", "-q", "--bare", "fixture.git"]);
    // Hooks that are links to scripts of the tree, one of them to a script that is missing.
    fs::create_dir_all(main.join("scripts")).unwrap();
    fs::write(main.join("scripts/hook.sh"), "").unwrap();
    symlink("../../scripts/hook.sh", main.join(".git/hooks/pre-push")).unwrap();
    symlink("../../scripts/gone.sh", main.join(".husky/_/pre-rebase")).unwrap();
    // A submodule of the other working tree, which lies outside of the workspace.
    let module = main.join(".git/worktrees/tree/modules/sub");
    fs::create_dir_all(module.join("hooks")).unwrap();
    fs::write(module.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(module.join("config"), "").unwrap();
    for (key, value) in [
        ("core.hooksPath", ".husky/_"),
        ("include.path", "../conf/shared"),
        ("includeIf.gitdir:/nowhere/.path", "../conf/more"),
        ("filter.tidy.clean", "./tools/clean.sh %f"),
    ] {
        git(&main, &["config", "--add", key, value]);
    }
    place
}

/// Files that git obeys, each as it is and as a process would have it.
const HELD: &[&str] = &[
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/info/attributes",
    ".git/worktrees/tree/commondir",
    ".git/worktrees/tree/modules/sub/config",
    ".git/worktrees/tree/modules/sub/hooks/post-checkout",
    ".git/worktrees/tree/modules/new/config",
    "scripts/hook.sh",
    "scripts/gone.sh",
    "nested/deep/.git/config",
    "nested/deep/.git/hooks/pre-commit",
    "nested/deep/.git/info/attributes",
    "fixture.git/config",
    "fixture.git/hooks/post-update",
    ".husky/_/pre-commit",
    ".husky/pre-commit",
    ".husky/commit-msg",
    "conf/shared",
    "conf/more",
    "tools/clean.sh",
];

#[test]
fn what_git_obeys_in_any_repository_cannot_be_changed() {
    for backend in sandboxes() {
        let place = workspace();
        let main = place.path().join("main");
        let before: Vec<_> = HELD.iter().map(|path| fs::read(main.join(path)).ok()).collect();
        // In one start, since each takes its time.
        let tries = HELD.iter().map(|path| {
            let parent = Path::new(path).parent().unwrap().to_str().unwrap();
            format!(
                "mkdir -p {parent}; echo evil >> {path}; echo evil > new; mv new {path}; \
                 rm -f {path}; ln -sf $PWD/file {path}; ln -f file {path}; mv {parent} moved; \
                 python3 -c 'import os; os.truncate(\"{path}\", 0)'; \
                 ln {path} linked && echo evil >> linked; mkdir -p {parent} && echo evil > {path}; "
            )
        });
        let (exit, told) = in_sandbox(&backend, &main, &(tries.collect::<String>() + "echo tried"));
        assert!(exit == Exit::Code(0) && told.contains("tried"), "{backend:?}: {told}");
        for (path, before) in HELD.iter().zip(before) {
            let now = fs::read(main.join(path)).ok();
            // What was missing may be there, and empty.
            assert_eq!(now.unwrap_or_default(), before.unwrap_or_default(), "{backend:?}: {path}");
        }
    }
}

#[test]
fn ordinary_work_goes_on() {
    for backend in sandboxes() {
        let place = workspace();
        let main = place.path().join("main");
        let (exit, told) = in_sandbox(
            &backend,
            &main,
            "set -e; git checkout -q -b feature; echo more >> file; git stash -q; git stash pop -q; \
         git -c core.hooksPath=/dev/null commit -qam second; git merge -q --no-edit HEAD; \
         git fetch -q . feature:other; git tag one; git gc -q; git branch -D other; \
         git worktree add -q wt; git worktree remove wt; echo /file > .git/info/sparse-checkout; \
         cd nested/deep; echo x > f; git add f; git commit -qm first",
        );
        assert_eq!(exit, Exit::Code(0), "{backend:?}: {told}");
    }
}

#[test]
fn what_is_new_and_what_is_replaced_is_found_at_the_end() {
    let evil = "git init -q evil && git -C evil config core.fsmonitor ./x";
    for (script, path, kind) in [
        ("git init -q new", Some("new/.git"), StrayKind::Repository),
        ("mkdir a && git init -q a/b && mv a c", Some("c/b/.git"), StrayKind::Repository),
        ("mkdir s && echo 'gitdir: ../x' > s/.git", Some("s/.git"), StrayKind::Repository),
        ("mkdir s && ln -s ../x s/.git", Some("s/.git"), StrayKind::Repository),
        ("mkdir -p s/.GIT", Some("s/.GIT"), StrayKind::Repository),
        ("mkdir -p 's/.git '", Some("s/.git "), StrayKind::Repository),
        (
            "mv nested moved && git init -q nested/deep",
            Some("nested/deep/.git"),
            StrayKind::Repository,
        ),
        ("mkdir -p s/objects s/refs && echo x > s/HEAD", Some("s/HEAD"), StrayKind::Head),
        ("mkdir s && echo x > s/head && echo x > s/commondir", Some("s/head"), StrayKind::Head),
        (
            "mkdir -p .git/modules && git init -q --bare .git/modules/x",
            Some(".git/modules/x"),
            StrayKind::Repository,
        ),
        (
            "mkdir .git/rebase-merge && echo 'exec x' > .git/rebase-merge/git-rebase-todo",
            Some(".git/rebase-merge"),
            StrayKind::Rebase,
        ),
        (
            "mkdir .git/rebase-merge && echo 'pick x' > .git/rebase-merge/git-rebase-todo",
            None,
            StrayKind::Rebase,
        ),
        ("mv nested moved", None, StrayKind::Repository),
        (
            "mv nested moved && git init -q --bare moved/deep/.git/modules/x",
            Some("moved/deep/.git/modules/x"),
            StrayKind::Repository,
        ),
        (
            "mv nested moved && cd moved/deep/.git && mkdir rebase-merge && \
             echo 'exec x' > rebase-merge/git-rebase-todo",
            Some("moved/deep/.git/rebase-merge"),
            StrayKind::Rebase,
        ),
        ("echo x >> file; git add -A; git gc -q", None, StrayKind::Repository),
    ] {
        let place = workspace();
        let main = place.path().join("main").canonicalize().unwrap();
        let root = workspace_root(&main).unwrap();
        root.mounts(Path::new("/home/agent/workspace"));
        let guard = root.guard();
        let (_, told) = in_root(&main, script);
        let strays: Vec<_> =
            guard.finish().strays.into_iter().map(|stray| (stray.path, stray.kind)).collect();
        let expected: Vec<_> = path.map(|path| (main.join(path), kind)).into_iter().collect();
        assert_eq!(strays, expected, "{script}: {told}{evil}");
    }
}

/// The watch, the end and the start follow no link that somebody exchanged a directory for.
#[test]
fn a_link_in_the_place_of_a_repository_leads_to_nothing_of_the_host() {
    let place = workspace();
    let at = |path: &str| place.path().canonicalize().unwrap().join(path);
    let main = at("main");
    git(&at("parent"), &["worktree", "add", "-q", "--detach", "../victims"]);
    let victims = at("parent/.git/worktrees/victims/commondir");
    let before = fs::read(&victims).unwrap();
    let root = workspace_root(&main).unwrap();
    root.mounts(Path::new("/home/agent/workspace"));
    let guard = root.guard();
    let snapshot = guard.snapshot();
    // A link whose `.git` is a working tree's directory of the user's, elsewhere.
    fs::create_dir(at("elsewhere")).unwrap();
    symlink(victims.parent().unwrap(), at("elsewhere/.git")).unwrap();
    fs::rename(main.join("nested"), main.join("moved")).unwrap();
    fs::create_dir(main.join("nested")).unwrap();
    symlink(at("elsewhere"), main.join("nested/deep")).unwrap();
    fs::write(main.join("moved/deep/.git/commondir"), "/elsewhere\n").unwrap();
    wait_until_removed(&guard, &main.join("moved/deep/.git"));
    guard.finish();
    snapshot.finish();
    assert_eq!(fs::read(&victims).ok(), Some(before), "a file of the host is gone");
    // The start makes missing parts of repositories, in the workspace alone.
    fs::remove_dir_all(at("parent/.git/hooks")).unwrap();
    fs::remove_dir_all(main.join("moved/deep/.git/hooks")).unwrap();
    let root = workspace_root(&main).unwrap();
    root.guard();
    fs::rename(main.join("moved/deep"), main.join("away")).unwrap();
    symlink(at("elsewhere"), main.join("moved/deep")).unwrap();
    fs::remove_file(at("elsewhere/.git")).unwrap();
    symlink(at("parent/.git"), at("elsewhere/.git")).unwrap();
    root.mounts(Path::new("/home/agent/workspace"));
    assert!(!at("parent/.git/hooks").exists(), "something was made outside of the workspace");
}

/// While the session runs, at its end, and by whoever comes after a program that was killed.
#[test]
fn a_repository_that_a_session_moves_is_not_led_elsewhere() {
    let script = "mv nested moved && echo /elsewhere > moved/deep/.git/commondir";
    let begin = || {
        let place = workspace();
        let main = place.path().join("main").canonicalize().unwrap();
        let root = workspace_root(&main).unwrap();
        root.mounts(Path::new("/home/agent/workspace"));
        (place, main, root.guard())
    };
    let is_undirected = |main: &Path| {
        let moved = main.join("moved/deep/.git");
        moved.join("config").exists() && !moved.join("commondir").exists()
    };

    let (_place, main, guard) = begin();
    in_root(&main, script);
    wait_until_removed(&guard, &main.join("moved/deep/.git"));
    let removed = guard.removed();
    assert_eq!(guard.finish().removed, removed, "it was removed before the end");

    let (_place, main, guard) = begin();
    in_root(&main, script);
    let ended = guard.finish();
    assert!(ended.removed > 0 && is_undirected(&main), "{ended:?}");
    assert_eq!(ended.strays, []);

    let (_place, main, guard) = begin();
    let snapshot = guard.snapshot();
    drop(guard);
    in_root(&main, script);
    assert!(!is_undirected(&main), "nobody watches");
    assert_eq!(snapshot.finish().removed, 1);
    assert!(is_undirected(&main));
}

#[test]
fn a_link_that_git_follows_and_a_configuration_that_grew_are_found() {
    let place = workspace();
    let main = place.path().join("main").canonicalize().unwrap();
    fs::rename(main.join("conf"), main.join("real")).unwrap();
    symlink("real", main.join("conf")).unwrap();
    let root = workspace_root(&main).unwrap();
    let guard = root.guard();
    in_root(&main, "echo evil >> real/shared; rm conf && mkdir conf && echo evil > conf/shared");
    // Replaced by git on the host, a file is no mount any more.
    git(&main, &["config", "branch.main.remote", "origin"]);
    let ended = guard.finish();
    let paths: Vec<_> = ended.strays.iter().map(|stray| stray.path.clone()).collect();
    assert_eq!(paths, [main.join("conf")], "a branch is no setting that runs anything");
    let StrayKind::Link { target, .. } = &ended.strays[0].kind else { panic!("{ended:?}") };
    assert_eq!(target, Path::new("real"));
    assert_eq!(fs::read_to_string(main.join("real/shared")).unwrap(), "");

    let root = workspace_root(&main).unwrap();
    let guard = root.guard();
    git(&main, &["config", "core.fsmonitor", "./evil"]);
    let strays = guard.finish().strays;
    assert_eq!(strays[0].path, main.join(".git/config"));
    assert!(matches!(strays[0].kind, StrayKind::Configuration { .. }));
}

#[test]
fn a_cleaned_repository_has_its_history_and_runs_nothing() {
    let place = repositories();
    let main = place.path().join("main");
    let marker = place.path().join("marker");
    let run = format!("touch {}", marker.display());
    for (key, value) in [
        ("core.fsmonitor", run.as_str()),
        ("core.hooksPath", "hooks"),
        ("core.pager", run.as_str()),
        ("remote.origin.url", "https://host/x"),
        ("remote.origin.uploadpack", run.as_str()),
        ("branch.main.merge", "refs/heads/main"),
        ("alias.log", "!false"),
    ] {
        git(&main, &["config", key, value]);
    }
    fs::create_dir_all(main.join(".git/hooks")).unwrap();
    fs::write(main.join(".git/info/attributes"), "* filter=x\n").unwrap();
    clean_git_directory(&HeldTree::open(&main).unwrap(), &main.join(".git")).unwrap();
    git(&main, &["status"]);
    git(&main, &["log"]);
    assert!(!marker.exists());
    let kept = "[core]\n\trepositoryformatversion = \"0\"\n[core]\n\tfilemode = \"true\"\n\
                [core]\n\tbare = \"false\"\n[core]\n\tlogallrefupdates = \"true\"\n\
                [remote \"origin\"]\n\turl = \"https://host/x\"\n\
                [branch \"main\"]\n\tmerge = \"refs/heads/main\"\n";
    assert_eq!(fs::read_to_string(main.join(".git/config")).unwrap(), kept);
    assert!(!main.join(".git/hooks").exists() && !main.join(".git/info/attributes").exists());
}
