//! Logins: one set for each agent, copied into the home of a workspace at the start and back when
//! they changed.
//!
//! Copies, and not mounts of single files: agents renew a login by renaming a new file over the old
//! one, which a mounted file does not allow. A set is locked while it is read or written, so that
//! two sessions never mix theirs.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, AsRawFd as _, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, SystemTime},
};

use probity_agent::KnownAgent;
use rustix::{
    fs::{
        AtFlags, CWD, FlockOperation, Gid, Mode, OFlags, ResolveFlags, Uid, chownat, flock,
        mkdirat, openat, openat2, renameat, unlinkat,
    },
    io::Errno,
};

use crate::{Grants, State, Unseated, renewed::renewed, scratch::ScratchHome};

/// Logins have a few kilobytes; whatever is larger is something else.
const LARGEST: u64 = 1 << 20;

/// How often a long session's logins are looked at, so that a renewed one reaches other workspaces
/// before the old one is refused.
const LOOK: Duration = Duration::from_secs(2);

/// What is taken back from a home.
#[derive(Debug)]
pub(crate) enum Keeping {
    /// Every change: the home is that of the user's own sessions.
    Changes,
    /// A login that the agent renewed, and nothing that it made, removed or put in its place. The
    /// home goes when this does.
    Renewed(#[expect(dead_code, reason = "held for its end")] Arc<ScratchHome>),
}

/// The logins of one agent in one home, for as long as it may change them.
#[derive(Debug)]
pub(crate) struct Logins {
    agent: String,
    set: PathBuf,
    home: PathBuf,
    keeping: Keeping,
    /// Each file with the bytes that both sides had when they were last the same.
    files: Mutex<Vec<(PathBuf, Option<Vec<u8>>)>>,
}

impl Logins {
    /// Brings the home up to date: what the user lists and is newer than the set, then the set.
    pub(crate) fn settle(
        state: &State,
        grants: &Grants,
        agent: &KnownAgent,
        home: &Path,
        keeping: Keeping,
    ) -> Result<Self, Unseated> {
        let set = state.logins(&agent.name)?;
        let own = agent.logins.iter().map(|file| (file, grants.has_login(Path::new(file))));
        let granted = agent.granted.logins.iter().map(|file| (file, true));
        let names: Vec<(PathBuf, bool)> =
            own.chain(granted).filter_map(|(file, listed)| Some((below(file)?, listed))).collect();
        let failed = |path: &Path, source| Unseated::Login {
            agent: agent.name.clone(),
            path: path.to_owned(),
            source,
        };
        let _locked = lock(&set).map_err(|error| failed(&set, error))?;
        let mut files = Vec::new();
        for (name, listed) in names {
            let same = (|| {
                if let (true, Some(users)) = (listed, &grants.home) {
                    import(&users.join(&name), &set, &name)?;
                }
                // A session that was killed left what it had renewed.
                let (mine, kept) = (read(home, &name)?, read(&set, &name)?);
                if let Some(mine) = &mine
                    && kept.as_ref().is_none_or(|kept| kept.changed < mine.changed)
                    && kept.as_ref().is_none_or(|kept| kept.bytes != mine.bytes)
                    && let Some(bytes) = keeping.kept(&mine.bytes, kept.as_ref())
                {
                    write(&set, &name, &bytes)?;
                    return Ok(Some(mine.bytes.clone()));
                }
                let kept = kept.map(|kept| kept.bytes);
                if let Some(bytes) = &kept
                    && mine.is_none_or(|mine| mine.bytes != *bytes)
                {
                    write(home, &name, bytes)?;
                }
                Ok(kept)
            })();
            let same = same.map_err(|error| failed(&home.join(&name), error))?;
            files.push((name, same));
        }
        let (agent, home) = (agent.name.clone(), home.to_owned());
        Ok(Self { agent, set, home, keeping, files: Mutex::new(files) })
    }

    /// Copies back what changed. What cannot be is left for the next start.
    pub(crate) fn keep(&self) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = files.iter().any(|(name, same)| match read(&self.home, name) {
            Ok(now) => now.map(|now| now.bytes) != *same,
            Err(_) => false,
        });
        if !changed {
            return;
        }
        let kept = lock(&self.set).and_then(|_locked| {
            files.iter_mut().try_for_each(|(name, same)| self.keep_one(name, same))
        });
        if let Err(error) = kept {
            tracing::warn!("a new login of {} is not kept: {error}", self.agent);
        }
    }

    fn keep_one(&self, name: &Path, same: &mut Option<Vec<u8>>) -> io::Result<()> {
        let now = read(&self.home, name)?.map(|file| file.bytes);
        if now == *same {
            return Ok(());
        }
        let kept = read(&self.set, name)?;
        let is_own_session = matches!(self.keeping, Keeping::Changes);
        match &now {
            Some(bytes) => match self.keeping.kept(bytes, kept.as_ref()) {
                Some(bytes) => write(&self.set, name, &bytes)?,
                None => tracing::warn!(
                    "{} of {} is not kept: it is more than the login renewed",
                    name.display(),
                    self.agent
                ),
            },
            // A logout is one everywhere, unless somebody has logged in since.
            None if is_own_session && kept.as_ref().map(|kept| &kept.bytes) == same.as_ref() => {
                remove(&self.set, name)?;
            }
            None => {}
        }
        *same = now;
        Ok(())
    }
}

