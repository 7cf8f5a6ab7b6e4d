//! A terminal of its own for a sandboxed process: ours would let it read and write what we do.
//!
//! What is typed goes through as it is, keys that stand for signals included: the process's own
//! terminal makes signals of them.

use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal as _, Read as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::fs::OpenOptionsExt as _,
    },
    sync::Arc,
    thread,
};

use probity_sandbox::{Child, Exit, Signal};
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize},
};

use super::{signals, streams::copy};

use crate::streams;

/// Our side of it.
pub(super) struct Terminal {
    ours: File,
}

impl Terminal {
    /// One of the size of ours, and the side for the process; `None` if we are not on a terminal.
    pub(super) fn open() -> io::Result<Option<(Self, Arc<OwnedFd>)>> {
        if !io::stdin().is_terminal() || !streams::stdout().is_terminal() {
            return Ok(None);
        }
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let path = ptsname(&ours, Vec::new())?;
        let path = path.to_str().map_err(io::Error::other)?;
        let theirs = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY | libc::O_CLOEXEC)
            .open(path)?;
        let terminal = Self { ours: File::from(ours) };
        terminal.resize()?;
        Ok(Some((terminal, Arc::new(theirs.into()))))
    }

    fn resize(&self) -> io::Result<()> {
        Ok(tcsetwinsize(&self.ours, tcgetwinsize(io::stdin())?)?)
    }

    /// Waits for the end, with all that the process wrote written.
    pub(super) fn follow(self, child: Child, mut signals: File) -> io::Result<Exit> {
        signals::catch_size_too()?;
        let _raw = Raw::set()?;
        let typed = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let keys = self.ours.try_clone()?;
        // Left alone at the end: reading from a terminal cannot be called off.
        thread::Builder::new().name("stdin".to_owned()).spawn(move || copy(typed, keys))?;
        let shown = File::from(streams::stdout().descriptor().try_clone_to_owned()?);
        let written = self.ours.try_clone()?;
        let showing = thread::Builder::new().name("stdout".to_owned());
        let showing = showing.spawn(move || copy(written, shown))?;
        let child = Arc::new(child);
        let signalled = Arc::clone(&child);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut number = [0];
            while signals.read_exact(&mut number).is_ok() {
                match Signal::from_named_raw(i32::from(number[0])) {
                    // A size that cannot be had is the one of before.
                    Some(Signal::WINCH) => drop(self.resize()),
                    Some(signal) => signalled.signal(signal),
                    None => {}
                }
            }
        })?;
        let exit = child.wait();
        // A copier does not panic; it ends when nobody has the other side any more.
        drop(showing.join());
        Ok(exit)
    }
}

/// Our own terminal passes everything on; dropping this makes it as it was.
struct Raw {
    before: Termios,
}

impl Raw {
    fn set() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Err(error) = tcsetattr(io::stdin(), OptionalActions::Now, &self.before) {
            tracing::warn!("the terminal cannot be reset: {error}; run `reset`");
        }
    }
}
