//! Where programs are, and what a sandboxed process has to see so that they run.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use probity_sandbox::Mount;

use crate::shims;

/// What every sandboxed process sees anyway.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store"];

/// More links than this lead in a circle.
const MOST_LINKS: usize = 16;

/// A wrapper is short.
const SCRIPT_BYTES: u64 = 4096;

/// Where people install programs below their home, for editors that are started without the
/// `PATH` of a shell.
const BELOW_HOME: &[&str] = &[
    ".local/bin",
    ".npm-global/bin",
    ".volta/bin",
    ".bun/bin",
    ".asdf/shims",
    ".pyenv/shims",
    "bin",
];

/// A program, and what a process needs in its `PATH` to find it and its interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// Directories that come before our own `PATH`.
    pub(crate) before: Vec<PathBuf>,
}

/// The program of that name in our `PATH` or below the home directory, or at that path.
///
/// A shim of a version manager stands for the program that the manager would start.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    look_up(name).map(|program| program.path)
}

pub(crate) fn look_up(name: &str) -> Option<Program> {
    let on_path = search(name, &path_directories());
    let found = on_path.clone().or_else(|| search(name, &home_directories()))?;
    let path = shims::real_program(&found).unwrap_or_else(|| found.clone());
    let mut before = Vec::new();
    if !name.contains('/') && (on_path.is_none() || path != found) {
        before.extend(path.parent().map(Path::to_owned));
    }
    for interpreter in interpreters(&path) {
        let beside = || path.parent().map(|bin| bin.join(&interpreter));
        let is_bare = !interpreter.contains('/');
        let plain_find = search(&interpreter, &path_directories());
        let real = plain_find.as_ref().and_then(|found| shims::real_program(found));
        match (real, plain_find) {
            (Some(real), _) if is_bare => before.extend(real.parent().map(Path::to_owned)),
            (None, None) if is_bare && beside().is_some_and(|file| is_program(&file)) => {
                before.extend(path.parent().map(Path::to_owned));
            }
            _ => {}
        }
    }
    before.dedup();
    Some(Program { path, before })
}

fn search(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    if name.contains('/') {
        return is_program(Path::new(name)).then(|| PathBuf::from(name));
    }
    if name.is_empty() {
        return None;
    }
    // A path with dots cannot be mounted.
    let programs = directories.iter().map(|directory| plain(&directory.join(name)));
    programs.into_iter().find(|program| is_program(program))
}

fn path_directories() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|directory| directory.is_absolute()).collect()
}

fn home_directories() -> Vec<PathBuf> {
    let Some(home) = crate::state::absolute("HOME") else { return Vec::new() };
    let mut directories: Vec<PathBuf> = BELOW_HOME.iter().map(|below| home.join(below)).collect();
    // The newest Node.js of nvm; names of versions sort well enough to prefer one.
    let versions = fs::read_dir(home.join(".nvm/versions/node")).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    directories.extend(versions.into_iter().rev());
    directories
}

/// What makes a program visible: itself, the links that lead to it, the place it is installed in,
/// and the same for what its text starts: an interpreter, or the program that a wrapper is for.
pub(crate) fn mounts_of(program: &Path) -> Vec<Mount> {
    let mut mounts = Vec::new();
    let mut waiting = vec![program.to_owned()];
    for _ in 0..MOST_LINKS {
        let Some(next) = waiting.pop() else { break };
        show(&next, &mut mounts);
        let started = interpreters(&next).into_iter().chain(wrapped(&next));
        waiting.extend(started.filter_map(|name| {
            let beside = next.parent().map(|bin| bin.join(&name)).filter(|file| is_program(file));
            find(&name).or(beside)
        }));
    }
    mounts
}

fn show(program: &Path, mounts: &mut Vec<Mount>) {
    let mut here = program.to_owned();
    for _ in 0..MOST_LINKS {
        push(mounts, &place(&here));
        let Ok(target) = fs::read_link(&here) else { return };
        let directory = here.parent().unwrap_or(Path::new("/"));
        here = plain(&directory.join(target));
    }
}

