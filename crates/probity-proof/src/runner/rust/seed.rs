//! What a copy's target directory begins with: the compiled dependencies, and nothing of the
//! repository's own packages, which cargo would take for this copy's.

use std::path::Path;

use probity_scope::{CopiedLinks, HeldDirectory, HeldKind};

/// Copies a warm target directory without what belongs to these packages. Nothing is linked: what
/// compiles in the copy could write through a link. Times are kept, by which cargo knows what is fresh.
pub(super) fn copy(
    warm: &HeldDirectory,
    own: &HeldDirectory,
    members: &[&str],
) -> std::io::Result<()> {
    let is_wanted = |path: &Path, kind: HeldKind| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Locks are for those who work there; the incremental state is the members' alone.
        let is_ours = name == "incremental" || name == ".cargo-lock" || belongs(&name, members);
        // Another workspace of the repository has brought the same dependency.
        let is_there = || own.kind(path).is_some();
        !(is_ours || kind == HeldKind::File && (is_final(warm, path) || is_there()))
    };
    own.copy_tree(warm, CopiedLinks::Dropped, &is_wanted)
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
fn is_final(warm: &HeldDirectory, file: &Path) -> bool {
    let directory = file.parent().unwrap_or(Path::new(""));
    warm.is_directory(directory.join("deps")) && warm.is_directory(directory.join(".fingerprint"))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt as _};

    use probity_scope::HeldDirectory;

    use super::{belongs, copy};

    #[test]
    fn nothing_that_is_compiled_in_a_copy_reaches_the_warm_directory() {
        let place = tempfile::tempdir().unwrap();
        let (warm, own) = (place.path().join("warm"), place.path().join("own"));
        fs::create_dir_all(warm.join("debug/deps")).unwrap();
        fs::create_dir_all(warm.join("debug/.fingerprint")).unwrap();
        fs::create_dir_all(&own).unwrap();
        let library = "debug/deps/libserde-0123456789abcdef.rlib";
        for file in [library, "debug/libserde.rlib", "debug/deps/libown-0123456789abcdef.rlib"] {
            fs::write(warm.join(file), "library").unwrap();
        }
        let held = |path: &std::path::Path| HeldDirectory::open(path).unwrap();
        copy(&held(&warm), &held(&own), &["own"]).unwrap();
        assert_eq!(fs::read_to_string(own.join(library)).unwrap(), "library");
        let (one, other) =
            (fs::metadata(warm.join(library)).unwrap(), fs::metadata(own.join(library)).unwrap());
        assert_ne!(one.ino(), other.ino());
        assert_eq!((one.mtime(), one.mtime_nsec()), (other.mtime(), other.mtime_nsec()));
        assert_eq!(fs::read_dir(own.join("debug/deps")).unwrap().count(), 1);
        assert!(!own.join("debug/libserde.rlib").exists());
        // A second workspace has the same dependency, and one of its own.
        fs::write(warm.join("debug/deps/libitoa-0123456789abcdef.rlib"), "more").unwrap();
        copy(&held(&warm), &held(&own), &["own"]).unwrap();
        assert_eq!(fs::read_dir(own.join("debug/deps")).unwrap().count(), 2);
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
