//! The convenience for those who want a result and no pipes.

use std::{
    collections::VecDeque,
    fs::File,
    io::{Read, Write},
    thread,
};

use crate::{Backend, Child, Exit, SpawnError, Spec, Stream, Streams, spawn};

/// How much of standard error is kept.
const TAIL: usize = 64 * 1024;

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
    let mut child = spawn(backend, &Spec { streams, ..spec.clone() })?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let limit = spec.limits.output.unwrap_or(u64::MAX);
    let (stdout, (stderr_tail, stderr_bytes)) = thread::scope(|threads| {
        threads.spawn(move || feed(stdin, input));
        let errors = threads.spawn(move || tail(stderr));
        let output = head(stdout, limit, &child);
        // A reader cannot panic; if it did, the output would be what is lost.
        (output, errors.join().unwrap_or_default())
    });
    let exit = child.wait();
    Ok(Outcome { exit, stdout, stderr_tail, stderr_bytes, notes: child.notes().to_vec() })
}

/// A process that does not read its input is free not to.
fn feed(stdin: Option<File>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(input).ok();
    }
}

fn head(stdout: Option<File>, limit: u64, child: &Child) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stdout) = stdout {
        // What was read before an error is still what the process wrote.
        (&mut stdout).take(limit).read_to_end(&mut bytes).ok();
        let mut more = [0];
        if bytes.len() as u64 >= limit && matches!(stdout.read(&mut more), Ok(1)) {
            child.end_because(Exit::OutputLimit);
        }
    }
    bytes
}

fn tail(stderr: Option<File>) -> (Vec<u8>, u64) {
    let mut kept = VecDeque::new();
    let mut total: u64 = 0;
    if let Some(mut stderr) = stderr {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read) = stderr.read(&mut buffer) {
            if read == 0 {
                break;
            }
            total += read as u64;
            kept.extend(buffer.iter().take(read).copied());
            kept.drain(..kept.len().saturating_sub(TAIL));
        }
    }
    (kept.into(), total)
}
