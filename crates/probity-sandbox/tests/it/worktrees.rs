//! Git inside the sandbox: it works, and cannot change what git runs outside.

use std::{
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{Backend, Exit, Guard, PromiseName, Spec, User, keeps, workspace_root};
use tempfile::TempDir;

use crate::stage::{INSIDE, bubblewrap, sandboxes, text};

/// Who commits.
pub(crate) const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@b"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@b"),
];

pub(crate) fn git(at: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(at)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with one commit, a worktree of it, and another that has it as a submodule.
pub(crate) fn repositories() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let (main, parent) = (place.path().join("main"), place.path().join("parent"));
    for repository in [&main, &parent] {
        fs::create_dir(repository).unwrap();
        git(repository, &["init", "-q"]);
        fs::write(repository.join("file"), "text").unwrap();
        git(repository, &["add", "."]);
        git(repository, &["commit", "-qm", "first"]);
    }
    git(&main, &["worktree", "add", "-q", "../tree"]);
    git(&parent, &["submodule", "--quiet", "add", "../main", "sub"]);
    place
}

pub(crate) fn in_root(cwd: &Path, script: &str) -> (Exit, String) {
    in_sandbox(&bubblewrap(), cwd, script)
}

pub(crate) fn in_sandbox(backend: &Backend, cwd: &Path, script: &str) -> (Exit, String) {
    let root = workspace_root(cwd).unwrap();
    // A submodule's way to its repository is relative, and so holds at its own path alone.
    let is_in_place = cwd.ends_with("sub") || !keeps(backend.kind(), PromiseName::OtherPath);
    let at = if is_in_place { root.path.clone() } else { INSIDE.into() };
    let mut spec = Spec::new(["sh", "-c", script], &at);
    spec.mounts = root.mounts(&at);
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.env.extend(IDENTITY.map(|(name, value)| (name.into(), value.into())));
    spec.user = User::OwnerOf(root.path);
    let (outcome, stdout) = text(backend, &spec);
    (outcome.exit, stdout + &String::from_utf8_lossy(&outcome.stderr_tail))
}

#[test]
fn commits_can_be_made_and_hooks_and_configuration_cannot() {
    let trees =
        [("main", "main/.git"), ("tree", "main/.git"), ("parent/sub", "parent/.git/modules/sub")];
    let all = sandboxes().into_iter().flat_map(|backend| trees.map(|tree| (backend.clone(), tree)));
    for (backend, (tree, git_directory)) in all {
        let place = repositories();
        let at = place.path().join(tree);
        let directory = place.path().canonicalize().unwrap().join(git_directory);
        let in_root = |at: &Path, script: &str| in_sandbox(&backend, at, script);
        let (exit, told) =
            in_root(&at, "echo more >> file && git commit -qam second && git status --porcelain");
        assert_eq!((exit, told.as_str()), (Exit::Code(0), ""), "{tree}");
        let hooks = directory.join("hooks");
        let before = fs::read(directory.join("config")).unwrap();
        let (_, told) = in_root(
            &at,
            &format!(
                "d={}; echo x > $d/hooks/pre-commit; git config core.pager bad; echo x >> $d/config; \
                 rm -rf $d/hooks $d/config; mv $d/hooks $d/h; mv $d $d.moved; mv .git moved; \
                 mv $d/worktrees $d/w; mv $d/worktrees/tree $d/worktrees/t; \
                 echo x > $d/worktrees/tree/commondir; rm -f .git; echo 'gitdir: /x' > .git; \
                 echo x > .git/hooks/pre-commit; echo x >> .git/config; true",
                directory.display()
            ),
        );
        assert!(!hooks.join("pre-commit").exists(), "{tree}: {told}");
        assert_eq!(fs::read(directory.join("config")).unwrap(), before, "{tree}: {told}");
        assert!(hooks.is_dir(), "{tree}: {told}");
        for tree in ["main", "tree", "parent", "parent/sub"] {
            git(&place.path().join(tree), &["status"]);
        }
    }
}

