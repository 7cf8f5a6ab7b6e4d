//! Files that git ignores are neither listed nor read, if the policy says so.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use probity_scope::{Ignored, Policy, Scope, WalkLimits};

use crate::{Place, policy, read};

const LIMITS: WalkLimits = WalkLimits { depth: 64, entries: 1_000 };

fn open(root: &Path) -> Scope {
    let ignored = Ignored::LeftOut { except: &["node_modules"] };
    Scope::open(root, Policy { ignored, ..policy() }).unwrap()
}

fn walked(scope: &Scope) -> Vec<PathBuf> {
    scope.walk(Path::new(""), LIMITS, &|_| false).unwrap().files
}

fn repository() -> Place {
    let place = Place::new();
    fs::remove_dir_all(place.root().join("src")).unwrap();
    fs::create_dir(place.root().join(".git")).unwrap();
    place
}

#[test]
fn what_git_ignores_is_neither_listed_nor_read() {
    let place = repository();
    place.write(".gitignore", b"*.log\n/dist/\nsub/private\n");
    place.write("sub/.gitignore", b"!kept.log\n");
    place.write(".git/info/exclude", b"notes.txt\n");
    for file in ["a.rs", "a.log", "dist/a.js", "sub/kept.log", "sub/private", "notes.txt"] {
        place.write(file, b"text");
    }
    symlink("a.log", place.root().join("link")).unwrap();
    let scope = open(&place.root());
    let visible = [".gitignore", "a.rs", "sub/.gitignore", "sub/kept.log"].map(PathBuf::from);
    assert_eq!(walked(&scope), visible);
    for file in ["a.log", "dist/a.js", "sub/private", "notes.txt", "link"] {
        let refused = format!("{file}: git ignores this file, so it is not served");
        assert_eq!(read(&scope, file), Err(refused));
    }
    assert!(scope.list(Path::new("dist"), 9).is_err());
    assert_eq!(read(&place.scope(), "a.log"), Ok("text".to_owned()), "the policy decides");
}

#[test]
fn patterns_above_the_root_count_unless_they_ignore_the_root_itself() {
    let place = repository();
    place.write(".gitignore", b"*.log\n/out/\n");
    for file in ["sub/a.log", "sub/b", "out/a.log", "out/b"] {
        place.write(file, b"text");
    }
    assert_eq!(walked(&open(&place.root().join("sub"))), [Path::new("b")]);
    let named = walked(&open(&place.root().join("out")));
    assert_eq!(named, [Path::new("a.log"), Path::new("b")]);
}

#[test]
fn linked_work_trees_have_the_excludes_of_their_repository() {
    let place = Place::new();
    place.write("main/.git/info/exclude", b"private\n");
    place.write("main/.git/worktrees/side/commondir", b"../..\n");
    place.write("side/.git", b"gitdir: ../main/.git/worktrees/side\n");
    place.write("side/private", b"text");
    place.write("side/shown", b"text");
    let scope = open(&place.root().join("side"));
    assert_eq!(walked(&scope), [Path::new("shown")]);
}

/// A repository could otherwise hide its code from an audit.
#[test]
fn what_git_tracks_is_shown_whatever_the_patterns_say() {
    for (format, version) in [("sha1", "2"), ("sha1", "4"), ("sha256", "3"), ("sha256", "4")] {
        let place = Place::new();
        place.write(".gitignore", b"hidden*\nout\n");
        let long = format!("out/{}/hidden.py", "long".repeat(40));
        for file in ["hidden.py", "hidden-too.py", "out/a.py", "out/b.py", &long] {
            place.write(file, b"text");
        }
        let git = |arguments: &[&str]| {
            let run = Command::new("git").current_dir(place.root()).args(arguments).status();
            assert!(run.unwrap().success(), "{arguments:?}");
        };
        git(&["init", "--quiet", &format!("--object-format={format}")]);
        git(&["add", "--force", "hidden.py", "out/a.py", &long, "src"]);
        git(&["add", "--intent-to-add", ".gitignore"]);
        git(&["update-index", "--index-version", version]);
        let shown = [".gitignore", "hidden.py", "out/a.py", &long];
        let scope = open(&place.root());
        let found: Vec<PathBuf> =
            walked(&scope).into_iter().filter(|file| !file.starts_with("src")).collect();
        assert_eq!(found, shown.map(PathBuf::from), "{format}, version {version}");
        assert!(read(&scope, "out/b.py").is_err());
        // Most entries are in another file then, and patterns alone decide.
        git(&["update-index", "--split-index"]);
        assert!(read(&open(&place.root()), "hidden.py").is_err());
    }
}

#[test]
fn without_a_repository_nothing_is_ignored() {
    let place = Place::new();
    place.write(".gitignore", b"*\n");
    assert_eq!(read(&open(&place.root()), "src/deep/leaf"), Ok("leaf".to_owned()));
}

#[test]
fn installed_dependencies_are_served_all_the_same() {
    let place = repository();
    place.write(".gitignore", b"node_modules\ngenerated\n");
    for file in ["node_modules/p/i.js", "generated/a.py", "generated/node_modules/i.js"] {
        place.write(file, b"text");
    }
    let scope = open(&place.root());
    assert_eq!(walked(&scope), [Path::new(".gitignore"), Path::new("node_modules/p/i.js")]);
    assert!(read(&scope, "generated/node_modules/i.js").is_err());
}

#[test]
fn a_file_of_patterns_that_is_a_link_counts_for_nothing_and_one_beyond_measure_hides_all() {
    let place = repository();
    place.write("patterns", b"a\n");
    place.write("a", b"text");
    symlink("patterns", place.root().join(".gitignore")).unwrap();
    let scope = open(&place.root());
    assert_eq!(read(&scope, "a"), Ok("text".to_owned()));
    place.write("large/.gitignore", &b"x\n".repeat(1 << 20));
    place.write("large/a", b"text");
    assert!(read(&scope, "large/a").is_err());
}

#[test]
fn a_directory_of_sources_may_have_the_name_of_a_sensitive_file() {
    let place = Place::new();
    place.write("credentials/store.rs", b"text");
    place.write("secrets", b"text");
    let scope = place.scope();
    assert_eq!(read(&scope, "credentials/store.rs"), Ok("text".to_owned()));
    assert!(walked(&scope).contains(&"credentials/store.rs".into()));
    assert!(scope.list(Path::new("credentials"), 9).is_ok());
    for file in ["secrets", "passwords"] {
        let refused = format!("{file}: a sensitive file, which is not served");
        assert_eq!(read(&scope, file), Err(refused), "whether it exists or not");
    }
}
