//! Every way out of the root that a path can name, and the ways around that stay inside.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, net::UnixListener},
    path::Path,
};

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{OUTSIDE, Place, read};

#[test]
fn paths_that_stay_inside_are_read() {
    let place = Place::new();
    place.link("src/main.rs", "link");
    place.link("link", "chain");
    place.link("src", "directory");
    place.link(place.root().join("src/main.rs"), "absolute");
    place.link("../src/main.rs", "src/round");
    place.link(place.root(), "self");
    let scope = place.scope();
    let absolute = place.root().join("src/main.rs");
    for path in [
        "src/main.rs",
        "./src//main.rs",
        "src/deep/../main.rs",
        "src/deep/../../src/main.rs",
        "link",
        "chain",
        "directory/main.rs",
        "directory/deep/../main.rs",
        "absolute",
        "src/round",
        "self/self/src/main.rs",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(read(&scope, path), Ok("fn main() {}\n".to_owned()), "{path}");
    }
}

#[test]
fn every_escape_is_refused_by_name_and_without_the_hosts_paths() {
    let place = Place::new();
    place.link("../outside/private", "out");
    place.link("out", "chain");
    place.link("../outside", "outdir");
    place.link(place.outside().join("private"), "absolute");
    place.link("/", "slash");
    place.link("/proc/self/root", "magic");
    place.link("/proc/self/cwd", "magic-cwd");
    place.link("loop-b", "loop-a");
    place.link("loop-a", "loop-b");
    place.link("src/../../outside/private", "winding");
    place.link("absent", "dangling");
    let scope = place.scope();
    let cases = [
        ("../outside/private", "outside the allowed directory"),
        ("src/../../outside/private", "outside the allowed directory"),
        ("..", "outside the allowed directory"),
        ("out", "outside the allowed directory"),
        ("chain", "outside the allowed directory"),
        ("outdir/private", "outside the allowed directory"),
        ("absolute", "outside the allowed directory"),
        ("slash/etc/passwd", "outside the allowed directory"),
        ("magic/etc/passwd", "outside the allowed directory"),
        ("magic-cwd/Cargo.toml", "outside the allowed directory"),
        ("winding", "outside the allowed directory"),
        ("/etc/passwd", "outside the allowed directory"),
        ("/proc/self/environ", "outside the allowed directory"),
        ("loop-a", "too many symbolic links"),
        ("dangling", "no such file or directory"),
        ("src/absent", "no such file or directory"),
        ("src/main.rs/below", "not a directory"),
        ("src", "not a regular file"),
        ("", "not a regular file"),
    ];
    for (path, reason) in cases {
        let shown = if path.is_empty() { "." } else { path };
        assert_eq!(read(&scope, path), Err(format!("{shown}: {reason}")), "{path}");
    }
    let secret = place.outside().join("private");
    assert!(read(&scope, secret).is_err());
}

#[test]
fn an_absolute_path_below_the_root_is_named_relative_to_it() {
    let place = Place::new();
    let absent = place.root().join("src/absent");
    assert_eq!(
        read(&place.scope(), absent),
        Err("src/absent: no such file or directory".to_owned())
    );
}

#[test]
fn a_root_beside_one_with_a_longer_name_is_not_its_parent() {
    let place = Place::new();
    let sibling = place.directory.path().canonicalize().unwrap().join("root-of-another");
    fs::create_dir(&sibling).unwrap();
    fs::write(sibling.join("private"), OUTSIDE).unwrap();
    assert!(read(&place.scope(), sibling.join("private")).is_err());
}

#[test]
fn special_files_are_refused_at_once() {
    let place = Place::new();
    let fifo = place.root().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = UnixListener::bind(place.root().join("socket")).unwrap();
    place.link("fifo", "to-fifo");
    place.link("/dev/zero", "to-device");
    let scope = place.scope();
    // Opening a FIFO the usual way would never end.
    for path in ["fifo", "socket", "to-fifo"] {
        assert_eq!(read(&scope, path), Err(format!("{path}: not a regular file")));
    }
    assert!(read(&scope, "to-device").is_err());
}

#[test]
fn sensitive_files_are_refused_by_their_own_name_and_through_links() {
    let place = Place::new();
    place.write(".git/config", b"[remote]");
    place.write(".env", b"KEY=1");
    place.write("tls/server.pem", b"-----BEGIN");
    place.link(".env", "notes.txt");
    place.link(".git", "history");
    place.link(place.root().join("tls/server.pem"), "absolute.txt");
    let scope = place.scope();
    for path in
        [".git/config", ".env", "tls/server.pem", "notes.txt", "history/config", "absolute.txt"]
    {
        let refused = format!("{path}: a sensitive file, which is not served");
        assert_eq!(read(&scope, path), Err(refused));
    }
    assert_eq!(
        read(&scope, ".env.absent"),
        Err(".env.absent: a sensitive file, which is not served".to_owned()),
        "the answer must not tell whether the file exists"
    );
    let allowed = crate::Policy { allow_sensitive: true, ..crate::policy() };
    let scope = crate::Scope::open(&place.root(), allowed).unwrap();
    assert_eq!(read(&scope, "notes.txt"), Ok("KEY=1".to_owned()));
}

#[test]
fn names_that_are_not_text_are_read_and_shown_without_control_characters() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"caf\xe9\x1b[2J");
    fs::write(place.root().join(name), "bytes").unwrap();
    let scope = place.scope();
    assert_eq!(read(&scope, name), Ok("bytes".to_owned()));
    let error = read(&scope, Path::new(name).join("below")).unwrap_err();
    assert_eq!(error, "caf\u{fffd}\\u{1b}[2J/below: not a directory");
}

proptest! {
    /// Any arrangement of words and links of the fixture: a byte from outside never comes back.
    #[test]
    fn no_path_made_of_words_and_links_leads_out(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "src", "deep", "leaf", "main.rs", "up", "out", "slash", "private",
                "outside", "root", "proc", "self", "cwd", "",
            ]),
            0..10,
        ),
        absolute in any::<bool>(),
    ) {
        let place = Place::new();
        place.link("..", "src/up");
        place.link("../outside", "out");
        place.link("/", "slash");
        let mut path = words.join("/");
        if absolute {
            path = format!("{}/{path}", place.root().display());
        }
        if let Ok(text) = read(&place.scope(), &path) {
            prop_assert!(text == "fn main() {}\n" || text == "leaf", "{path}: {text}");
        }
    }
}
