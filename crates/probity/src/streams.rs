//! The one way to standard output, and the one way to standard error.
//!
//! CI runners obey commands in what a program prints, and paths, sources, test output and the words
//! of agents are by strangers. So every stream breaks commands line by line, whoever writes to it.
//! `crates/probity/clippy.toml` refuses the streams of the standard library elsewhere.
//!
//! Three ways are less strict, each for a reason: annotations of our own ([`Stream::as_syntax`]),
//! contents that another program reads ([`Stream::for_programs`]), and protocols
//! ([`Stream::raw`], [`Stream::descriptor`]).

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    fmt,
    io::{self, IsTerminal as _, Write},
    os::fd::BorrowedFd,
    panic,
    sync::{Mutex, PoisonError},
    thread,
};

use probity_text::{
    runner::{LogPosition, Syntax},
    visible,
};
use rustix::fs::{FileType, fstat};

use crate::ci::in_ci;

/// Standard output, for people.
pub(crate) fn stdout() -> Stream {
    Stream { target: Target::Output, syntax: Some(Syntax::Text) }
}

/// Standard error, for people.
pub(crate) fn stderr() -> Stream {
    Stream { target: Target::Error, syntax: Some(Syntax::Text) }
}

/// Has panics told like everything else: their messages may quote the text that was looked at.
pub(crate) fn tell_panics() {
    panic::set_hook(Box::new(|panic| {
        let (thread, backtrace) = (thread::current(), Backtrace::capture());
        let mut text = format!("thread '{}' {panic}\n", thread.name().unwrap_or("<unnamed>"));
        if backtrace.status() == BacktraceStatus::Captured {
            text.push_str(&format!("stack backtrace:\n{backtrace}"));
        }
        // With stderr gone there is nobody left to tell.
        drop(stderr().write_all(visible::block(&text).as_bytes()));
    }));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Output,
    Error,
}

/// A stream of the process. What it breaks commands in depends on all that was written before, so
/// that one that is cut in two is seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    target: Target,
    /// What commands are broken in; without it nothing is.
    syntax: Option<Syntax>,
}

impl Stream {
    /// The same stream for a text of a syntax, whose values must stay what they are.
    pub(crate) fn as_syntax(self, syntax: Syntax) -> Self {
        Self { syntax: Some(syntax), ..self }
    }

    /// The same stream for contents that another program reads byte by byte, such as patches.
    ///
    /// In CI a stream is usually the log, where a command does harm; a pipe cannot be told from it.
    /// Elsewhere nobody obeys a command, and a patch that was changed could not be applied. A
    /// regular file is never the log.
    pub(crate) fn for_programs(self) -> Self {
        if in_ci() && !self.is_regular_file() { self } else { self.raw() }
    }

    /// The same stream for a protocol, whose reader is no runner.
    pub(crate) fn raw(self) -> Self {
        Self { syntax: None, ..self }
    }

    /// What is below the stream, to hand to a process or to ask about the terminal.
    #[expect(clippy::disallowed_methods, reason = "this is the one module that may")]
    pub(crate) fn descriptor(self) -> BorrowedFd<'static> {
        match self.target {
            Target::Output => rustix::stdio::stdout(),
            Target::Error => rustix::stdio::stderr(),
        }
    }

    pub(crate) fn is_terminal(self) -> bool {
        self.descriptor().is_terminal()
    }

    fn is_regular_file(self) -> bool {
        let kind = |status: rustix::fs::Stat| FileType::from_raw_mode(status.st_mode);
        fstat(self.descriptor()).is_ok_and(|status| kind(status) == FileType::RegularFile)
    }

    /// The stream for several writes that nobody else may write between.
    #[expect(clippy::disallowed_methods, reason = "this is the one module that may")]
    pub(crate) fn lock(self) -> LockedStream {
        static OUTPUT: Mutex<LogPosition> = Mutex::new(LogPosition::START);
        static ERROR: Mutex<LogPosition> = Mutex::new(LogPosition::START);
        let (standard, position) = match self.target {
            Target::Output => (Standard::Output(io::stdout().lock()), &OUTPUT),
            Target::Error => (Standard::Error(io::stderr().lock()), &ERROR),
        };
        LockedStream { standard, position, syntax: self.syntax }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().flush()
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.lock().write_all(bytes)
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.lock().write_fmt(text)
    }
}

pub(crate) struct LockedStream {
    standard: Standard,
    /// Held while bytes are written, which the lock of the stream allows one thread at a time.
    position: &'static Mutex<LogPosition>,
    syntax: Option<Syntax>,
}

enum Standard {
    Output(io::StdoutLock<'static>),
    Error(io::StderrLock<'static>),
}

impl Standard {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Output(out) => out,
            Self::Error(out) => out,
        }
    }
}

impl Write for LockedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let out = self.standard.writer();
        match self.syntax {
            None => out.write_all(bytes)?,
            Some(syntax) => {
                let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
                position.pass(syntax, bytes, |bytes| out.write_all(bytes))?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.standard.writer().flush()
    }
}

/// A pipe or a device that a user named: `/dev/stdout` is the log too.
pub(crate) struct Device<W> {
    out: W,
    position: LogPosition,
    syntax: Syntax,
}

impl<W: Write> Device<W> {
    pub(crate) fn new(out: W, syntax: Syntax) -> Self {
        Self { out, position: LogPosition::START, syntax }
    }
}

impl<W: Write> Write for Device<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.position.pass(self.syntax, bytes, |bytes| self.out.write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
