//! Two sessions in one workspace: one exchanges directories for links to the user's own while the
//! other one ends, where probity looks at what is in them, moves and replaces it.
//!
//! Sessions begin in peace: bubblewrap finds what it mounts by name, and lets no session begin where
//! that is exchanged.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    binary::{directory, probity},
    exec::Stage,
};

const SECRET: &str = "of-the-victim";

/// Exchanges for some seconds whenever the other session has begun, leaves everything in its place,
/// and says what it can read that is not of the workspace.
const EXCHANGE: &str = r#"
import ctypes, os, time
libc, end = ctypes.CDLL(None), time.time() + 8
def exchange():
    for i in range(6):
        libc.renameat2(-100, b"d%d" % i, -100, b"l%d" % i, 2)
def look():
    for i in range(6):
        for name in ["d", "l"]:
            try:
                text = open("%s%d/.envrc" % (name, i)).read()
                open("%s%d/r/.git/commondir" % (name, i), "w").write("../x")
            except OSError:
                continue
            if "of-the-victim" in text:
                print(text)
while time.time() < end:
    if not os.path.exists("busy"):
        time.sleep(0.01)
        continue
    stop = time.time() + 2
    while time.time() < stop:
        exchange()
        look()
        exchange()
        look()
    os.remove("busy")
"#;

/// What a session leaves that has to be moved or put back.
const WRITE: &str = "touch busy; for i in 0 1 2 3 4 5; do for x in d l; do [ -L $x$i ] || { \
    echo $$ > $x$i/.envrc; echo $$ > $x$i/Makefile; rm -rf $x$i/r; git init -q $x$i/r; }; \
    done; done 2>/dev/null; true";

/// A repository, a worktree's directory and files of the user's.
fn victim() -> TempDir {
    directory(&[
        (".envrc", SECRET),
        ("Makefile", SECRET),
        ("r/.git/HEAD", "ref: refs/heads/main\n"),
        ("r/.git/commondir", "../..\n"),
        ("r/.git/config", SECRET),
        ("r/.git/objects/x", ""),
        ("r/.git/rebase-merge/git-rebase-todo", "exec true\n"),
    ])
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let (kind, path) =
                entry.map(|entry| (entry.file_type().unwrap(), entry.path())).unwrap();
            if kind.is_dir() {
                files.insert(path.clone(), Vec::new());
                pending.push(path);
            } else if kind.is_file() {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}

#[test]
fn a_second_session_that_exchanges_links_turns_nothing_against_the_host() {
    for flags in [&[][..], &["--quarantine"]] {
        let (stage, victim) = (Stage::new(&[]), victim());
        let root = stage.repository.path();
        for number in 0..6 {
            let inside = root.join(format!("d{number}"));
            fs::create_dir(&inside).unwrap();
            fs::write(inside.join(".envrc"), "old").unwrap();
            fs::write(inside.join("Makefile"), "old").unwrap();
            symlink(victim.path(), root.join(format!("l{number}"))).unwrap();
        }
        let before = files(victim.path());
        let run = stage.place(probity()).args(["exec", "--sandbox", "bwrap", "--"]);
        let mut second = run.args(["python3", "-c", EXCHANGE]).into_command();
        second.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut second = second.spawn().unwrap();
        let mut sessions = 0;
        while second.try_wait().unwrap().is_none() {
            if root.join("busy").exists() {
                thread::sleep(Duration::from_millis(10));
                continue;
            }
            let run = stage.place(probity()).args(["exec", "--sandbox", "bwrap"]).args(flags);
            let output = run.args(["--", "sh", "-c", WRITE]).run();
            sessions += u32::from(output.code == Some(0));
        }
        let read = second.wait_with_output().unwrap().stdout;
        assert!(sessions > 0, "the race shows nothing");
        assert_eq!(String::from_utf8_lossy(&read), "", "{flags:?}");
        assert_eq!(files(victim.path()), before, "{flags:?}");
        for (path, bytes) in files(root) {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{} has what the victim wrote", path.display());
        }
    }
}
