//! A file by its tree: links within it are followed, links out of it are refused, at any time.

use std::{
    fs,
    io::Read as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use probity_scope::{ReplaceError, TreeError, TreeFile, WithoutGit, tree_of};

/// A work tree with a nested one, directories without git, and links between them.
fn stage() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let real = place.path().canonicalize().unwrap();
    for made in ["repo/.git", "repo/sub", "repo/nested/.git", "other/.git", "plain/sub", "mine"] {
        fs::create_dir_all(real.join(made)).unwrap();
    }
    for file in ["repo/file", "repo/sub/file", "repo/nested/file", "other/file", "plain/file"] {
        fs::write(real.join(file), "text").unwrap();
    }
    symlink("../other", real.join("repo/away")).unwrap();
    symlink("../repo", real.join("mine/repo")).unwrap();
    symlink("../plain/file", real.join("mine/file")).unwrap();
    symlink("../file", real.join("plain/sub/up")).unwrap();
    (place, real)
}

#[test]
fn a_tree_is_that_of_the_name_and_not_of_what_it_leads_to() {
    let (_place, real) = stage();
    for (directory, without_git, top) in [
        ("repo/sub", WithoutGit::OwnDirectory, "repo"),
        ("repo/nested", WithoutGit::OwnDirectory, "repo/nested"),
        // The link is the repository's, even if another repository is behind it.
        ("repo/away", WithoutGit::OwnDirectory, "repo"),
        // This one is the user's own.
        ("mine/repo/sub", WithoutGit::OwnDirectory, "repo"),
        ("mine/repo/away", WithoutGit::OwnDirectory, "repo"),
        ("repo/sub/../../plain", WithoutGit::OwnDirectory, "plain"),
        ("repo/away/..", WithoutGit::OwnDirectory, "."),
        ("plain/sub", WithoutGit::OwnDirectory, "plain/sub"),
        ("plain/sub", WithoutGit::Within(&real.join("plain")), "plain"),
        ("plain/sub", WithoutGit::Within(&real.join("mine")), "plain/sub"),
        ("repo/sub", WithoutGit::Within(&real), "repo"),
    ] {
        let found = tree_of(&real.join(directory), without_git).unwrap();
        let expected = real.join(top).canonicalize().unwrap();
        assert_eq!(found, expected, "{directory} {without_git:?}");
    }
}

#[test]
fn files_are_read_and_replaced_in_their_tree() {
    let (_place, real) = stage();
    let find = |name: &str| TreeFile::find(&real.join(name), WithoutGit::OwnDirectory);
    for name in ["repo/file", "mine/repo/file", "repo/nested/file"] {
        let mut text = String::new();
        find(name).unwrap().open().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text", "{name}");
    }
    for name in ["repo/away/file", "mine/repo/away/file", "mine/file", "plain/sub/up"] {
        let error = find(name).unwrap_err();
        assert!(matches!(error, TreeError::Outside { .. }), "{name}: {error}");
    }
    let within = WithoutGit::Within(&real.join("plain"));
    TreeFile::find(&real.join("plain/sub/up"), within).unwrap().replace(b"text", b"new").unwrap();
    assert_eq!(fs::read_to_string(real.join("plain/file")).unwrap(), "new");
}

#[test]
fn what_is_swapped_after_the_look_leads_nowhere() {
    let (_place, real) = stage();
    let swap = |name: &str, target: &Path| {
        let path = real.join(name);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        symlink(target, path).unwrap();
    };
    let found = TreeFile::find(&real.join("repo/sub/file"), WithoutGit::OwnDirectory).unwrap();
    swap("repo/sub/file", &real.join("other/file"));
    assert!(found.open().is_err());
    let error = found.replace(b"text", b"new").unwrap_err();
    assert!(matches!(error, ReplaceError::Linked), "{error}");
    swap("repo/sub", &real.join("other"));
    assert!(found.open().is_err() && found.write_whole(b"new").is_err());
    assert!(found.replace(b"text", b"new").is_err());
    assert_eq!(fs::read_to_string(real.join("other/file")).unwrap(), "text");
}
