//! A process in a container, and the second one that ends it when we cannot.

use std::{
    io::{self, Read as _},
    path::PathBuf,
    process::{self, ChildStdout, Command, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process},
};

use super::{Door, Engine, container, mark::Mark};
use crate::{
    keeper::{Tree, lock},
    own_keys,
    spawner::{self, Before},
};

/// Waits for the end of its input, then kills the group and whoever else bears the mark. A process
/// that is only about to begin is waited for: it would begin after us. Up to the last step nothing
/// is forked, since those who are to be killed may have used up all processes.
const END: &str = r#"
while read -r word; do :; done
round=0
while [ ! -s "/run/$1" ] && [ "$round" -lt 10 ]; do sleep 0.1; round=$((round + 1)); done
again=1
while [ -n "$again" ]; do
    again=
    [ -e "/run/$1" ] && read -r pid < "/run/$1" && kill -s KILL -- "-$pid" 2>/dev/null && again=1
    for entry in /proc/[0-9]*; do
        while read -r a b c limit rest; do
            if [ "$a $b $c" = "Max file size" ]; then
                case "$limit" in "$3" | "$4") kill -s KILL "${entry#/proc/}" && again=1 ;; esac
                break
            fi
        done < "$entry/limits"
    done 2>/dev/null
    round=$((round + 1))
    [ "$round" -lt 100 ] || break
done
for entry in $(grep -ls -- "$2" /proc/[0-9]*/environ); do
    pid=${entry#/proc/}
    [ "${pid%%/*}" = "$$" ] || kill -s KILL "${pid%%/*}" 2>/dev/null
done
rm -f "/run/$1"
echo gone
"#;

/// The process may not have written its number yet.
const SIGNAL: &str = r#"
round=0
while [ ! -s "/run/$1" ] && [ "$round" -lt 20 ]; do sleep 0.1; round=$((round + 1)); done
read -r pid < "/run/$1" && kill -s "$2" -- "-$pid"
"#;

/// How long an engine may take to end a process before it counts as dead itself.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Session {
    program: PathBuf,
    container: String,
    mark: String,
    watchdog: Mutex<Option<process::Child>>,
    client: Option<Pid>,
    /// Open as long as the session is.
    door: Option<Door>,
}

impl Session {
    /// Starts the watchdog, before there is anything to watch.
    pub(super) fn start(engine: &Engine, container: &str, mark: &Mark) -> io::Result<Self> {
        let mut command = Command::new(&engine.program);
        own_keys::withhold(&mut command);
        command
            .args(["exec", "-i", container, "/bin/sh", "-c", END, "watchdog"])
            .args([&mark.name, &mark.variable()])
            .args(mark.bytes())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // It must outlive us: the end of its input comes after our own.
        let watchdog = spawner::start(command, Before::default())?.hand_over()?;
        Ok(Self {
            program: engine.program.clone(),
            container: container.to_owned(),
            mark: mark.name.clone(),
            watchdog: Mutex::new(Some(watchdog)),
            client: None,
            door: None,
        })
    }

    pub(super) fn with_client(mut self, client: Pid, door: Option<Door>) -> Self {
        self.client = Some(client);
        self.door = door;
        self
    }

    /// Lets the watchdog do its work, and waits until it says that it has. What its engine needs to
    /// clear away an `exec` is longer than the work, and is left to its client.
    fn release(&self) {
        let Some(mut watchdog) = lock(&self.watchdog).take() else { return };
        drop(watchdog.stdin.take());
        let mut said = watchdog.stdout.take();
        let is_in_time = said.as_ref().is_some_and(said_or_ended);
        if !is_in_time {
            watchdog.kill().ok();
        }
        if !is_in_time || !said.as_mut().is_some_and(has_word) {
            self.end_without_watchdog();
        }
        // Its pipe stays open, lest the last word of the client fail.
        let reap = move || {
            watchdog.wait().ok();
            drop(said);
        };
        // Without a thread nobody reaps it before our own end, which does it as well.
        thread::Builder::new().stack_size(64 * 1024).spawn(reap).ok();
    }

    /// A watchdog starts beside the process, which may have used up all processes before it, or the
    /// engine is too slow for it. Then everything in the container ends, and is gone when the engine
    /// says so: `kill` only sends the signal.
    fn end_without_watchdog(&self) {
        for command in ["kill", "wait"] {
            container::client(&self.program, &[command, &self.container]).ok();
        }
    }
}

/// Whether anything was said before the pipe ended.
fn has_word(pipe: &mut ChildStdout) -> bool {
    matches!(pipe.read(&mut [0]), Ok(1..))
}

/// Waits for a first byte or the end of the pipe; false at the end of patience.
fn said_or_ended(pipe: &ChildStdout) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        let Ok(left) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(ready) => return ready > 0,
            Err(_) => return false,
        }
    }
    false
}

impl Tree for Session {
    fn signal(&self, signal: Signal) {
        if signal == Signal::KILL {
            self.kill();
            return;
        }
        let number = signal.as_raw().to_string();
        let words =
            ["exec", &self.container, "/bin/sh", "-c", SIGNAL, "signal", &self.mark, &number];
        // A process that has ended needs no signal.
        container::client(&self.program, &words).ok();
    }

    /// The client ends when its process does; should the engine not answer, it ends at once.
    fn kill(&self) {
        self.release();
        if let Some(client) = self.client {
            kill_process(client, Signal::KILL).ok();
        }
    }

    fn finish(&self) {
        self.release();
    }
}

impl Drop for Session {
    /// Only a session whose process could not be started still has its watchdog here.
    fn drop(&mut self) {
        self.release();
    }
}
