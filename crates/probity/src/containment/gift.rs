//! What a contained agent is given of the user's: the variables and the login files that its row in
//! the table names, as far as the user's own configuration lists them. A repository gives nothing.

use std::{
    fs,
    io::Write as _,
    os::fd::{AsFd as _, OwnedFd},
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;
use probity_agent::KnownAgent;
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, renameat, statat},
    io::Errno,
};

use super::{absolute, users};
use crate::failure::Failure;

/// Logins have a few kilobytes; whatever is larger is something else.
const LARGEST: u64 = 1 << 20;

/// What the user's configuration lists.
#[derive(Debug, Default)]
pub(crate) struct Gift {
    variables: Vec<String>,
    /// Paths below the user's home.
    files: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Gift {
    pub(crate) fn load() -> anyhow::Result<Self> {
        let said = users()?.containment.clone();
        let home = absolute("HOME");
        let below_home = |path: &String| {
            let path = Path::new(path);
            match (path.strip_prefix("~"), &home) {
                (Ok(rest), _) => Some(rest.to_owned()),
                (_, Some(home)) if path.is_absolute() => Some(path.strip_prefix(home).ok()?.into()),
                _ => (!path.is_absolute()).then(|| path.to_owned()),
            }
        };
        let files = said.logins.iter().filter_map(below_home).collect();
        Ok(Self { variables: said.env, files, home })
    }

    /// The variables that this agent gets, by name.
    pub(crate) fn variables(&self, agent: &KnownAgent) -> Vec<String> {
        let listed = |name: &&String| self.variables.contains(name);
        agent.variables.iter().filter(listed).cloned().collect()
    }

    /// Puts the login files that this agent gets into its home: copies, since agents renew their
    /// logins by writing, and only what is newer than what is there, so that a renewed one stays.
    pub(crate) fn settle(&self, agent: &KnownAgent, home: &Path) -> anyhow::Result<()> {
        let Some(users) = &self.home else { return Ok(()) };
        for name in &agent.credential_files {
            let file = Path::new(name);
            // A listed directory stands for all that is in it.
            if !self.files.iter().any(|listed| file.starts_with(listed)) {
                continue;
            }
            let from = users.join(file);
            let Ok(metadata) = fs::metadata(&from) else { continue };
            if !metadata.is_file() || metadata.len() > LARGEST {
                tracing::warn!("{} is not a login of at most 1 MiB", from.display());
                continue;
            }
            let changed = metadata.modified()?.duration_since(std::time::UNIX_EPOCH);
            let changed = changed.map_or(0, |since| since.as_secs());
            let bytes =
                fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
            put(home, file, &bytes, changed).map_err(|errno| {
                let what = format!("cannot put {name} into {}: {errno}", home.display());
                Failure::new(what, "remove what is in its way there; an agent may have made it")
            })?;
        }
        Ok(())
    }
}

/// Writes a file below a home in which an agent may have left any links it liked: none is followed.
fn put(home: &Path, file: &Path, bytes: &[u8], changed: u64) -> Result<(), Errno> {
    let mut here: OwnedFd = open_directory(CWD, home, ResolveFlags::empty())?;
    let parents = file.parent().into_iter().flat_map(Path::components);
    for part in parents {
        let Component::Normal(name) = part else { continue };
        match mkdirat(&here, name, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        here = open_directory(here.as_fd(), Path::new(name), beneath)?;
    }
    let Some(name) = file.file_name() else { return Err(Errno::INVAL) };
    if let Ok(there) = statat(&here, name, AtFlags::SYMLINK_NOFOLLOW)
        && u64::try_from(there.st_mtime).is_ok_and(|there| there >= changed)
    {
        return Ok(());
    }
    let part = format!(".probity-{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = openat(&here, &part, flags, Mode::from_raw_mode(0o600))?;
    let mut written = fs::File::from(written);
    written.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    // A link of that name is replaced, not followed.
    renameat(&here, &part, &here, name)
}

fn open_directory(
    at: impl std::os::fd::AsFd,
    path: &Path,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(at, path, flags, Mode::empty(), resolve)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const LATER: u64 = u64::MAX;

    #[test]
    fn what_an_agent_left_in_the_way_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let (home, outside) = (dir.path().join("home"), dir.path().join("outside"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("file"), "mine").unwrap();
        symlink(&outside, home.join("linked")).unwrap();
        fs::create_dir(home.join("real")).unwrap();
        symlink(outside.join("file"), home.join("real/file")).unwrap();
        assert!(put(&home, Path::new("linked/file"), b"login", LATER).is_err());
        put(&home, Path::new("real/file"), b"login", LATER).unwrap();
        assert_eq!(fs::read_to_string(home.join("real/file")).unwrap(), "login");
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn a_login_that_the_agent_renewed_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = Path::new("a/b/login");
        put(home.path(), file, b"first", 1).unwrap();
        put(home.path(), file, b"older", 2).unwrap();
        assert_eq!(fs::read_to_string(home.path().join(file)).unwrap(), "first");
        put(home.path(), file, b"newer", LATER).unwrap();
        assert_eq!(fs::read_to_string(home.path().join(file)).unwrap(), "newer");
    }
}
