//! What a copy's target directory begins with: the compiled dependencies, and nothing of the
//! repository's own packages, which cargo would take for this copy's.

use std::{
    fs::{self, File, FileTimes},
    io,
    path::Path,
};

/// Copies a warm target directory without what belongs to these packages. Without a warm one
/// there is nothing to do.
pub(super) fn copy(warm: &Path, own: &Path, members: &[&str]) -> io::Result<()> {
    fs::create_dir_all(own)?;
    if warm.is_dir() { walk(warm, own, members) } else { Ok(()) }
}

fn walk(from: &Path, to: &Path, members: &[&str]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Locks are for those who work there; the incremental state is the members' alone.
        if name == "incremental" || name == ".cargo-lock" || belongs(&name, members) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        let taken = if kind.is_dir() {
            walk(&source, &target, members)
        } else if kind.is_file() && !is_final(from) {
            take(&source, &target)
        } else {
            Ok(())
        };
        // Another review may compile there at the same time; what is gone, cargo makes again.
        match taken {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Libraries are never written again, only replaced, so that they can be shared; what cargo
/// writes in place is copied, with its time, by which cargo knows whether it is fresh.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    let shared = from.extension().is_some_and(|ending| ending == "rlib" || ending == "rmeta");
    if shared {
        match fs::hard_link(from, to) {
            Ok(()) => return Ok(()),
            // It is the same file: to copy over it would empty both.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(_) => {}
        }
    }
    fs::copy(from, to)?;
    let metadata = fs::metadata(from)?;
    let times = FileTimes::new().set_modified(metadata.modified()?);
    File::options().write(true).open(to)?.set_times(times)
}

/// Whether a file or directory, `NAME-HASH` and the like, is one of these packages'.
fn belongs(name: &str, members: &[&str]) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let Some((package, hash)) = stem.rsplit_once('-') else { return false };
    let hashed = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = |name: &str| name.replace('-', "_");
    let package = plain(package);
    // Anything that is not a dependency's may be a test of a member, under the test's own name.
    hashed
        && members.iter().any(|member| {
            let member = plain(member);
            package == member || package.strip_prefix("lib") == Some(&member)
        })
}

/// The programs and libraries beside `deps` are links for people.
fn is_final(directory: &Path) -> bool {
    directory.join("deps").is_dir() && directory.join(".fingerprint").is_dir()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{belongs, copy};

    #[test]
    fn a_directory_that_is_filled_twice_empties_no_library() {
        let place = tempfile::tempdir().unwrap();
        let (warm, own) = (place.path().join("warm"), place.path().join("own"));
        fs::create_dir_all(warm.join("debug/deps")).unwrap();
        let library = "debug/deps/libserde-0123456789abcdef.rlib";
        fs::write(warm.join(library), "library").unwrap();
        for _ in 0..2 {
            copy(&warm, &own, &[]).unwrap();
        }
        for directory in [&warm, &own] {
            assert_eq!(fs::read_to_string(directory.join(library)).unwrap(), "library");
        }
    }

    #[test]
    fn only_the_members_own_files_belong_to_them() {
        let members = ["my-crate", "lib"];
        for (name, expected) in [
            ("my-crate-0123456789abcdef", true),
            ("libmy_crate-0123456789abcdef.rlib", true),
            ("my_crate-0123456789abcdef.d", true),
            ("serde-0123456789abcdef", false),
            ("libserde-0123456789abcdef.rmeta", false),
            ("my-crate-extra-0123456789abcdef", false),
            ("my-crate", false),
        ] {
            assert_eq!(belongs(name, &members), expected, "{name}");
        }
    }
}