/// The watch runs beside the session, and on a busy machine long after it.
pub(crate) fn wait_until_removed(guard: &Guard, directory: &Path) {
    let began = Instant::now();
    while guard.removed() == 0 || directory.join("commondir").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", directory.display());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn git_on_the_host_is_not_led_elsewhere() {
    for (tree, git_directory) in
        [("main", "main/.git"), ("tree", "main/.git"), ("parent/sub", "parent/.git/modules/sub")]
    {
        let place = repositories();
        let at = place.path().join(tree);
        let directory = place.path().canonicalize().unwrap().join(git_directory);
        let evil = "mkdir -p e/hooks && cp -r $d/objects $d/refs $d/HEAD e && \
                    printf '[core]\\n fsmonitor = touch pwned; false\\n' > e/config;";
        let root = workspace_root(&at).unwrap();
        let guard = root.guard();
        let (_, told) = in_root(
            &at,
            &format!(
                "d={}; {evil} for i in 1 2 3; do echo $PWD/e > $d/commondir; \
                 echo $PWD/e > c; mv c $d/commondir; done; ls $d/commondir; sleep 0.2; \
                 ls $d/commondir; echo $PWD/e > $d/commondir",
                directory.display()
            ),
        );
        wait_until_removed(&guard, &directory);
        drop(guard);
        assert!(!directory.join("commondir").exists(), "{tree}: {told}");
        assert!(directory.join("config").exists() && at.join("e/config").exists(), "{told}");
        git(&at, &["status"]);
        assert!(!at.join("pwned").exists(), "{tree}");
    }
}

#[test]
fn the_configuration_of_a_submodule_stays_from_the_repository_around_it() {
    for backend in sandboxes() {
        let place = repositories();
        let parent = place.path().join("parent");
        let module = parent.join(".git/modules/sub");
        let before = fs::read(module.join("config")).unwrap();
        let (_, told) = in_sandbox(
            &backend,
            &parent,
            "m=.git/modules/sub; echo x >> $m/config; rm -f $m/config; echo x > $m/hooks/pre-commit; \
         mv $m .git/modules/moved; mv .git/modules .git/m; cd sub && echo more >> file && \
         git commit -qam second && cd .. && git commit -qam second",
        );
        assert_eq!(fs::read(module.join("config")).unwrap(), before, "{told}");
        assert!(!module.join("hooks/pre-commit").exists(), "{told}");
        let log = Command::new("git").args(["log", "--format=%s"]).current_dir(&parent).output();
        assert_eq!(log.unwrap().stdout, b"second\nfirst\n", "{told}");
    }
}

#[test]
fn missing_hooks_and_linked_ones_cannot_be_brought_in() {
    for backend in sandboxes() {
        let in_root = |at: &Path, script: &str| in_sandbox(&backend, at, script);
        let place = repositories();
        let main = place.path().join("main");
        fs::remove_dir_all(main.join(".git/hooks")).unwrap();
        in_root(&main, "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit");
        assert!(!main.join(".git/hooks/pre-commit").exists());

        fs::remove_dir_all(main.join(".git/hooks")).unwrap();
        fs::create_dir(main.join("scripts")).unwrap();
        std::os::unix::fs::symlink("../scripts", main.join(".git/hooks")).unwrap();
        in_root(&main, "rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit");
        assert!(fs::symlink_metadata(main.join(".git/hooks")).unwrap().is_symlink());
    }
}

#[test]
fn a_workspace_cannot_claim_directories_that_do_not_name_it() {
    let place = repositories();
    let victim = place.path().join("main/.git/worktrees/tree");
    let thief = place.path().join("thief");
    fs::create_dir(&thief).unwrap();
    for claim in [
        format!("gitdir: {}\n", victim.display()),
        format!("gitdir: {}\n", place.path().join("main/.git").display()),
        "gitdir: /etc\n".to_owned(),
        "gitdir: ..\n".to_owned(),
        "nonsense".to_owned(),
        String::new(),
    ] {
        fs::write(thief.join(".git"), &claim).unwrap();
        let root = workspace_root(&thief).unwrap();
        assert_eq!(root.common_git_directory(), None, "{claim}");
        // The workspace and its `.git` file, each at two places.
        let mounts = root.mounts(Path::new(INSIDE));
        assert_eq!(mounts.len(), 4, "{claim}");
        assert!(mounts.iter().all(|mount| mount.host().unwrap().starts_with(&root.path)));
    }
    let tree = workspace_root(&place.path().join("tree")).unwrap();
    let common = place.path().canonicalize().unwrap().join("main/.git");
    assert_eq!(tree.common_git_directory(), Some(common.as_path()));
}
