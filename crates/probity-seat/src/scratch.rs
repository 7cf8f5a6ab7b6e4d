//! Homes for one run: empty but for the logins, and gone with the run.
//!
//! An agent that reviews a stranger's change can be led to leave a hook or a setting in its home. In a
//! home that stays, the next session of an editor would obey it.
//!
//! The directory above the homes is never mounted, and is held open: what is in a home is removed by
//! descriptor, whatever the agent made of it.

use std::{
    fs::File,
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use probity_sandbox::BackendKind;
use probity_scope::HeldDirectory;
use rustix::fs::{FlockOperation, flock};

use crate::{State, StateError, state};

/// The homes that the seats of a run share.
#[derive(Debug, Default)]
pub(crate) struct ScratchHomes {
    shared: Mutex<Vec<(String, Arc<ScratchHome>)>>,
}

impl ScratchHomes {
    /// A home for an agent: a new one for each seat, but the same one in all containers of a run. A
    /// container shows what it showed when it was made, and one for each file would be too many.
    pub(crate) fn home(
        &self,
        state: &State,
        kind: BackendKind,
        agent: &str,
    ) -> Result<Arc<ScratchHome>, StateError> {
        if !matches!(kind, BackendKind::Docker | BackendKind::Podman) {
            return Ok(Arc::new(ScratchHome::new(state)?));
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, home)) = shared.iter().find(|(name, _)| name == agent) {
            return Ok(Arc::clone(home));
        }
        let home = Arc::new(ScratchHome::new(state)?);
        shared.push((agent.to_owned(), Arc::clone(&home)));
        Ok(home)
    }
}

/// A new directory, until this is dropped.
#[derive(Debug)]
pub(crate) struct ScratchHome {
    above: HeldDirectory,
    name: String,
    /// For the mount alone.
    path: PathBuf,
    /// Locked for as long as the home is in use: whatever is not locked was left by a run that was
    /// killed.
    _lock: File,
}

impl ScratchHome {
    fn new(state: &State) -> Result<Self, StateError> {
        let directory = state.directory.join("scratch");
        state::make(&directory)?;
        let made = (|| {
            let above = HeldDirectory::open(&directory)?;
            remove_abandoned(&above)?;
            loop {
                if let Some((name, lock)) = claim(&above)? {
                    above.create(&name, 0o700)?;
                    let path = directory.join(&name);
                    return Ok(Self { above, name, path, _lock: lock });
                }
            }
        })();
        made.map_err(|source| StateError::Make { path: directory, source })
    }

    /// Where it is, to be mounted. Nothing below it is to be used by its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchHome {
    fn drop(&mut self) {
        let lock = lock_of(&self.name);
        let removed = self.above.remove_all(Path::new(&self.name));
        if let Err(error) = removed.and_then(|()| self.above.remove_file(lock)) {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

fn lock_of(name: &str) -> String {
    format!("{name}.lock")
}

/// A name that is ours from now on; nothing if somebody else was quicker.
fn claim(above: &HeldDirectory) -> io::Result<Option<(String, File)>> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("run-{}-{number}", process::id());
    let lock = match above.create_file(lock_of(&name), 0o600) {
        Ok(lock) => lock,
        // A run in another container may have our number.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error),
    };
    // Whoever looks for abandoned homes may have seen it before it was locked.
    let is_ours = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
        && above.stat(lock_of(&name)).map(|stat| stat.number) == Some(lock.metadata()?.ino());
    Ok(is_ours.then_some((name, lock)))
}

/// Removes the homes of runs that were killed, with the logins in them.
fn remove_abandoned(above: &HeldDirectory) -> io::Result<()> {
    for entry in above.entries("")? {
        let Some(file) = entry.name.to_str() else { continue };
        let Some(name) = file.strip_suffix(".lock") else { continue };
        // Removed by its owner in this moment.
        let Ok(lock) = above.open_file(file) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let removed = above.remove_all(Path::new(name)).and_then(|()| above.remove_file(file));
        if let Err(error) = removed {
            tracing::info!("a home of a former run cannot be removed: {name}: {error}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn names(state: &State) -> Vec<String> {
        let entries = fs::read_dir(state.directory.join("scratch")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_home_is_new_each_time_and_goes_with_all_that_an_agent_left() {
        let dir = tempfile::tempdir().unwrap();
        let state = State { directory: dir.path().join("state") };
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "mine").unwrap();
        let homes = ScratchHomes::default();
        let home = || homes.home(&state, BackendKind::Bubblewrap, "mine").unwrap();
        let (one, two) = (home(), home());
        assert_ne!(one.path(), two.path());
        symlink(&outside, one.path().join("link")).unwrap();
        fs::create_dir_all(one.path().join("a/b")).unwrap();
        drop(one);
        assert_eq!(names(&state).len(), 2, "the other is in use");
        drop(two);
        assert_eq!(names(&state), [] as [String; 0]);
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "mine");
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_is_in_use_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let state = State { directory: dir.path().join("state") };
        let killed = state.directory.join("scratch/run-1-0");
        fs::create_dir_all(&killed).unwrap();
        fs::write(killed.join("login"), "secret").unwrap();
        fs::write(lock_of(killed.to_str().unwrap()), "").unwrap();
        let one = ScratchHome::new(&state).unwrap();
        let two = ScratchHome::new(&state).unwrap();
        assert!(!killed.exists());
        assert_eq!(names(&state).len(), 4);
        assert!(one.path().is_dir() && two.path().is_dir());
    }

    #[test]
    fn the_containers_of_a_run_share_a_home_of_each_agent() {
        let dir = tempfile::tempdir().unwrap();
        let state = State { directory: dir.path().join("state") };
        let homes = ScratchHomes::default();
        let home = |agent| homes.home(&state, BackendKind::Podman, agent).unwrap();
        assert_eq!(home("one").path(), home("one").path());
        assert_ne!(home("one").path(), home("two").path());
        drop(homes);
        assert_eq!(names(&state), [] as [String; 0]);
    }
}
