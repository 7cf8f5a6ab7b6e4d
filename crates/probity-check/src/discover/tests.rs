//! Tests of discovery on real trees.

mod odd;

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
    let elsewhere = Request {
        paths: &[directory.clone(), directory.join("sub/dev.Dockerfile")],
        exclude: &["build/**".to_owned(), "app/vendor".to_owned(), "/nowhere/**".to_owned()],
        directory: Path::new("/nowhere"),
    };
    let files = ["Dockerfile", "sub/dev.Dockerfile", "sub/vendor/Dockerfile"];
    assert_eq!(
        discover(&elsewhere).unwrap().files,
        files.map(|file| directory.join(file)),
        "seen from elsewhere"
    );
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
    let no_match = |pattern: &str| format!("! `{pattern}` matches no file");
    let cases: [(&str, &[&str]); 14] = [
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
        ("svc-a/Dockerfile/*", &[&no_match("svc-a/Dockerfile/*")]),
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
