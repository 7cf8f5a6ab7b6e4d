//! What other processes can see of the variables that this one was started with: nothing that matters.
//!
//! The kernel shows the environment of a program's start in `/proc/PID/environ`, to every process of the
//! same user and for as long as the program runs. Removing a variable changes nothing there. A test of a
//! hostile repository may be such a process. So the first thing that this program does is to start
//! itself again, as the same process, with the variables of a short list. All others come in a pipe that
//! was filled before. The new program reads and closes it before anything else, so that it has its
//! variables in its memory alone, and hands them to its children as ever. A file in memory would not do:
//! it is subject to the limit on the size of files.
//!
//! The price is one more start, about a millisecond. Memory, descriptors and `/proc/PID/mem` are closed
//! to other processes too, except for those of root; against root only a sandbox helps.

use std::{
    env,
    ffi::{CString, OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd},
        unix::{
            ffi::{OsStrExt as _, OsStringExt as _},
            process::CommandExt as _,
        },
    },
    path::Path,
    process::Command,
};

use rustix::{
    fs::{FileType, fstat},
    io::{FdFlags, fcntl_setfd},
    pipe::{PipeFlags, fcntl_setpipe_size, pipe_with},
    process::{DumpableBehavior, set_dumpable_behavior},
};

/// Names the pipe with the variables, by its descriptor and its number; only between the two starts.
const CARRIER: &str = "PROBITY_INTERNAL_VARIABLES";

/// Variables that are no secret: what the loader and the libraries read before we do, what describes
/// the terminal and the language, and the marks by which CI systems find the processes of a job.
const HARMLESS: &[&str] = &[
    "BUILD_ID",
    "CI",
    "COLORTERM",
    "COLUMNS",
    "GLIBC_TUNABLES",
    "HOME",
    "HOSTNAME",
    "HUDSON_SERVER_COOKIE",
    "JENKINS_NODE_COOKIE",
    "JENKINS_SERVER_COOKIE",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LLVM_PROFILE_FILE",
    "LOGNAME",
    "NO_COLOR",
    "OLDPWD",
    "PATH",
    "PWD",
    "RUNNER_TRACKING_ID",
    "SHELL",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "_",
];
const HARMLESS_PREFIXES: &[&str] = &["LC_", "LD_", "MALLOC_", "MIMALLOC_", "RUST_", "XDG_"];

/// What every pipe holds.
const USUAL_BYTES: usize = 64 << 10;

type Variables = Vec<(OsString, OsString)>;

/// Hides the variables. Has to be called first, while there is one thread; returns in a program that
/// was started without them, or at once if there is nothing to hide.
pub(crate) fn hide() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    if let Some(carried) = carried() {
        bring_back(&carried?);
        return Ok(());
    }
    let ours = Path::new("/proc/self/exe");
    let (harmless, hidden): (Variables, Variables) =
        env::vars_os().filter(|(name, _)| name != CARRIER).partition(|(name, _)| is_harmless(name));
    // Without /proc nobody can look there, and we would not find ourselves.
    if hidden.is_empty() || ours.symlink_metadata().is_err() {
        return Ok(());
    }
    let pipe = filled(&hidden)?;
    let number =
        number_of_pipe(&pipe).ok_or_else(|| io::Error::other("a pipe without a number"))?;
    let mut words = env::args_os();
    let mut again = Command::new(ours);
    again.arg0(words.next().unwrap_or_else(|| "probity".into())).args(words);
    again.env_clear().envs(harmless).env(CARRIER, format!("{} {number}", pipe.as_raw_fd()));
    Err(again.exec())
}

fn is_harmless(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    HARMLESS.contains(&name) || HARMLESS_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A pipe that stays open over the start, with all that will ever come out of it.
fn filled(variables: &Variables) -> io::Result<OwnedFd> {
    let mut bytes = Vec::new();
    for (name, value) in variables {
        for part in [name, value] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
    }
    // Nobody reads yet, so that waiting for room would take for ever.
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    if bytes.len() > USUAL_BYTES {
        fcntl_setpipe_size(&writer, bytes.len())?;
    }
    File::from(writer).write_all(&bytes)?;
    fcntl_setfd(&reader, FdFlags::empty())?;
    Ok(reader)
}

/// What tells a pipe from all others that exist.
fn number_of_pipe(file: impl AsFd) -> Option<u64> {
    let stat = fstat(file).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::Fifo).then_some(stat.st_ino)
}

/// What the start before this one left for us. A variable of that name which names no such pipe is
/// somebody's mistake, and says nothing.
#[expect(unsafe_code, reason = "a descriptor that came over a start has only its number")]
fn carried() -> Option<io::Result<Vec<u8>>> {
    let note = env::var(CARRIER).ok()?;
    let (descriptor, number) = note.split_once(' ')?;
    let descriptor: i32 = descriptor.parse().ok().filter(|descriptor| *descriptor > 2)?;
    let number: u64 = number.parse().ok()?;
    // SAFETY: nothing else in this process owns the descriptor, as nothing else has run yet; if it
    // turns out not to be ours, it is given up again without being closed.
    let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
    if number_of_pipe(&file) == Some(number) {
        let mut bytes = Vec::new();
        return Some(File::from(file).read_to_end(&mut bytes).map(|_| bytes));
    }
    let _not_ours = file.into_raw_fd();
    None
}

/// Makes the variables those of this process. The block that the kernel shows stays as it is.
#[expect(unsafe_code, reason = "the environment is changed while there is one thread")]
fn bring_back(bytes: &[u8]) {
    // A process is listed by the name of its program, which is now that of a link.
    let called = env::args_os().next().unwrap_or_else(|| "probity".into());
    let called = Path::new(&called).file_name().unwrap_or(OsStr::new("probity"));
    if let Ok(called) = CString::new(called.as_bytes()) {
        // Without it only listings differ.
        rustix::thread::set_name(&called).ok();
    }
    // SAFETY: this is the first thing that `main` does, and no other thread exists.
    unsafe { env::remove_var(CARRIER) };
    let mut parts = bytes.split(|byte| *byte == 0).map(|part| OsString::from_vec(part.to_vec()));
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        // A name with this sign cannot be set, and means nothing to anybody.
        if !name.is_empty() && !name.as_bytes().contains(&b'=') {
            // SAFETY: as above.
            unsafe { env::set_var(name, value) };
        }
    }
}
