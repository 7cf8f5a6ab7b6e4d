//! Files that the original's own instructions added are in the new image, or were needed for
//! building alone. This, and not a start, finds lost templates and migrations.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pair, references};
use crate::{Difference, Root};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let root = &pair.original.root;
    let installed = installed(root);
    let mut lost: Vec<&str> = Vec::new();
    for (path, entry) in root.iter() {
        if !entry.is_file() || pair.proposal.root.resolve(path).is_some() {
            continue;
        }
        let is_spared = is_cache(path)
            || is_package_file(path)
            || installed.contains(path)
            || is_for_building(path);
        if !is_spared && pair.is_own(path) && !was_installed_elsewhere(pair, path) {
            lost.push(path);
        }
    }
    let mut by_directory: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in references::needed(pair, lost) {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        by_directory.entry(above).or_default().push(path);
    }
    let of_directory = by_directory.into_values().filter_map(|paths| {
        let first = paths.first()?;
        Some(Difference::PathMissing { path: format!("/{first}"), more: paths.len() - 1 })
    });
    of_directory.collect()
}

/// Whether the original's instructions made a copy of a file later, and the copy is in the new image:
/// that is what installing does. Of two copies that came from the context at once both count.
pub(super) fn was_installed_elsewhere(pair: &Pair<'_>, path: &str) -> bool {
    let root = &pair.original.root;
    let Some(entry) = root.get(path) else { return false };
    let copies = root.iter().filter(|(other, copy)| {
        *other != path && copy.is_newer_than(entry) && copy.size == entry.size && entry.size > 0
    });
    copies
        .filter(|(other, _)| pair.proposal.root.resolve(other).is_some() && pair.is_own(other))
        .any(|(_, copy)| root.is_equal(entry, root, copy))
}

/// What the system's package manager put there; whether it is needed shows elsewhere.
fn installed(root: &Root) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let lists = root.below("var/lib/dpkg/info").filter(|(path, _)| path.ends_with(".list"));
    for text in lists.filter_map(|(path, _)| root.text(path)) {
        for path in text.lines() {
            let path = path.trim_start_matches('/');
            // Lists have the names from before /bin and /lib became links.
            all.insert(format!("usr/{path}"));
            all.insert(path.to_owned());
        }
    }
    let mut directory = String::new();
    for line in root.text("lib/apk/db/installed").unwrap_or_default().lines() {
        if let Some(name) = line.strip_prefix("F:") {
            name.clone_into(&mut directory);
        } else if let Some(name) = line.strip_prefix("R:") {
            all.insert(format!("{directory}/{name}"));
        }
    }
    all
}

/// Made by tools for themselves, and made again when it is missing.
pub(super) fn is_cache(path: &str) -> bool {
    const BELOW: [&str; 22] = [
        "var/cache/",
        "var/lib/apt/",
        "var/lib/dpkg/",
        "var/lib/rpm/",
        "var/lib/yum/",
        "var/lib/dnf/",
        "var/log/",
        "var/tmp/",
        "tmp/",
        "run/",
        "lib/apk/",
        "etc/apk/",
        "root/.cache/",
        "root/.npm/",
        "root/.cargo/",
        "root/go/pkg/",
        "go/pkg/",
        "usr/local/cargo/registry/",
        "usr/share/doc/",
        "usr/share/man/",
        "usr/share/info/",
        "root/.gnupg/",
    ];
    const NAMES: [&str; 10] = [
        "etc/ld.so.cache",
        "etc/passwd-",
        "etc/group-",
        "etc/shadow-",
        "etc/gshadow-",
        "etc/.pwd.lock",
        "etc/machine-id",
        "root/.wget-hsts",
        "root/.bash_history",
        "var/lib/systemd/deb-systemd-helper-enabled",
    ];
    BELOW.iter().any(|above| path.starts_with(above))
        || NAMES.contains(&path)
        || path.ends_with(".pyc")
        || path.contains("/__pycache__/")
        || path.contains("/.cache/")
        || path.contains("/.git/")
}

/// Compared by the packages' names instead, or part of the system's own packages.
pub(super) fn is_package_file(path: &str) -> bool {
    path.contains("-packages/")
        || path.contains("/node_modules/")
        || path.starts_with("usr/lib/gcc")
        || path.starts_with("usr/include/")
        || path.starts_with("usr/local/include/")
        || path.starts_with("etc/alternatives/")
}

/// A description of the project for its tools; it names files that no program reads by it.
pub(super) fn is_manifest(path: &str) -> bool {
    is_for_building(path) || path.ends_with("/package.json") || path.ends_with("/composer.json")
}

/// Source text of compiled languages, manifests and lock files of build tools, intermediate files.
pub(super) fn is_for_building(path: &str) -> bool {
    const ENDINGS: [&str; 40] = [
        "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "inc", "S", "s", "asm", "o", "a", "la", "d",
        "m4", "ac", "am", "in", "cmake", "go", "rs", "rlib", "rmeta", "java", "kt", "kts", "scala",
        "groovy", "gradle", "cs", "csproj", "sln", "ts", "tsx", "mts", "map", "swift", "zig", "hs",
    ];
    const NAMES: [&str; 38] = [
        "Makefile",
        "makefile",
        "GNUmakefile",
        "CMakeLists.txt",
        "configure",
        "config.log",
        "config.status",
        "meson.build",
        "go.mod",
        "go.sum",
        "Cargo.toml",
        "Cargo.lock",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "tsconfig.json",
        "pom.xml",
        "mvnw",
        "gradlew",
        "gradle.properties",
        "requirements.txt",
        "requirements-dev.txt",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "poetry.lock",
        "Pipfile",
        "Pipfile.lock",
        "uv.lock",
        "composer.lock",
        "Gemfile.lock",
        "Dockerfile",
        ".dockerignore",
        ".gitignore",
        ".gitattributes",
        ".editorconfig",
        "README.md",
        "LICENSE",
    ];
    const DIRECTORIES: [&str; 8] = [
        "/.github/",
        "/test/",
        "/tests/",
        "/target/debug/",
        "/CMakeFiles/",
        "/.gradle/",
        "/obj/",
        "/testdata/",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_intermediate = ["/target/release/deps/", "/target/release/build/", "/target/classes/"]
        .iter()
        .any(|directory| path.contains(directory))
        || path.contains("/.fingerprint/");
    ENDINGS.contains(&ending)
        || NAMES.contains(&name)
        || is_intermediate
        || DIRECTORIES.iter().any(|directory| path.contains(directory))
}
