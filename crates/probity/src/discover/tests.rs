//! Tests of discovery on real trees.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    process::Command,
};

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use super::*;

/// A tree made of paths; one that ends in a slash is a directory, `path = text` has a text.
fn tree(entries: &[&str]) -> TempDir {
    let tree = TempDir::new().unwrap();
    for entry in entries {
        let (path, text) = entry.split_once(" = ").unwrap_or((entry, "FROM scratch\n"));
        let place = tree.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(place).unwrap();
        } else {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
    }
    tree
}

/// What is found from within the tree: files relative to it, then `-`, then `! error`.
fn found(tree: &TempDir, paths: &[&str], exclude: &[&str]) -> Vec<String> {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    let exclude: Vec<String> = exclude.iter().map(ToString::to_string).collect();
    let request = Request { paths: &paths, exclude: &exclude, directory: tree.path() };
    let targets = discover(&request).unwrap();
    let root = format!("{}/", tree.path().display());
    let strip = |text: String| text.replace(&root, "");
    let files = targets.files.iter().map(|file| strip(file.display().to_string()));
    let errors = targets.errors.iter().map(|error| strip(format!("! {error}")));
    files.chain(targets.stdin.then(|| "-".to_owned())).chain(errors).collect()
}

#[test]
fn a_walk_obeys_ignore_files_and_hidden_directories_at_every_depth() {
    let tree = tree(&[
        ".gitignore = build/\n*.gen.Dockerfile\n[bad\n",
        ".ignore = tmp/\n",
        "Dockerfile",
        "a/.gitignore = Dockerfile.secret\n!kept.gen.Dockerfile\n",
        "a/Dockerfile.secret",
        "a/Dockerfile.open",
        "a/kept.gen.Dockerfile",
        "a/b/Dockerfile.secret",
        "a/c/.gitignore = *\n",
        "a/c/Dockerfile",
        "b/Dockerfile.secret",
        "x.gen.Dockerfile",
        "build/Dockerfile",
        "b/build/deep/Dockerfile",
        "tmp/Dockerfile",
        ".devcontainer/Dockerfile",
        "b/.devcontainer/dev.Dockerfile",
        ".hidden/Dockerfile",
        ".git/Dockerfile",
        "node/Dockerfile/Dockerfile",
        "node/README.md",
    ]);
    let all = [
        ".devcontainer/Dockerfile",
        "Dockerfile",
        "a/Dockerfile.open",
        "a/kept.gen.Dockerfile",
        "b/.devcontainer/dev.Dockerfile",
        "b/Dockerfile.secret",
        "node/Dockerfile/Dockerfile",
    ];
    assert_eq!(found(&tree, &["."], &[]), all);
    assert_eq!(found(&tree, &[tree.path().to_str().unwrap()], &[]), all, "the same by its path");
    let cases: [(&[&str], &[&str]); 6] = [
        (&["build"], &["build/Dockerfile"]),
        (&[".hidden/", "tmp"], &[".hidden/Dockerfile", "tmp/Dockerfile"]),
        (&["a/c/Dockerfile"], &["a/c/Dockerfile"]),
        (&["node/README.md"], &["node/README.md"]),
        (&["node/Dockerfile"], &["node/Dockerfile/Dockerfile"]),
        (&["a/b"], &[]),
    ];
    for (paths, expected) in cases {
        assert_eq!(found(&tree, paths, &[]), expected, "{paths:?}");
    }
}

#[test]
fn excluding_beats_naming_and_does_not_look_above_the_working_directory() {
    let outer = tree(&[
        "build/app/Dockerfile",
        "build/app/vendor/x/Dockerfile",
        "build/app/sub/vendor/Dockerfile",
        "build/app/sub/dev.Dockerfile",
    ]);
    let directory = outer.path().join("build/app");
    let check = |paths: &[&str], exclude: &[&str]| -> Vec<String> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let exclude: Vec<String> = exclude.iter().map(ToString::to_string).collect();
        let request = Request { paths: &paths, exclude: &exclude, directory: &directory };
        let targets = discover(&request).unwrap();
        assert!(targets.errors.is_empty(), "{:?}", targets.errors);
        let relative =
            |file: &PathBuf| file.strip_prefix(&directory).unwrap().display().to_string();
        targets.files.iter().map(relative).collect()
    };
    let full = format!("{}/sub/**", directory.display());
    let cases: [(&[&str], &[&str], &[&str]); 9] = [
        (
            &["."],
            &["build"],
            &["Dockerfile", "sub/dev.Dockerfile", "sub/vendor/Dockerfile", "vendor/x/Dockerfile"],
        ),
        (&["."], &["vendor/"], &["Dockerfile", "sub/dev.Dockerfile"]),
        (&["."], &["vendor/**", "*.Dockerfile"], &["Dockerfile"]),
        (&["."], &[&full], &["Dockerfile", "vendor/x/Dockerfile"]),
        (&["vendor", "Dockerfile"], &["vendor"], &["Dockerfile"]),
        (&["vendor/x/Dockerfile"], &["vendor"], &[]),
        (&["Dockerfile"], &["Dockerfile"], &[]),
        (&["**/Dockerfile"], &["vendor"], &["Dockerfile"]),
        (&["vendor/*/Dockerfile"], &["*/x"], &[]),
    ];
    for (paths, exclude, expected) in cases {
        assert_eq!(check(paths, exclude), expected, "{paths:?} without {exclude:?}");
    }
    let bad = ["a[".to_owned()];
    let request = Request { paths: &[], exclude: &bad, directory: &directory };
    let error = discover(&request).unwrap_err().to_string();
    assert!(error.starts_with("`a[` is not a valid pattern: "), "{error}");
}

