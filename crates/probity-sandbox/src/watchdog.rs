//! A small process that outlives us for a moment when we are killed, to end what we started.
//!
//! The parent-death signal reaches only the process itself. The watchdog holds the reading end of
//! a pipe: when the pipe ends without a word from us, we are gone, and it kills the group and all
//! that is in the cgroup. It is a shell script, since a library has no program of its own.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::process::Pid;

use crate::spawner::{self, Before};

/// First line: the group to kill. A second line means that we ended it ourselves.
const SCRIPT: &str = r#"
read -r group || exit 0
if read -r word; then exit 0; fi
kill -s KILL -- "-$group"
for list in "$@"; do
    round=0
    while [ "$round" -lt 100 ]; do
        found=
        while read -r pid; do found=1; kill -KILL "$pid"; done < "$list" || break
        [ -n "$found" ] || break
        round=$((round + 1))
    done
    rmdir "${list%/cgroup.procs}"
done
"#;

#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Starts it before there is anything to watch, so that there is no moment without it.
    pub(crate) fn start(cgroup: impl Iterator<Item = PathBuf>) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "watchdog"])
            .args(cgroup)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(Self(spawner::start(command, Before::default())?.hand_over()?))
    }

    pub(crate) fn watch(&mut self, group: Pid) -> io::Result<()> {
        self.tell(&format!("{}\n", group.as_raw_nonzero()))
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        self.0.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(line.as_bytes()))
    }
}

impl Drop for Watchdog {
    /// Called off. If it cannot be told, killing it does as well.
    fn drop(&mut self) {
        if self.tell("done\n").is_err() {
            self.0.kill().ok();
        }
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}
