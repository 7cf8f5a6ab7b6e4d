//! Signals that are meant for the command: caught here, and handed on by number.

use std::{
    fs::File,
    io,
    os::fd::{IntoRawFd as _, RawFd},
    sync::atomic::{AtomicI32, Ordering},
};

use rustix::pipe::{PipeFlags, pipe_with};

/// Where the handler writes; never closed, since a signal can come until the very end.
static PIPE: AtomicI32 = AtomicI32::new(-1);

const FORWARDED: [libc::c_int; 7] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGALRM,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// From now on these signals no longer end us; each is a byte with its number in this pipe.
pub(crate) fn catch() -> io::Result<File> {
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC)?;
    let writing: RawFd = writing.into_raw_fd();
    PIPE.store(writing, Ordering::Release);
    for signal in FORWARDED {
        handle(signal)?;
    }
    Ok(File::from(reading))
}

/// The same for a terminal's change of size.
pub(super) fn catch_size_too() -> io::Result<()> {
    handle(libc::SIGWINCH)
}

#[expect(unsafe_code, reason = "no safe interface sets a handler")]
fn handle(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: an all-zero sigaction is a valid one, and the handler does nothing but write(2),
    // which is allowed in a handler. A program that is executed gets the default again.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut before);
        // What the caller ignores, as `nohup` does, stays ignored.
        if before.sa_sigaction == libc::SIG_IGN {
            return Ok(());
        }
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut()) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[expect(unsafe_code, reason = "a handler may call little more than write")]
extern "C" fn note(signal: libc::c_int) {
    let byte = u8::try_from(signal).unwrap_or_default();
    // SAFETY: one byte of a live variable is written to a descriptor that is never closed. The
    // pipe is emptied all the time; if it were full, the signal would be one of thousands.
    unsafe {
        libc::write(PIPE.load(Ordering::Acquire), (&raw const byte).cast(), 1);
    }
}
