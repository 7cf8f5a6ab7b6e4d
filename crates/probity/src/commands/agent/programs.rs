//! Where programs are, and what a contained process has to see so that they run.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use probity_sandbox::Mount;

/// What every contained process sees anyway.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store"];

/// More links than this lead in a circle.
const MOST_LINKS: usize = 16;

/// The program of that name in our `PATH`, or at that path.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return is_program(Path::new(name)).then(|| PathBuf::from(name));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        // A path with dots cannot be mounted.
        .map(|directory| plain(&directory.join(name)))
        .find(|program| is_program(program))
}

/// What makes a program visible: itself, the links that lead to it, the place it is installed in,
/// and the same for the interpreter that its first line names.
pub(crate) fn mounts_of(program: &Path) -> Vec<Mount> {
    let mut mounts = Vec::new();
    show(program, &mut mounts);
    let interpreter = interpreter(program).and_then(|name| find(&name));
    if let Some(interpreter) = interpreter {
        show(&interpreter, &mut mounts);
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

/// The program after `#!`, or the one that `env` is to find.
fn interpreter(program: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(program).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if first.ends_with("/env") {
        return words.find(|word| !word.starts_with('-')).map(str::to_owned);
    }
    Some(first.to_owned())
}

fn is_program(path: &Path) -> bool {
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
