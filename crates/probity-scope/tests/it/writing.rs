//! Creating: new files only, below the root only.

use std::{fs, path::Path};

use crate::{OUTSIDE, Place};

#[test]
fn a_new_file_is_created_with_the_directories_on_its_way() {
    let place = Place::new();
    place.link("src", "alias");
    let scope = place.scope();
    for path in ["new", "a/b/c", "src/deep/../other", "alias/through"] {
        scope.create(Path::new(path), b"made").unwrap();
        assert_eq!(fs::read(place.root().join(path)).unwrap(), b"made", "{path}");
    }
}

#[test]
fn nothing_outside_and_nothing_that_exists_is_written() {
    let place = Place::new();
    place.link("../outside", "out");
    place.link("../outside/private", "link");
    place.link("../outside/new", "dangling");
    let scope = place.scope();
    let absolute = place.outside().join("new");
    let cases = [
        ("../new", "outside the allowed directory"),
        ("a/../../new", "outside the allowed directory"),
        ("out/new", "outside the allowed directory"),
        ("out/sub/new", "outside the allowed directory"),
        (absolute.to_str().unwrap(), "outside the allowed directory"),
        ("link", "already exists"),
        ("dangling", "already exists"),
        ("src/main.rs", "already exists"),
        ("src/main.rs/below", "not a directory"),
        (".git/hooks/pre-commit", "a sensitive file, which is not served"),
        ("..", "not a regular file"),
        ("", "not a regular file"),
    ];
    for (path, reason) in cases {
        let error = scope.create(Path::new(path), b"bad").unwrap_err().to_string();
        assert!(error.ends_with(reason), "{path}: {error}");
    }
    let outside: Vec<_> = fs::read_dir(place.outside()).unwrap().collect();
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert_eq!(fs::read_to_string(place.outside().join("private")).unwrap(), OUTSIDE);
}
