//! What `bwrap` tells about itself, and the tree it made.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::process::ExitStatusExt,
    },
    process,
    sync::Mutex,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process,
        kill_process_group, pidfd_open, pidfd_send_signal, prlimit, waitid,
    },
};

use crate::{
    Exit,
    cgroup::Cgroup,
    door::Door,
    keeper::{Tree, lock},
};

/// One JSON document a line: the first process's number, and at the end the program's exit code,
/// which is missing if the program never started.
#[derive(Debug)]
pub(crate) struct Status(BufReader<File>);

impl Status {
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self(BufReader::new(File::from(pipe)))
    }

    /// Within a time in which every `bwrap` has made it or failed.
    pub(crate) fn first_process(&mut self) -> Option<Pid> {
        let most = Timespec { tv_sec: 30, tv_nsec: 0 };
        if poll(&mut [PollFd::new(self.0.get_ref(), PollFlags::IN)], Some(&most)).ok()? == 0 {
            return None;
        }
        Pid::from_raw(i32::try_from(self.field("child-pid")?).ok()?)
    }

    /// To be asked when `bwrap` has ended, and the pipe with it.
    fn exit_code(&mut self) -> Option<i32> {
        i32::try_from(self.field("exit-code")?).ok()
    }

    fn field(&mut self, name: &str) -> Option<i64> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let value: serde_json::Value = serde_json::from_str(&line).ok()?;
            if let Some(number) = value.get(name).and_then(serde_json::Value::as_i64) {
                return Some(number);
            }
        }
    }
}

/// The first process of the namespace. It waits for us once everything is mounted; if that fails, it
/// has ended before. The descriptor never means another process.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) pid: Pid,
    descriptor: Option<OwnedFd>,
}

impl Init {
    pub(crate) fn new(pid: Pid) -> io::Result<Self> {
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH) => None,
            opened => Some(opened?),
        };
        Ok(Self { pid, descriptor })
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ends_within(Duration::ZERO)
    }

    pub(crate) fn ends_within(&self, most: Duration) -> bool {
        let Some(descriptor) = &self.descriptor else { return true };
        let Ok(most) = Timespec::try_from(most) else { return false };
        let ready = poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&most));
        ready.is_ok_and(|ready| ready > 0)
    }

    /// Counted in its own user namespace, where it and its descendants are all there is.
    pub(crate) fn limit_processes(&self, most: u64) -> io::Result<()> {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        match prlimit(Some(self.pid), Resource::Nproc, limit) {
            Err(Errno::SRCH) => Ok(()),
            limited => Ok(limited.map(drop)?),
        }
    }

    pub(crate) fn kill(&self) {
        if let Some(descriptor) = &self.descriptor {
            pidfd_send_signal(descriptor, Signal::KILL).ok();
        }
    }

    /// Its end comes after that of all others in the namespace.
    fn wait(&self, most: Duration) {
        self.ends_within(most);
        let Some(descriptor) = &self.descriptor else { return };
        // `bwrap` has ended without reaping it. If we adopt orphans it is our child now, and would
        // stay in the process table as long as we are there; otherwise this fails and does nothing.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        waitid(WaitId::PidFd(descriptor.as_fd()), options).ok();
    }
}

#[derive(Debug)]
pub(crate) struct Contained {
    pub(crate) helper: Pid,
    pub(crate) init: Init,
    pub(crate) held: Mutex<(Option<Status>, Option<Cgroup>)>,
    /// Open as long as the tree is there.
    pub(crate) _door: Option<Door>,
}

impl Tree for Contained {
    fn signal(&self, signal: Signal) {
        if signal == Signal::KILL {
            self.kill();
            return;
        }
        // The program is in the group of the first process, which itself, like every first
        // process, does not hear signals it has no handler for.
        kill_process_group(self.init.pid, signal).ok();
    }

    fn kill(&self) {
        self.init.kill();
        kill_process(self.helper, Signal::KILL).ok();
    }

    fn finish(&self) {
        self.init.kill();
        self.init.wait(Duration::from_secs(5));
        drop(lock(&self.held).1.take());
    }

    fn exit(&self, status: process::ExitStatus) -> Exit {
        let told = lock(&self.held).0.take().and_then(|mut status| status.exit_code());
        match (told, status.signal()) {
            (Some(code), _) => Exit::Code(code),
            // The helper was killed, by us or by somebody else.
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::NotStarted,
        }
    }
}
