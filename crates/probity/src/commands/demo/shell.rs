//! Runs one printed line in a shell: in a process group of its own, with an end in time and size.

use std::{
    io::Read,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicI32, Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};

use super::place::DemoDirectory;

/// Far more than any step needs, and the demo still ends while somebody is watching.
const LONGEST: Duration = Duration::from_secs(40);
/// The process group of the line that runs now, or 0.
static RUNNING: AtomicI32 = AtomicI32::new(0);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

const MOST_OUTPUT: u64 = 1 << 20;

/// What a line left behind.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Why it was ended before it was done.
    pub(super) problem: Option<String>,
}

impl Ran {
    /// The code in words, since a signal has none.
    pub(super) fn exit(&self) -> String {
        self.code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit {code}"))
    }

    /// The first line of either output that has this in it.
    pub(super) fn line_with(&self, part: &str) -> Option<&str> {
        self.stdout.lines().chain(self.stderr.lines()).find(|line| line.contains(part))
    }
}

pub(super) fn run(place: &DemoDirectory, line: &str) -> anyhow::Result<Ran> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(place.root()).env_clear().envs(place.environment());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().context("cannot start a shell")?;
    RUNNING.store(group_of(&child), Ordering::Release);
    stop_if_interrupted(group_of(&child));
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let waited = wait(&mut child);
    stop_if_interrupted(group_of(&child));
    RUNNING.store(0, Ordering::Release);
    let (code, problem) = match waited? {
        Some(code) => {
            // Whatever a line left running goes with it, and closes the outputs that are read.
            signal(group_of(&child), Signal::KILL);
            (code, None)
        }
        None => {
            end(group_of(&child));
            child.wait()?;
            (None, Some(format!("this took more than {} s and was ended", LONGEST.as_secs())))
        }
    };
    Ok(Ran { code, stdout: text(stdout), stderr: text(stderr), problem })
}

/// The code, or nothing where the time was over.
fn wait(child: &mut Child) -> anyhow::Result<Option<Option<i32>>> {
    let started = Instant::now();
    while started.elapsed() < LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code()));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(None)
}

/// Ends what is running, if anything is; for the day when somebody interrupts the demo.
pub(super) fn end_running() {
    IS_INTERRUPTED.store(true, Ordering::Release);
    end(RUNNING.swap(0, Ordering::AcqRel));
}

/// Whoever interrupts us removes the directory and exits; no further step may write into it.
fn stop_if_interrupted(group: i32) {
    if IS_INTERRUPTED.load(Ordering::Acquire) {
        end(group);
        loop {
            thread::park();
        }
    }
}

/// Programs that contain others are given the time to end them first.
fn end(group: i32) {
    if group != 0 {
        signal(group, Signal::TERM);
        thread::sleep(Duration::from_millis(500));
        signal(group, Signal::KILL);
    }
}

fn signal(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        // A group that is gone already is what we want.
        kill_process_group(group, signal).ok();
    }
}

fn group_of(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or_default()
}

fn collect(output: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(output) = output {
            // What was read before an error is shown all the same.
            drop(output.take(MOST_OUTPUT).read_to_end(&mut bytes));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn text(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_default()
}
