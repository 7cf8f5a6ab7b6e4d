//! Directories that hostile processes wrote to: nothing outside is read, written, changed or removed.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use probity_scope::{CopiedLinks, HeldDirectory, HeldKind};
use rustix::fs::{CWD, Mode, mkdirat, mkfifoat, openat};

/// A directory with a link to a file outside, one to a directory outside, a pipe and a file.
fn hostile() -> (tempfile::TempDir, HeldDirectory) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    for made in ["root/own", "outside"] {
        fs::create_dir_all(place.path().join(made)).unwrap();
    }
    fs::write(place.path().join("outside/secret"), "theirs").unwrap();
    fs::write(root.join("own/file"), "ours").unwrap();
    symlink("../outside/secret", root.join("link")).unwrap();
    symlink(place.path().join("outside"), root.join("away")).unwrap();
    mkfifoat(CWD, root.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let held = HeldDirectory::open(&root).unwrap();
    (place, held)
}

fn outside_is_untouched(place: &Path) {
    assert_eq!(fs::read_to_string(place.join("outside/secret")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(place.join("outside")).unwrap().count(), 1);
}

#[test]
fn nothing_is_reached_through_a_link_and_no_pipe_is_waited_for() {
    let (place, held) = hostile();
    for path in
        ["link", "away/secret", "pipe", "missing", "own", "", "../outside/secret", "/etc/hostname"]
    {
        assert!(held.read(Path::new(path), 1000).is_err(), "{path}");
    }
    assert_eq!(held.read(Path::new("own/file"), 3).unwrap(), b"our");
    for path in ["away", "link", "away/secret", "..", "own/../../outside"] {
        assert!(held.open_below(Path::new(path)).is_err(), "{path}");
        assert!(held.entries(Path::new(path)).is_err(), "{path}");
    }
    let kinds = ["link", "away", "pipe", "own", "own/file", "away/secret", "missing"];
    assert_eq!(
        kinds.map(|path| held.kind(Path::new(path))),
        [
            Some(HeldKind::Link),
            Some(HeldKind::Link),
            Some(HeldKind::Special),
            Some(HeldKind::Directory),
            Some(HeldKind::File),
            None,
            None
        ]
    );
    outside_is_untouched(place.path());
}

#[test]
fn what_is_written_is_new_and_inside() {
    let (place, held) = hostile();
    for path in ["away/new", "away/deeper/new", "link/new", "../new", "/tmp/probity-held"] {
        assert!(held.write(Path::new(path), b"x").is_err(), "{path}");
        assert!(held.create_file(Path::new(path), 0o600).is_err(), "{path}");
        assert!(held.link(Path::new(path), Path::new("x")).is_err(), "{path}");
        assert!(held.ensure(Path::new(path)).is_err(), "{path}");
    }
    for path in ["link", "pipe", "own/file", "new/er/file", "away"] {
        held.write(Path::new(path), b"written").unwrap();
        assert_eq!(held.read(Path::new(path), 100).unwrap(), b"written", "{path}");
    }
    // The rights of a file stay, and something that exists is never created.
    fs::set_permissions(place.path().join("root/own/file"), fs::Permissions::from_mode(0o751))
        .unwrap();
    held.write(Path::new("own/file"), b"again").unwrap();
    assert_eq!(held.stat(Path::new("own/file")).unwrap().mode & 0o777, 0o751);
    assert!(held.create_file(Path::new("own/file"), 0o600).is_err());
    assert!(held.create("own", 0o700).is_err());
    outside_is_untouched(place.path());
}

#[test]
fn a_directory_stays_the_one_that_was_opened() {
    let (place, held) = hostile();
    let root = place.path().join("root");
    assert!(held.is_at(&root));
    fs::rename(&root, place.path().join("moved")).unwrap();
    symlink(place.path().join("outside"), &root).unwrap();
    assert!(!held.is_at(&root));
    held.write(Path::new("secret"), b"ours").unwrap();
    assert_eq!(fs::read_to_string(place.path().join("moved/secret")).unwrap(), "ours");
    outside_is_untouched(place.path());
}

#[test]
fn a_copied_tree_has_files_and_links_and_nothing_from_outside() {
    let (place, held) = hostile();
    fs::write(place.path().join("root/own/skipped"), "").unwrap();
    for (links, expected) in [
        (CopiedLinks::Dropped, &["own", "own/file"][..]),
        (CopiedLinks::Kept, &["away", "link", "own", "own/file"]),
    ] {
        let target = tempfile::tempdir().unwrap();
        let copy = HeldDirectory::open(target.path()).unwrap();
        copy.copy_tree(&held, links, &|path, _| !path.ends_with("skipped")).unwrap();
        let mut found = Vec::new();
        for directory in ["", "own"] {
            for entry in copy.entries(Path::new(directory)).unwrap() {
                found.push(Path::new(directory).join(entry.name).display().to_string());
            }
        }
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(copy.read(Path::new("own/file"), 100).unwrap(), b"ours");
        let time = |held: &HeldDirectory| held.stat(Path::new("own/file")).unwrap().modified;
        assert_eq!(time(&copy), time(&held));
    }
    // Into a directory in which somebody has left links.
    let target = tempfile::tempdir().unwrap();
    symlink(place.path().join("outside"), target.path().join("own")).unwrap();
    let copy = HeldDirectory::open(target.path()).unwrap();
    assert!(copy.copy_tree(&held, CopiedLinks::Kept, &|_, _| true).is_err());
    outside_is_untouched(place.path());
}

#[test]
fn a_tree_is_removed_whatever_it_is_made_of() {
    let (place, held) = hostile();
    let root = place.path().join("root");
    // Deeper than paths and descriptors go.
    let mut here = openat(CWD, &root, rustix::fs::OFlags::PATH, Mode::empty()).unwrap();
    for _ in 0..1_000 {
        mkdirat(&here, "moved-1", Mode::from_raw_mode(0o700)).unwrap();
        here = openat(&here, "moved-1", rustix::fs::OFlags::PATH, Mode::empty()).unwrap();
    }
    fs::create_dir_all(root.join("closed/inner")).unwrap();
    fs::write(root.join("closed/inner/file"), "").unwrap();
    for closed in ["closed/inner", "closed"] {
        fs::set_permissions(root.join(closed), fs::Permissions::from_mode(0o0)).unwrap();
    }
    held.remove_all(Path::new("away")).unwrap();
    held.remove_all(Path::new("missing")).unwrap();
    HeldDirectory::open(place.path()).unwrap().remove_all(Path::new("root")).unwrap();
    assert!(!root.exists());
    outside_is_untouched(place.path());
}
