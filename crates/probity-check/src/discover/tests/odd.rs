//! Trees that no checkout should have: loops, repetitions, special files, depths out of reach.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    process::Command,
};

use rustix::fs::{Mode, OFlags};

use super::*;

#[test]
fn links_and_repetitions_name_each_file_once() {
    let tree = tree(&["real/Dockerfile", "real/sub/Dockerfile.dev", "other/Dockerfile"]);
    let link = |to: &str, at: &str| symlink(to, tree.path().join(at)).unwrap();
    link("..", "real/sub/loop");
    link("self.Dockerfile", "self.Dockerfile");
    link("real", "Dockerfile");
    link("real/Dockerfile", "a.Dockerfile");
    link("/nowhere/at/all", "gone.Dockerfile");
    link("../other/Dockerfile", "real/Containerfile");
    let everything = [
        "gone.Dockerfile",
        "other/Dockerfile",
        "real/Dockerfile",
        "real/sub/Dockerfile.dev",
        "self.Dockerfile",
    ];
    let cases: [(&[&str], &[&str]); 9] = [
        (&["."], &everything),
        (&[".", "real", "./real/../real/sub", "real/Dockerfile", "."], &everything),
        (&["real"], &["real/Containerfile", "real/Dockerfile", "real/sub/Dockerfile.dev"]),
        (
            &["Dockerfile"],
            &["Dockerfile/Containerfile", "Dockerfile/Dockerfile", "Dockerfile/sub/Dockerfile.dev"],
        ),
        (
            &["Dockerfile", "real"],
            &["Dockerfile/Containerfile", "Dockerfile/Dockerfile", "Dockerfile/sub/Dockerfile.dev"],
        ),
        (
            &["a.Dockerfile", "real/sub", "real/Dockerfile"],
            &["a.Dockerfile", "real/sub/Dockerfile.dev"],
        ),
        (&["gone.Dockerfile", "./gone.Dockerfile"], &["gone.Dockerfile"]),
        (&["real/sub/loop/sub/loop/Dockerfile"], &["real/sub/loop/sub/loop/Dockerfile"]),
        (&["other/../other/Dockerfile"], &["other/../other/Dockerfile"]),
    ];
    for (paths, expected) in cases {
        assert_eq!(found(&tree, paths, &[]), expected, "{paths:?}");
    }
}

#[test]
fn odd_names_and_special_files_survive() {
    let tree = tree(&["new\nline/Dockerfile", "sp ace.Dockerfile"]);
    let odd = tree.path().join(OsStr::from_bytes(b"\xff\xfe.Dockerfile"));
    fs::write(&odd, "FROM scratch\n").unwrap();
    let fifo = tree.path().join("Dockerfile.fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let expected = [
        fifo,
        tree.path().join("new\nline/Dockerfile"),
        tree.path().join("sp ace.Dockerfile"),
        odd.clone(),
    ];
    let missing = PathBuf::from(OsStr::from_bytes(b"\xff*"));
    for paths in [vec![PathBuf::from(".")], vec![PathBuf::from("."), odd, missing]] {
        let request = Request { paths: &paths, exclude: &[], directory: tree.path() };
        let targets = discover(&request).unwrap();
        assert_eq!(targets.files, expected);
        assert_eq!(targets.errors.len(), paths.len() / 3);
    }
}

/// A superuser may read everything, but even for them a path cannot be longer than the system's
/// limit; the directory below it can be made only step by step.
#[test]
fn a_directory_that_cannot_be_searched_is_named_and_the_walk_goes_on() {
    let tree = tree(&["a/Dockerfile", "z/Dockerfile"]);
    let name = "m".repeat(250);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(tree.path(), flags, Mode::empty()).unwrap();
    for _ in 0..20 {
        rustix::fs::mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, name.as_str(), flags, Mode::empty()).unwrap();
    }
    let found = found(&tree, &["."], &[]);
    assert_eq!(found[..2], ["a/Dockerfile", "z/Dockerfile"]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[2].starts_with(&format!("! cannot search the directory `{name}/{name}/")));
    assert!(found[2].ends_with("`: File name too long (os error 36)"), "{}", found[2]);
}
