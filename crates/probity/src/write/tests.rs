//! Replacing on real files.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
};

use tempfile::TempDir;

use super::*;

/// A directory with one file that holds `before`.
fn directory() -> (TempDir, std::path::PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("Dockerfile");
    fs::write(&path, "before").unwrap();
    (dir, path)
}

fn entries(dir: &TempDir) -> usize {
    fs::read_dir(dir.path()).unwrap().count()
}

#[test]
fn mode_and_owner_are_kept() {
    let (dir, path) = directory();
    for mode in [0o600, 0o664, 0o755, 0o4755] {
        fs::write(&path, "before").unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&path, Some(1234), Some(4321)).unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let old = fs::metadata(&path).unwrap();
        replace(&path, "before", "after").unwrap();
        let new = fs::metadata(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        let kept = |it: &fs::Metadata| (it.mode() & 0o777, it.uid(), it.gid());
        assert_eq!(kept(&new), kept(&old), "{mode:o}");
        assert_ne!(new.ino(), old.ino(), "a new file took the name");
    }
    assert_eq!(entries(&dir), 1, "nothing is left beside it");
}

#[test]
fn links_stay_and_what_they_lead_to_is_replaced() {
    let (dir, path) = directory();
    fs::create_dir(dir.path().join(".git")).unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    symlink("../Dockerfile", dir.path().join("sub/one")).unwrap();
    symlink("one", dir.path().join("sub/two")).unwrap();
    let link = dir.path().join("sub/two");
    replace(&link, "before", "after").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(dir.path().join("sub/one")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    assert_eq!(fs::read_dir(dir.path().join("sub")).unwrap().count(), 2);
}

#[test]
fn what_somebody_else_wrote_is_not_lost() {
    let (dir, path) = directory();
    for theirs in ["theirs", "before, and more", "befor", ""] {
        fs::write(&path, theirs).unwrap();
        let error = replace(&path, "before", "after").unwrap_err();
        assert!(matches!(error, WriteError::Changed), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(replace(&path, "before", "after"), Err(WriteError::Io(_))));
    assert_eq!(entries(&dir), 0, "what was removed does not come back");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(matches!(replace(&path, "before", "after"), Err(WriteError::NotAFile)));
}

#[test]
fn a_file_that_was_fixed_under_another_name_is_left() {
    let (_dir, path) = directory();
    replace(&path, "before", "after").unwrap();
    let first = fs::metadata(&path).unwrap().ino();
    replace(&path, "before", "after").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().ino(), first);
}

#[test]
fn files_with_several_names_are_refused() {
    let (dir, path) = directory();
    fs::hard_link(&path, dir.path().join("other")).unwrap();
    let error = replace(&path, "before", "after").unwrap_err();
    assert!(matches!(error, WriteError::HardLinked { names: 2 }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(entries(&dir), 2);
}

/// A work tree, a file outside of it, and links of the tree to that file.
fn tree_with_ways_out() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let real = dir.path().canonicalize().unwrap();
    for made in ["repo/.git", "repo/sub", "outside/.git", "mine"] {
        fs::create_dir_all(real.join(made)).unwrap();
    }
    for file in ["outside/file", "repo/sub/file", "repo/.git/config"] {
        fs::write(real.join(file), "before").unwrap();
    }
    symlink("../outside/file", real.join("repo/file-link")).unwrap();
    symlink("file-link", real.join("repo/twice")).unwrap();
    symlink("../outside", real.join("repo/directory-link")).unwrap();
    symlink(".git/config", real.join("repo/to-git")).unwrap();
    symlink("sub", real.join("repo/within")).unwrap();
    symlink("../repo", real.join("mine/my-repo")).unwrap();
    (dir, real)
}

#[test]
fn a_link_of_a_tree_leads_nowhere_else() {
    let (_dir, real) = tree_with_ways_out();
    for name in ["repo/file-link", "repo/twice", "repo/directory-link/file", "mine/my-repo/twice"] {
        let error = replace(&real.join(name), "before", "after").unwrap_err();
        let WriteError::Outside { target, top } = &error else { panic!("{name}: {error}") };
        assert_eq!((target, top), (&real.join("outside/file"), &real.join("repo")), "{name}");
        assert!(error.to_string().contains("name that file itself"), "{error}");
        let error = write_whole(&real.join(name), b"after").unwrap_err();
        assert!(matches!(error, WriteError::Outside { .. }), "{name}: {error}");
    }
    let error = replace(&real.join("repo/to-git"), "before", "after").unwrap_err();
    assert!(matches!(error, WriteError::GitDirectory), "{error}");
    assert_eq!(fs::read_to_string(real.join("outside/file")).unwrap(), "before");
    assert_eq!(fs::read_to_string(real.join("repo/.git/config")).unwrap(), "before");
    // The target by its own name, a link within the tree, and a link of the user's own.
    for name in ["outside/file", "repo/within/file", "mine/my-repo/sub/file"] {
        fs::write(real.join(name), "before").unwrap();
        replace(&real.join(name), "before", "after").unwrap();
        assert_eq!(fs::read_to_string(real.join(name)).unwrap(), "after", "{name}");
    }
    assert!(real.join("repo/within").is_symlink());
}

#[test]
fn a_new_file_is_made_where_its_directory_leads_if_that_is_in_the_tree() {
    let (_dir, real) = tree_with_ways_out();
    write_whole(&real.join("repo/within/new"), b"new").unwrap();
    assert_eq!(fs::read_to_string(real.join("repo/sub/new")).unwrap(), "new");
    let error = write_whole(&real.join("repo/directory-link/new"), b"new").unwrap_err();
    assert!(matches!(error, WriteError::Outside { .. }), "{error}");
    symlink("../outside/new", real.join("repo/dangling")).unwrap();
    assert!(write_whole(&real.join("repo/dangling"), b"new").is_err());
    assert!(!real.join("outside/new").exists());
}
