//! Listing and walking: bounded, sorted, and blind to what lies behind links.

use std::{fs, path::Path};

use probity_scope::{EntryKind, WalkLimits};

use crate::Place;

const WIDE: WalkLimits = WalkLimits { depth: 20, entries: 1000 };

#[test]
fn a_listing_shows_each_entry_as_what_it_is() {
    let place = Place::new();
    place.write("file", b"12345");
    place.link("file", "relative");
    place.link("/etc/passwd", "absolute");
    place.write(".env", b"KEY=1");
    let entries = place.scope().list(Path::new("."), 100).unwrap();
    let seen: Vec<_> = entries
        .iter()
        .map(|entry| (entry.name.to_str().unwrap(), entry.metadata.kind, entry.target.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            (".env", EntryKind::File, None),
            ("absolute", EntryKind::Link, None),
            ("file", EntryKind::File, None),
            ("relative", EntryKind::Link, Some(Path::new("file"))),
            ("src", EntryKind::Directory, None),
        ]
    );
    assert_eq!(entries[2].metadata.size, 5);
}

#[test]
fn directories_outside_and_sensitive_ones_are_not_listed() {
    let place = Place::new();
    place.write(".git/config", b"");
    place.link("../outside", "out");
    let scope = place.scope();
    for path in ["..", "out", ".git", "src/main.rs", "/", "src/../.."] {
        assert!(scope.list(Path::new(path), 100).is_err(), "{path}");
    }
    assert_eq!(scope.list(Path::new("src"), 1).unwrap().len(), 1);
}

#[test]
fn a_walk_finds_files_once_in_order_and_survives_cycles() {
    let place = Place::new();
    place.write("z", b"");
    place.write(".env", b"");
    place.write("target/skipped", b"");
    place.link("..", "src/cycle");
    place.link("../outside", "out");
    fs::create_dir(place.root().join("closed")).unwrap();
    let walk = place.scope().walk(Path::new("."), WIDE, &|path| path.ends_with("target")).unwrap();
    let files: Vec<_> = walk.files.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(files, ["src/deep/leaf", "src/main.rs", "z"]);
    assert!(!walk.truncated);
}

#[test]
fn a_walk_stops_at_its_limits_and_says_so() {
    let place = Place::new();
    for index in 0..50 {
        place.write(&format!("many/{index:02}"), b"");
    }
    let scope = place.scope();
    let walk = |depth, entries| {
        scope.walk(Path::new("."), WalkLimits { depth, entries }, &|_| false).unwrap()
    };
    let few = walk(20, 10);
    assert!(few.truncated && few.files.len() <= 10, "{few:?}");
    let shallow = walk(1, 1000);
    assert!(shallow.truncated && shallow.files.len() == 51, "{shallow:?}");
    assert!(!walk(20, 1000).truncated);
}

#[test]
fn a_walk_of_the_root_by_its_absolute_path_is_relative_all_the_same() {
    let place = Place::new();
    let walk = place.scope().walk(&place.root().join("src"), WIDE, &|_| false).unwrap();
    assert_eq!(walk.files, [Path::new("src/deep/leaf"), Path::new("src/main.rs")]);
}