/// The directory that holds a file with what it needs, or the file if nothing says how far that
/// reaches.
fn place(file: &Path) -> PathBuf {
    let modules = OsStr::new("node_modules");
    let mut outer = PathBuf::new();
    for part in file.components() {
        outer.push(part);
        if part == Component::Normal(modules) {
            return outer;
        }
    }
    let is_link = file.is_symlink();
    match file.parent() {
        Some(bin) if bin.file_name() == Some(OsStr::new("bin")) => match bin.parent() {
            Some(prefix) if is_prefix(prefix) => prefix.to_owned(),
            // A link is only there in its directory; a file stands for itself.
            _ if is_link => bin.to_owned(),
            _ => file.to_owned(),
        },
        Some(directory) if is_link && is_prefix(directory) => directory.to_owned(),
        _ => file.to_owned(),
    }
}

/// Whether a directory holds an installation and not a person's whole life.
fn is_prefix(directory: &Path) -> bool {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let personal = home.is_some_and(|home| {
        home.starts_with(directory)
            || home.join(".local") == directory
            || home.join(".config") == directory
    });
    directory != Path::new("/") && !personal
}

fn push(mounts: &mut Vec<Mount>, place: &Path) {
    let is_there = SYSTEM.iter().any(|system| place.starts_with(system))
        || mounts.iter().any(|mount| place.starts_with(mount.inside()));
    if !is_there && place.is_absolute() {
        mounts.push(Mount::read_only(place, place));
    }
}

/// The program after `#!`, and the one that `env` is to find.
fn interpreters(program: &Path) -> Vec<String> {
    let text = beginning(program);
    let Some(line) = text.strip_prefix("#!").and_then(|text| text.lines().next()) else {
        return Vec::new();
    };
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Vec::new() };
    if !first.ends_with("/env") {
        return vec![first.to_owned()];
    }
    words
        .find(|word| !word.starts_with('-') && !word.contains('='))
        .map(str::to_owned)
        .into_iter()
        .collect()
}

/// The programs that a short script becomes by `exec`, as the wrappers of installers do.
fn wrapped(program: &Path) -> Vec<String> {
    let text = beginning(program);
    if !text.starts_with("#!") {
        return Vec::new();
    }
    let started = text.lines().filter_map(|line| line.trim_start().strip_prefix("exec "));
    let words = started.filter_map(|rest| rest.split_whitespace().next());
    let paths = words.map(|word| word.trim_matches(['"', '\'']));
    paths
        .filter(|path| path.starts_with('/') && is_program(Path::new(path)))
        .map(str::to_owned)
        .collect()
}

/// The first lines of a script; a program that is no text has none.
pub(crate) fn beginning(program: &Path) -> String {
    let mut start = Vec::new();
    let read = File::open(program).and_then(|file| file.take(SCRIPT_BYTES).read_to_end(&mut start));
    if read.is_err() || !start.starts_with(b"#!") {
        return String::new();
    }
    String::from_utf8_lossy(&start).into_owned()
}

pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Without dots, as far as the name alone tells.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// An absolute name without dots and links for a file that is there.
pub(crate) fn real_file(word: &str) -> Option<PathBuf> {
    fs::canonicalize(word).ok().filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn program(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_program_is_shown_with_its_links_and_its_installation() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let main = root.join("store/lib/node_modules/agent/main.js");
        program(&main, "#!/usr/bin/env sh\n");
        program(&root.join("tool/bin/agent"), "");
        program(&root.join("plain/agent"), "");
        fs::create_dir_all(root.join("links")).unwrap();
        symlink("../store/lib/node_modules/agent/main.js", root.join("links/agent")).unwrap();
        for (path, expected) in [
            ("links/agent", &["links", "store/lib/node_modules"][..]),
            ("tool/bin/agent", &["tool"]),
            ("plain/agent", &["plain/agent"]),
        ] {
            let mounts = mounts_of(&root.join(path));
            let shown: Vec<_> =
                mounts.iter().map(|mount| mount.inside().strip_prefix(&root).unwrap()).collect();
            assert_eq!(shown, expected.iter().map(Path::new).collect::<Vec<_>>(), "{path}");
        }
        assert!(mounts_of(Path::new("/usr/bin/env")).is_empty());
    }
}