impl Keeping {
    /// What is to be kept of a login that changed.
    fn kept(&self, now: &[u8], kept: Option<&Login>) -> Option<Vec<u8>> {
        match self {
            Self::Changes => Some(now.to_owned()),
            Self::Renewed(_) => renewed(&kept?.bytes, now),
        }
    }
}

impl Drop for Logins {
    fn drop(&mut self) {
        self.keep();
    }
}

/// Keeps changed logins while a session lasts.
#[derive(Debug)]
pub struct LoginWatch {
    end: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl LoginWatch {
    pub(crate) fn start(logins: std::sync::Arc<Logins>) -> Self {
        let (end, ended) = mpsc::channel::<()>();
        let watch = move || {
            while ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                logins.keep();
            }
        };
        let thread = thread::Builder::new().name("logins".to_owned()).spawn(watch);
        if let Err(error) = &thread {
            tracing::info!("logins are copied back at the end only: {error}");
        }
        Self { end: Some(end), thread: thread.ok() }
    }
}

impl Drop for LoginWatch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::info!("the watch over logins ended early");
        }
    }
}

/// A path that stays below wherever it is put.
fn below(file: &str) -> Option<PathBuf> {
    let path = Path::new(file.strip_prefix("~/").unwrap_or(file));
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && path.file_name().is_some()).then(|| path.to_owned())
}

/// The user's own file, if it is newer than what the set has.
fn import(from: &Path, set: &Path, name: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::metadata(from) else { return Ok(()) };
    if !metadata.is_file() || metadata.len() > LARGEST {
        tracing::warn!("{} is not a login of at most 1 MiB", from.display());
        return Ok(());
    }
    let kept = read(set, name)?;
    let changed = metadata.modified()?;
    if kept.is_some_and(|kept| kept.changed >= changed) {
        return Ok(());
    }
    write(set, name, &fs::read(from)?)
}

fn lock(set: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = openat(CWD, set.join(".lock"), flags, Mode::from_raw_mode(0o600))?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

struct Login {
    bytes: Vec<u8>,
    changed: SystemTime,
}

/// A regular file below a home in which an agent may have left any links and pipes it liked: none
/// is followed or waited for.
fn read(home: &Path, file: &Path) -> io::Result<Option<Login>> {
    let opened = open_directory(CWD, home, ResolveFlags::empty()).and_then(|home| {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        openat2(&home, file, flags, Mode::empty(), BENEATH)
    });
    let opened = match opened {
        Ok(opened) => fs::File::from(opened),
        // Only a plain file is a login.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::NXIO) => {
            return Ok(None);
        }
        Err(errno) => return Err(errno.into()),
    };
    let metadata = opened.metadata()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(Login { bytes, changed: metadata.modified()? }))
}

/// Writes a file below such a home, whole or not at all, and follows no link.
fn write(home: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let (directory, name) = parent(home, file)?;
    let part = format!(".probity-{}-{}", std::process::id(), directory.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = openat(&directory, &part, flags, Mode::from_raw_mode(0o600))?;
    give_to_owner(&written, home)?;
    fs::File::from(written).write_all(bytes)?;
    // A link of that name is replaced, not followed.
    Ok(renameat(&directory, &part, &directory, name)?)
}

fn remove(home: &Path, file: &Path) -> io::Result<()> {
    let (directory, name) = parent(home, file)?;
    match unlinkat(&directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// The directory that a file belongs into, made where it is missing.
fn parent<'a>(home: &Path, file: &'a Path) -> io::Result<(OwnedFd, &'a std::ffi::OsStr)> {
    let mut here = open_directory(CWD, home, ResolveFlags::empty())?;
    for part in file.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = part else { continue };
        let made = match mkdirat(&here, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(errno.into()),
        };
        here = open_directory(here.as_fd(), Path::new(name), BENEATH)?;
        if made {
            give_to_owner(&here, home)?;
        }
    }
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((here, name))
}

/// In a container the agent is the owner of the workspace, and so is its home, while we may be root.
fn give_to_owner(made: impl AsFd, home: &Path) -> io::Result<()> {
    let owner = fs::metadata(home)?;
    let is_ours = owner.uid() == rustix::process::geteuid().as_raw();
    if is_ours || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(owner.uid()), Gid::from_raw(owner.gid()));
    Ok(chownat(made, "", Some(user), Some(group), AtFlags::EMPTY_PATH)?)
}

fn open_directory(at: impl AsFd, path: &Path, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(at, path, flags, Mode::empty(), resolve)
}

#[cfg(test)]
mod tests;
