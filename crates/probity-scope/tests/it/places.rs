//! Where output goes: where the user's own links lead, and nowhere that a repository's links lead.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use probity_scope::{HeldDirectory, Missing, PlaceError, ReplaceError};

/// A repository, a directory outside of it, and links between them.
fn stage() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let real = place.path().canonicalize().unwrap();
    for made in ["repo/.git", "repo/own", "outside", "mine"] {
        fs::create_dir_all(real.join(made)).unwrap();
    }
    symlink(real.join("outside"), real.join("repo/away")).unwrap();
    symlink("../outside/missing", real.join("repo/dangling")).unwrap();
    symlink("own", real.join("repo/within")).unwrap();
    symlink("../repo/own", real.join("mine/to-own")).unwrap();
    symlink(real.join("repo/away"), real.join("mine/to-away")).unwrap();
    symlink("../outside", real.join("mine/to-outside")).unwrap();
    symlink("round", real.join("mine/round")).unwrap();
    (place, real)
}

#[test]
fn links_of_the_user_are_followed_and_those_of_a_repository_are_not() {
    let (_place, real) = stage();
    for (path, found) in [
        ("repo/own", Ok("repo/own")),
        ("repo/new/deeper", Ok("repo/new/deeper")),
        ("repo/own/../beside", Ok("repo/beside")),
        ("repo/../outside", Ok("outside")),
        ("mine/to-own/below", Ok("repo/own/below")),
        ("mine/to-outside/below", Ok("outside/below")),
        ("mine/to-outside/../from-outside", Ok("from-outside")),
        ("repo/away", Err("repo/away")),
        ("repo/away/below", Err("repo/away")),
        ("repo/dangling", Err("repo/dangling")),
        ("repo/within/below", Err("repo/within")),
        ("repo/own/../away", Err("repo/away")),
        ("mine/to-away/below", Err("repo/away")),
        ("mine/to-own/../away", Err("repo/away")),
    ] {
        match (HeldDirectory::place(&real.join(path), &[], Missing::Make), found) {
            (Ok(place), Ok(found)) => {
                assert_eq!(place.real, real.join(found), "{path}");
                assert!(place.directory.is_at(&real.join(found)), "{path}");
                let is_inside = found.starts_with("repo");
                assert_eq!(place.repository, is_inside.then(|| real.join("repo")), "{path}");
            }
            (Err(PlaceError::Link(link)), Err(found)) => {
                assert_eq!(link, real.join(found), "{path}");
            }
            (other, _) => panic!("{path}: {other:?}"),
        }
    }
    assert!(!real.join("outside/missing").exists());
    for path in ["repo/.git", "repo/.GIT/x", "mine/to-own/../.git/hooks"] {
        let refused = HeldDirectory::place(&real.join(path), &[], Missing::Make);
        assert!(matches!(refused, Err(PlaceError::GitDirectory(_))), "{path}: {refused:?}");
    }
    for path in ["mine/round/x", "missing/x"] {
        let refused = HeldDirectory::place(&real.join(path), &[], Missing::Refuse);
        assert!(matches!(refused, Err(PlaceError::Io { .. })), "{path}: {refused:?}");
    }
    // A directory that is named counts as a repository without git.
    fs::remove_dir(real.join("repo/.git")).unwrap();
    let place =
        |tops: &[&Path]| HeldDirectory::place(&real.join("repo/away"), tops, Missing::Make).is_ok();
    assert_eq!((place(&[]), place(&[&real.join("repo")])), (true, false));
}

#[test]
fn a_file_that_is_a_link_is_the_users_or_refused() {
    let (_place, real) = stage();
    symlink("../outside/file", real.join("mine/file")).unwrap();
    symlink("../outside/file", real.join("repo/file")).unwrap();
    let at = |path: &str| {
        let found = HeldDirectory::place_of_file(&real.join(path), &[], Missing::Refuse);
        found.map(|(place, name)| place.real.join(name))
    };
    assert_eq!(at("mine/file").unwrap(), real.join("outside/file"));
    assert_eq!(at("repo/new").unwrap(), real.join("repo/new"));
    for path in ["repo/file", "repo/away/file"] {
        assert!(matches!(at(path), Err(PlaceError::Link(_))), "{path}");
    }
}

#[test]
fn a_file_is_written_whole_with_its_rights_and_never_through_a_link() {
    let (_place, real) = stage();
    let held = HeldDirectory::open(&real.join("repo")).unwrap();
    fs::write(real.join("outside/secret"), "theirs").unwrap();
    symlink("../outside/secret", real.join("repo/link")).unwrap();
    fs::write(real.join("repo/own/file"), "old").unwrap();
    fs::set_permissions(real.join("repo/own/file"), fs::Permissions::from_mode(0o640)).unwrap();
    for path in ["link", "own/file", "own/new"] {
        held.write_whole(path, b"new").unwrap();
        assert_eq!(held.read(path, 10).unwrap(), b"new", "{path}");
    }
    assert_eq!(fs::metadata(real.join("repo/own/file")).unwrap().mode() & 0o777, 0o640);
    for path in ["away/file", "within/file", "own", "missing/file"] {
        assert!(held.write_whole(path, b"new").is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(real.join("outside/secret")).unwrap(), "theirs");
    let names = |path: &str| fs::read_dir(real.join(path)).unwrap().count();
    assert_eq!((names("repo/own"), names("outside"), names("repo")), (2, 1, 6), "nothing is left");
}

#[test]
fn a_file_is_replaced_only_as_it_was_read_and_where_no_link_leads() {
    let (_place, real) = stage();
    let held = HeldDirectory::open(&real.join("repo")).unwrap();
    fs::write(real.join("outside/code"), "before").unwrap();
    symlink("../outside/code", real.join("repo/link")).unwrap();
    for path in ["link", "away/code", "within/code"] {
        let refused = held.replace(path, b"before", b"after");
        assert!(matches!(refused, Err(ReplaceError::Linked)), "{path}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(real.join("outside/code")).unwrap(), "before");
    let file = real.join("repo/own/code");
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o751)).unwrap();
    for _ in 0..2 {
        held.replace("own/code", b"before", b"after").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o751);
    }
    fs::write(&file, "theirs").unwrap();
    assert!(matches!(held.replace("own/code", b"before", b"x"), Err(ReplaceError::Changed)));
    fs::hard_link(&file, real.join("repo/own/other")).unwrap();
    let refused = held.replace("own/code", b"theirs", b"x");
    assert!(matches!(refused, Err(ReplaceError::HardLinked(2))), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    assert_eq!(fs::read_dir(real.join("repo/own")).unwrap().count(), 2, "nothing is left");
}
