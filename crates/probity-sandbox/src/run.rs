//! The convenience for those who want a result and no pipes.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Write},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use crate::keeper::lock;
use crate::{Backend, Child, Exit, SpawnError, Spec, Stream, Streams, spawn};

/// How much of standard error is kept.
const TAIL: usize = 64 * 1024;

const CHUNK: usize = 64 * 1024;

/// How long a pipe may stay open after the process has ended.
const REST: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub exit: Exit,
    /// Up to the limit of the spec.
    pub stdout: Vec<u8>,
    /// The last 64 KiB.
    pub stderr_tail: Vec<u8>,
    pub stderr_bytes: u64,
    /// What of the limits was held less than asked for.
    pub notes: Vec<String>,
}

/// Runs a process to its end with this input. Its output is bounded: standard output by the
/// spec's limit, at which the process is ended; standard error by keeping its tail.
pub fn run(backend: &Backend, spec: &Spec, input: &[u8]) -> Result<Outcome, SpawnError> {
    let streams = Streams { stdin: Stream::Pipe, stdout: Stream::Pipe, stderr: Stream::Pipe };
    let child = spawn(backend, &Spec { streams, ..spec.clone() })?;
    collect(child, spec.limits.output, input)
}

/// Follows a process with three pipes to its end.
pub(crate) fn collect(
    mut child: Child,
    output: Option<u64>,
    input: &[u8],
) -> Result<Outcome, SpawnError> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let limit = output.unwrap_or(u64::MAX);
    let (input, shared) = (input.to_vec(), Arc::clone(&child.shared));
    let failed = || SpawnError::io("a thread for the pipes");
    in_background(move |_: &Mutex<()>| feed(stdin, &input)).map_err(failed())?;
    let output = in_background(move |kept| {
        if head(stdout, limit, kept) {
            shared.kill(Some(Exit::OutputLimit));
        }
    });
    let output = output.map_err(failed())?;
    let errors = in_background(move |kept| tail(stderr, kept)).map_err(failed())?;
    let exit = child.wait();
    let stdout: Vec<u8> = output.take();
    let Tail { kept, total } = errors.take();
    let notes = child.notes().to_vec();
    Ok(Outcome { exit, stdout, stderr_tail: kept.into(), stderr_bytes: total, notes })
}

/// What a thread has collected so far.
struct Background<Value> {
    kept: Arc<Mutex<Value>>,
    done: mpsc::Receiver<()>,
}

/// Of its own and not of a scope, because a pipe that somebody else holds open (a helper of the
/// process that has another user, say) must not hold us up when the process has ended.
fn in_background<Value: Default + Send + 'static>(
    work: impl FnOnce(&Mutex<Value>) + Send + 'static,
) -> io::Result<Background<Value>> {
    let kept = Arc::new(Mutex::new(Value::default()));
    let (finished, done) = mpsc::channel();
    let theirs = Arc::clone(&kept);
    thread::Builder::new().spawn(move || {
        work(&theirs);
        // Whoever waits may have given up.
        finished.send(()).ok();
    })?;
    Ok(Background { kept, done })
}

impl<Value: Default> Background<Value> {
    /// All of it if the pipe ends soon, else what there is.
    fn take(self) -> Value {
        self.done.recv_timeout(REST).ok();
        std::mem::take(&mut lock(&self.kept))
    }
}

/// A process that does not read its input is free not to.
fn feed(stdin: Option<File>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(input).ok();
    }
}

/// Keeps the beginning. True if there was more.
fn head(stdout: Option<File>, limit: u64, kept: &Mutex<Vec<u8>>) -> bool {
    let Some(mut stdout) = stdout else { return false };
    let mut buffer = vec![0; CHUNK];
    let mut total: u64 = 0;
    while let Ok(read @ 1..) = stdout.read(&mut buffer) {
        let room = limit.saturating_sub(total);
        total += read as u64;
        let fits = usize::try_from(room).map_or(read, |room| room.min(read));
        lock(kept).extend(buffer.iter().take(fits));
        if total > limit {
            return true;
        }
    }
    false
}

#[derive(Default)]
struct Tail {
    kept: VecDeque<u8>,
    total: u64,
}

fn tail(stderr: Option<File>, tail: &Mutex<Tail>) {
    let Some(mut stderr) = stderr else { return };
    let mut buffer = vec![0; CHUNK];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        let mut tail = lock(tail);
        tail.total += read as u64;
        tail.kept.extend(buffer.iter().take(read));
        let excess = tail.kept.len().saturating_sub(TAIL);
        tail.kept.drain(..excess);
    }
}
