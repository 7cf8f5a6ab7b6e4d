//! Our streams to the command's and back, as the bytes come, until it has ended.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::AsFd as _,
    sync::Arc,
    thread,
};

use probity_sandbox::{Child, Exit, Signal};

use crate::streams::{stderr, stdout};

/// Waits for the end, with all that the command wrote written.
pub(super) fn follow(mut child: Child, mut signals: File) -> io::Result<Exit> {
    if let Some(stdin) = child.stdin.take() {
        let ours = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Left alone at the end: reading from a terminal cannot be called off.
        thread::Builder::new().name("stdin".to_owned()).spawn(move || copy(ours, stdin))?;
    }
    let mut copies = Vec::new();
    for (name, theirs, ours) in [
        ("stdout", child.stdout.take(), stdout().descriptor().try_clone_to_owned()?),
        ("stderr", child.stderr.take(), stderr().descriptor().try_clone_to_owned()?),
    ] {
        let Some(theirs) = theirs else { continue };
        let copying = move || copy(theirs, File::from(ours));
        copies.push(thread::Builder::new().name(name.to_owned()).spawn(copying)?);
    }
    let child = Arc::new(child);
    let signalled = Arc::clone(&child);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut number = [0];
        while signals.read_exact(&mut number).is_ok() {
            if let Some(signal) = Signal::from_named_raw(i32::from(number[0])) {
                signalled.signal(signal);
            }
        }
    })?;
    let exit = child.wait();
    for copy in copies {
        // A copier does not panic, and what it could not write has no reader.
        drop(copy.join());
    }
    Ok(exit)
}

/// Until the end of the one or the other. Both are closed then, which tells the command that
/// nobody reads, or that no more comes.
pub(super) fn copy(mut from: File, mut to: File) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let written = buffer.get(..count).map_or(Ok(()), |bytes| to.write_all(bytes));
                if written.is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
