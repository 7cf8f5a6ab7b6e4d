//! What is taken away is of the workspace, whatever a session puts in its way meanwhile.

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::workspace_root;
use probity_scope::HeldDirectory;
use probity_seat::State;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::{kept, take, take_file};
use crate::implicit::{Content, Implicit};

const SECRET: &str = "export PASSWORD=of-the-victim\n";

/// A workspace with `d`, a directory, and `l`, a link to the user's own directory.
struct Stage {
    place: TempDir,
    state: State,
}

impl Stage {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let state = State { directory: place.path().join("state") };
        for directory in ["workspace/.git", "workspace/d", "victim/r/.git"] {
            fs::create_dir_all(place.path().join(directory)).unwrap();
        }
        for (path, text) in [
            ("victim/r/.git/HEAD", "precious"),
            ("victim/r/.git/config", "[core]\n\tfsmonitor = mine\n"),
            ("victim/.envrc", SECRET),
        ] {
            fs::write(place.path().join(path), text).unwrap();
        }
        symlink(place.path().join("victim"), place.path().join("workspace/l")).unwrap();
        Self { place, state }
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("workspace").canonicalize().unwrap()
    }

    fn swap(&self) {
        let (one, other) = (self.root().join("d"), self.root().join("l"));
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    }

    fn look(&self) -> Implicit {
        Implicit::look(&self.root(), HeldDirectory::open(&self.root()).unwrap())
    }

    fn assert_untouched(&self) {
        let text = |path: &str| fs::read_to_string(self.place.path().join("victim").join(path));
        assert_eq!(text("r/.git/HEAD").ok().as_deref(), Some("precious"));
        let config = text("r/.git/config").unwrap();
        assert_eq!(config, "[core]\n\tfsmonitor = mine\n");
        assert_eq!(text(".envrc").ok().as_deref(), Some(SECRET));
        let names = fs::read_dir(self.place.path().join("victim")).unwrap();
        assert_eq!(names.count(), 2);
    }
}

#[test]
fn a_repository_behind_an_exchanged_link_is_not_taken() {
    let stage = Stage::new();
    let root = workspace_root(&stage.root()).unwrap();
    let guard = root.guard();
    fs::create_dir_all(stage.root().join("d/r/.git")).unwrap();
    let ended = guard.finish();
    let [stray] = &ended.strays[..] else { panic!("{ended:?}") };
    stage.swap();
    let error = take(&stage.state, &stage.root(), &ended.held, stray).unwrap_err();
    assert!(error.to_string().starts_with("a link is on the way to it"), "{error}");
    stage.assert_untouched();
    // In its own place it is taken.
    stage.swap();
    take(&stage.state, &stage.root(), &ended.held, stray).unwrap();
    assert!(!stage.root().join("d/r/.git").exists());
    // It is not given to anybody else either.
    let kept = kept(&stage.state, &stage.root());
    fs::rename(stage.place.path().join("victim/r/.git"), stage.place.path().join("git")).unwrap();
    stage.swap();
    kept[0].restore().unwrap_err();
    fs::rename(stage.place.path().join("git"), stage.place.path().join("victim/r/.git")).unwrap();
    stage.assert_untouched();
}

#[test]
fn a_configuration_is_put_back_only_where_it_was() {
    let stage = Stage::new();
    let at = |path: &str| stage.root().join(path);
    for (repository, setting) in [("d/r", "fsmonitor = evil"), ("users/r", "pager = mine")] {
        let git = at(repository).join(".git");
        fs::create_dir_all(git.join("objects")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), format!("[core]\n\t{setting}\n")).unwrap();
    }
    let guard = workspace_root(&stage.root()).unwrap().guard();
    let (one, other) = (at("d"), at("users"));
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    let ended = guard.finish();
    assert!(!ended.strays.is_empty());
    for stray in &ended.strays {
        let error = take(&stage.state, &stage.root(), &ended.held, stray).unwrap_err();
        assert_eq!(error.to_string(), "the session put another directory around it");
    }
    assert_eq!(fs::read_to_string(at("d/r/.git/config")).unwrap(), "[core]\n\tpager = mine\n");
}

#[test]
fn a_file_behind_an_exchanged_link_is_neither_taken_nor_replaced() {
    let stage = Stage::new();
    fs::write(stage.root().join("d/.envrc"), "before").unwrap();
    let before = stage.look();
    fs::write(stage.root().join("d/.envrc"), "after").unwrap();
    let changed = before.changed().files.remove(0);
    stage.swap();
    take_file(&stage.state, &stage.root(), &before, &changed).unwrap_err();
    stage.assert_untouched();
    // Another directory of the workspace gets nothing of what was in this one.
    stage.swap();
    fs::rename(stage.root().join("d"), stage.root().join("e")).unwrap();
    fs::create_dir(stage.root().join("d")).unwrap();
    fs::write(stage.root().join("d/.envrc"), "after").unwrap();
    take_file(&stage.state, &stage.root(), &before, &changed).unwrap();
    assert!(!stage.root().join("d/.envrc").exists());
}

/// As long as it takes on a slow machine to read through the link a hundred times.
const RACE: Duration = Duration::from_secs(2);

#[test]
fn no_look_reads_through_a_link_that_is_exchanged_meanwhile() {
    let stage = Stage::new();
    fs::write(stage.root().join("d/.envrc"), "before").unwrap();
    let (done, until) = (AtomicBool::new(false), Instant::now() + RACE);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                stage.swap();
            }
        });
        let mut read = 0;
        let mut leaked = 0;
        while Instant::now() < until {
            for content in stage.look().before.values() {
                match content {
                    Content::Bytes(bytes) if bytes == SECRET.as_bytes() => leaked += 1,
                    _ => read += 1,
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(leaked, 0, "beside {read} that were of the workspace");
        assert!(read > 0, "never read: the race shows nothing");
    });
}