#[test]
fn patterns_are_expanded_as_a_shell_would_and_literal_names_come_first() {
    let tree = tree(&[
        ".gitignore = svc-ignored/\n",
        "svc-a/Dockerfile",
        "svc-a/notes.txt",
        "svc-b/Dockerfile",
        "svc-b/deep/api.Dockerfile",
        "svc-ignored/Dockerfile",
        ".ci/img/Dockerfile",
        "svc-[x]/Dockerfile",
        "lit/*.Dockerfile",
        "lit/other.Dockerfile",
    ]);
    let whole_services =
        ["svc-[x]/Dockerfile", "svc-a/Dockerfile", "svc-b/Dockerfile", "svc-b/deep/api.Dockerfile"];
    let no_match = |pattern: &str| {
        format!("! `{pattern}` matches no file; ignored and hidden directories are not searched")
    };
    let cases: [(&str, &[&str]); 13] = [
        ("svc-*/Dockerfile", &["svc-[x]/Dockerfile", "svc-a/Dockerfile", "svc-b/Dockerfile"]),
        ("./svc-{a,b}//Dockerfile", &["svc-a/Dockerfile", "svc-b/Dockerfile"]),
        ("svc-[x]/Dockerfile", &["svc-[x]/Dockerfile"]),
        ("svc-[x]", &["svc-[x]/Dockerfile"]),
        ("svc-*", &whole_services),
        ("svc-a/*", &["svc-a/Dockerfile"]),
        ("svc-a/*.txt", &["svc-a/notes.txt"]),
        ("svc-b/**", &["svc-b/Dockerfile", "svc-b/deep/api.Dockerfile"]),
        (
            "**/*.Dockerfile",
            &["lit/*.Dockerfile", "lit/other.Dockerfile", "svc-b/deep/api.Dockerfile"],
        ),
        ("lit/*.Dockerfile", &["lit/*.Dockerfile"]),
        (".c*/*/Dockerfile", &[".ci/img/Dockerfile"]),
        ("svc-ign*/Dockerfile", &[&no_match("svc-ign*/Dockerfile")]),
        ("nowhere/*", &[&no_match("nowhere/*")]),
    ];
    for (pattern, expected) in cases {
        assert_eq!(found(&tree, &[pattern], &[]), expected, "{pattern}");
    }
    let from_root = format!("{}/svc-?/Dockerfile", tree.path().display());
    assert_eq!(found(&tree, &[&from_root], &[]), ["svc-a/Dockerfile", "svc-b/Dockerfile"]);
}

#[test]
fn what_is_missing_is_named_and_the_rest_is_found() {
    let tree = tree(&["b/Dockerfile", "a/Dockerfile", "empty/"]);
    assert_eq!(
        found(&tree, &["b", "nope/Dockerfile", "-", "b/Dockerfile/x", "", "a", "[", "empty"], &[]),
        [
            "a/Dockerfile",
            "b/Dockerfile",
            "-",
            "! `nope/Dockerfile` does not exist",
            "! `b/Dockerfile/x` does not exist",
            "! `` does not exist",
            "! `[` is not a valid pattern: error parsing glob '[': unclosed character class; \
             missing ']'",
        ]
    );
    assert_eq!(found(&tree, &["-"], &[]), ["-"]);
    assert_eq!(found(&tree, &[], &[]), [""; 0]);
}

#[test]
fn links_and_repetitions_name_each_file_once() {
    let tree = tree(&["real/Dockerfile", "real/sub/Dockerfile.dev", "other/Dockerfile"]);
    let link = |to: &str, at: &str| symlink(to, tree.path().join(at)).unwrap();
    link("..", "real/sub/loop");
    link("self.Dockerfile", "self.Dockerfile");
    link("real", "Dockerfile");
    link("real/Dockerfile", "a.Dockerfile");
    link("/nowhere/at/all", "gone.Dockerfile");
    link("other/Dockerfile", "real/Containerfile");
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
