//! A process that is fed, listened to within bounds, and gone when this returns.

use std::{
    fs::File,
    io::{Read, Write as _},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    thread,
    time::Duration,
};

use probity_sandbox::{Exit, SpawnError, spawn};
use probity_text::{ending, one_line, stripped};

use crate::{
    AgentError, Cancel, Cause, Phase, Seat, StderrTap, bounded::EXCERPT_CHARS, cancel::Woken,
};

/// How much of the end of stderr is kept.
const STDERR_BYTES: usize = 32 << 10;

/// What is left of a process.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) exit: Exit,
    pub(crate) stdout: Vec<u8>,
    /// The process was ended because it wrote more than was allowed.
    pub(crate) flooded: bool,
    pub(crate) cancelled: bool,
    pub(crate) stderr: String,
}

/// Runs a command to its end, or to the end of its time.
pub(crate) fn run(
    seat: &Seat,
    argv: &[String],
    input: &str,
    time: Duration,
    most: usize,
    cancel: &Cancel,
) -> Result<Finished, SpawnError> {
    let mut spec = seat.spec(argv);
    spec.limits.wall = Some(time);
    let mut child = spawn(&seat.backend, &spec)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let done = AtomicBool::new(false);
    let (stdout, flooded, cancelled, stderr) = thread::scope(|threads| {
        let tap = seat.stderr.clone();
        threads.spawn(move || feed(stdin, input));
        let said = threads.spawn(move || {
            let tail = StderrTail::default();
            tail.listen(stderr, tap);
            tail.text()
        });
        let watch = threads.spawn(|| {
            let cancelled = cancel.watch(&done, None) == Woken::Cancelled;
            if cancelled {
                child.kill();
            }
            cancelled
        });
        let (stdout, flooded) = head(stdout, most);
        if flooded {
            child.kill();
        }
        // Also for a process that closes its output and goes on.
        child.wait();
        cancel.release(&done);
        // None of the three panics; if one did, what it had to say would be lost.
        (stdout, flooded, watch.join().unwrap_or_default(), said.join().unwrap_or_default())
    });
    Ok(Finished { exit: child.wait(), stdout, flooded, cancelled, stderr: seat.scrub(&stderr) })
}

/// An agent that does not read its prompt to the end is free not to.
fn feed(stdin: Option<File>, input: &str) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(input.as_bytes()).ok();
    }
}

fn head(stdout: Option<File>, most: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    if let Some(stdout) = stdout {
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        // What was read before an error is still what the process wrote.
        stdout.take(limit).read_to_end(&mut bytes).ok();
    }
    let flooded = bytes.len() > most;
    (bytes, flooded)
}

/// The end of what a process writes to stderr, read by a thread of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail {
    kept: Arc<Mutex<Vec<u8>>>,
}

impl StderrTail {
    pub(crate) fn listen(&self, stderr: Option<File>, tap: Option<StderrTap>) {
        let mut buffer = vec![0; 8 << 10];
        let Some(mut stderr) = stderr else { return };
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let piece = buffer.get(..read).unwrap_or_default();
            if let Some(tap) = &tap {
                tap(&stripped(&String::from_utf8_lossy(piece)));
            }
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(piece);
            let excess = kept.len().saturating_sub(STDERR_BYTES);
            kept.drain(..excess);
        }
    }

    pub(crate) fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        stripped(ending(&String::from_utf8_lossy(&kept), STDERR_BYTES))
    }
}

/// How a process ended, in words.
pub(crate) fn how(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::NotStarted => "a sandbox that could not be set up".to_owned(),
        Exit::Timeout | Exit::OutputLimit => "a limit reached".to_owned(),
    }
}

/// A program that could not be started, and what to do about it.
pub(crate) fn not_started(agent: &str, argv: &[String], error: &SpawnError) -> AgentError {
    let program = argv.first().cloned().unwrap_or_default();
    let way_out = match error {
        SpawnError::NotFound(_) => "install it, or give the path of the program",
        SpawnError::Setup { .. } => "`probity doctor` says what can contain it here",
        _ => "check the command and the directory it runs in",
    };
    let cause = Cause::NotStarted { program, why: one_line(&error.to_string(), EXCERPT_CHARS) };
    AgentError::new(agent, Phase::Starting, cause, way_out)
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_long_stderr_takes_no_more_memory_than_its_tail() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let tail = StderrTail::default();
        thread::scope(|threads| {
            threads.spawn(|| tail.listen(Some(File::from(OwnedFd::from(reader))), None));
            threads.spawn(move || writer.write_all(&[b'x'; 200_000]).unwrap());
        });
        assert_eq!(tail.kept.lock().unwrap().len(), STDERR_BYTES);
        assert_eq!(tail.text().len(), STDERR_BYTES);
    }
}
