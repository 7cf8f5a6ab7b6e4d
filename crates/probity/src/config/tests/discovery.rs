//! Finding and reading files: what is nearest, what cannot be read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::CATALOGUE;
use crate::{
    config::{Choice, Configs, ContainaiFiles, Sources, layer::Layer, table::SECTIONS},
    name::Name,
};

fn configs(current: &Path, choice: Choice) -> Configs<'static> {
    configs_of(Name::Probity, current, choice, None)
}

pub(super) fn configs_of(
    name: Name,
    current: &Path,
    choice: Choice,
    users_file: Option<PathBuf>,
) -> Configs<'static> {
    let sources = Sources {
        catalogue: CATALOGUE,
        name,
        sections: SECTIONS,
        choice,
        current: current.to_path_buf(),
        defaults: Layer::default(),
        users_file,
        containai: ContainaiFiles::default(),
        environment: [],
        flags: Layer::default(),
    };
    Configs::new(sources).unwrap()
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A tree with one configuration per place, each telling itself apart by its model.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, mark) in [
        ("tally.toml", "root"),
        ("a/tally.toml", "a plain"),
        ("a/.tally.toml", "a hidden"),
        ("a/b/c/tally.toml", "c"),
        ("elsewhere/tally.toml", "elsewhere"),
    ] {
        write(root.path(), path, &format!("ai.model = '{mark}'"));
    }
    write(root.path(), "elsewhere/Dockerfile", "FROM scratch");
    root
}

#[test]
fn the_nearest_file_holds_alone() {
    let root = tree();
    std::os::unix::fs::symlink("../elsewhere/Dockerfile", root.path().join("a/link")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", root.path().join("a/dirlink")).unwrap();
    for (target, expected) in [
        ("Dockerfile", "root"),
        ("./Dockerfile", "root"),
        ("other/Dockerfile", "root"),
        ("a/Dockerfile", "a hidden"),
        ("a/b/Dockerfile", "a hidden"),
        ("a/b/c/Dockerfile", "c"),
        ("a/b/c/../Dockerfile", "a hidden"),
        ("a/b/../../other/Dockerfile", "root"),
        ("a/link", "a hidden"),
        ("a/dirlink/Dockerfile", "elsewhere"),
        ("a/dirlink/../Dockerfile", "root"),
        ("-", "root"),
    ] {
        // A fresh look and one that has seen other directories must say the same.
        let mut fresh = configs(root.path(), Choice::Nearest);
        let mut seasoned = configs(root.path(), Choice::Nearest);
        for before in ["a/b/c/d/e", "other/x", "a/b/x"] {
            seasoned.for_target(Path::new(before)).unwrap();
        }
        for configs in [&mut fresh, &mut seasoned] {
            let config = configs.for_target(Path::new(target)).unwrap();
            assert_eq!(config.ai.model.as_deref(), Some(expected), "{target}");
        }
    }
}

#[test]
fn a_chosen_file_or_none_overrides_the_search() {
    let root = tree();
    for (choice, expected) in [
        (Choice::This("a/tally.toml".into()), Some("a plain")),
        (Choice::This(root.path().join("a/b/c/tally.toml")), Some("c")),
        (Choice::None, None),
    ] {
        let config = configs(root.path(), choice).for_target(Path::new("Dockerfile")).unwrap();
        assert_eq!(config.ai.model.as_deref(), expected);
    }
}

#[test]
fn each_file_is_read_once() {
    let root = tree();
    write(root.path(), "a/.tally.toml", "[rules.hadolint.DL9999]\nseverity = 'off'");
    let mut configs = configs(root.path(), Choice::Nearest);
    let first = configs.for_target(Path::new("a/one")).unwrap();
    fs::write(root.path().join("a/.tally.toml"), "broken").unwrap();
    let second = configs.for_target(Path::new("a/b/two")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &second));
    assert_eq!(
        configs.take_warnings(),
        ["a/.tally.toml:1:17: rule `hadolint/DL9999` is not implemented here yet"]
    );
    assert!(configs.take_warnings().is_empty());
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    fs::create_dir_all(root.join("directory/tally.toml")).unwrap();
    fs::create_dir_all(root.join("dangling")).unwrap();
    fs::create_dir_all(root.join("socket")).unwrap();
    std::os::unix::fs::symlink("gone", root.join("dangling/.tally.toml")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket/tally.toml")).unwrap();
    fs::create_dir_all(root.join("binary")).unwrap();
    fs::write(root.join("binary/tally.toml"), b"# \xc3\xa9\nx = '\xff'").unwrap();
    write(root, "large/tally.toml", &"#\n".repeat(600_000));
    write(root, "broken/tally.toml", "[outptu]");
    for (directory, expected) in [
        ("directory", "directory/tally.toml: is a directory, not a configuration file"),
        (
            "dangling",
            "dangling/.tally.toml: cannot read the configuration: No such file or directory (os \
             error 2)",
        ),
        ("socket", "socket/tally.toml: is not a regular file"),
        ("binary", "binary/tally.toml:2:6: not valid UTF-8"),
        ("large", "large/tally.toml: is larger than 1048576 bytes"),
    ] {
        let mut configs = configs(root, Choice::Nearest);
        let target = Path::new(directory).join("Dockerfile");
        assert_eq!(configs.for_target(&target).unwrap_err().to_string(), expected);
        assert_eq!(configs.for_target(&target).unwrap_err().to_string(), expected, "again");
    }
    let mut missing = configs(root, Choice::This("missing.toml".into()));
    let error = missing.for_target(Path::new("Dockerfile")).unwrap_err().to_string();
    assert!(error.starts_with("missing.toml: cannot read the configuration: No such"), "{error}");
}
