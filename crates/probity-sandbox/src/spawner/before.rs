//! What a new process does between fork and exec: the only unsafe code of this crate.
//!
//! Only async-signal-safe calls are allowed there. All that is needed is made before the fork; in
//! between there are plain system calls, no allocation and no lock.

#[cfg(target_os = "linux")]
mod confined;

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::Command,
};

#[cfg(target_os = "linux")]
use std::{
    net::{SocketAddr, TcpListener},
    os::fd::{AsFd, AsRawFd},
};

use rustix::process::{Pid, getpid, getppid, setsid};

use crate::Spec;
#[cfg(target_os = "linux")]
pub(crate) use confined::{Cleaner, Confined};

#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Files the program inherits under the numbers they have here. It gets no others, however
    /// careless whoever started us was with theirs.
    inherited: Vec<OwnedFd>,
    /// `cgroup.procs` files to enter.
    pub(crate) cgroups: Vec<OwnedFd>,
    #[cfg(target_os = "linux")]
    pub(crate) limits: Vec<(rustix::process::Resource, u64)>,
    /// The only processors that it may use.
    #[cfg(target_os = "linux")]
    pub(crate) processors: Option<rustix::thread::CpuSet>,
    /// A Landlock ruleset to submit to.
    #[cfg(target_os = "linux")]
    pub(crate) ruleset: Option<OwnedFd>,
    /// Where to go and listen.
    #[cfg(target_os = "linux")]
    pub(crate) enter: Option<Enter>,
    /// A watchdog to run under, and what closes the process in.
    #[cfg(target_os = "linux")]
    pub(crate) confined: Option<Box<Confined>>,
    /// Die when we die. A watchdog must not.
    die_with_us: bool,
    /// Whether standard input is a terminal whose keys send signals to the process.
    has_terminal: bool,
}

/// Namespaces to enter, in this order, and a socket to listen with in there.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Enter {
    pub(crate) namespaces: Vec<OwnedFd>,
    pub(crate) port: u16,
    /// The number of this file is the socket's afterwards.
    pub(crate) place: OwnedFd,
}

#[cfg(target_os = "linux")]
impl Enter {
    #[expect(
        unsafe_code,
        reason = "rustix puts a file in the place of another only if it owns both"
    )]
    fn apply(&self) -> io::Result<()> {
        for namespace in &self.namespaces {
            rustix::thread::move_into_link_name_space(namespace.as_fd(), None)?;
        }
        // All addresses, since the loopback may not be up yet; it is all there ever will be.
        let listener = TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], self.port)))?;
        // SAFETY: both descriptors are open, and the one that is replaced is used by nobody.
        match unsafe { libc::dup2(listener.as_raw_fd(), self.place.as_raw_fd()) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

impl Before {
    pub(crate) fn dying_with_us() -> Self {
        Self { die_with_us: true, ..Self::default() }
    }

    pub(crate) fn with_terminal_of(self, spec: &Spec) -> Self {
        Self { has_terminal: spec.terminal.is_some(), ..self }
    }

    /// Hands a file down, and says under which number the program will find it.
    #[cfg(target_os = "linux")]
    pub(crate) fn inherit(&mut self, file: OwnedFd) -> String {
        let number = file.as_raw_fd().to_string();
        self.inherited.push(file);
        number
    }

    #[expect(
        unsafe_code,
        reason = "sessions, cgroups, inherited files and the parent-death signal can only be set \
                  between fork and exec"
    )]
    pub(crate) fn attach(self, command: &mut Command) {
        let us = getpid();
        // SAFETY: `apply` makes system calls on values that exist already, as this file demands.
        unsafe {
            command.pre_exec(move || self.apply(us));
        }
    }

    fn apply(&self, us: Pid) -> io::Result<()> {
        let us = self.parent(us)?;
        setsid()?;
        if self.has_terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        for cgroup in &self.cgroups {
            // "0" is whoever writes it.
            rustix::io::write(cgroup, b"0")?;
        }
        self.apply_for_linux()?;
        for file in &self.inherited {
            rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
        }
        // We may have died before the signal was asked for.
        if self.die_with_us && getppid() != Some(us) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        self.close_in()
    }

    /// Who dies before this process does: we, or the watchdog that is made here.
    #[cfg(target_os = "linux")]
    fn parent(&self, us: Pid) -> io::Result<Pid> {
        self.confined.as_ref().map_or(Ok(us), |confined| confined.divide())
    }

    #[cfg(not(target_os = "linux"))]
    fn parent(&self, us: Pid) -> io::Result<Pid> {
        Ok(us)
    }

    #[cfg(target_os = "linux")]
    fn close_in(&self) -> io::Result<()> {
        self.confined.as_ref().map_or(Ok(()), |confined| confined.close_in())
    }

    #[cfg(not(target_os = "linux"))]
    fn close_in(&self) -> io::Result<()> {
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn apply_for_linux(&self) -> io::Result<()> {
        use rustix::process::{
            Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
        };
        for (resource, limit) in &self.limits {
            // A limit that is tighter already stays: it could not be raised anyway.
            let most = getrlimit(*resource).maximum.map_or(*limit, |hard| hard.min(*limit));
            setrlimit(*resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        if let Some(processors) = &self.processors {
            rustix::thread::sched_setaffinity(None, processors)?;
        }
        if let Some(ruleset) = &self.ruleset {
            rustix::thread::set_no_new_privs(true)?;
            submit_to(ruleset)?;
        }
        if self.die_with_us {
            set_parent_process_death_signal(Some(Signal::KILL))?;
        }
        close_on_exec();
        match &self.enter {
            Some(enter) => enter.apply(),
            None => Ok(()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn apply_for_linux(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Marks every file but the three streams to be closed by exec.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "rustix has no close_range")]
fn close_on_exec() {
    // SAFETY: only a flag of descriptors is set; which of them exist does not matter.
    unsafe {
        let all = libc::c_uint::MAX;
        if libc::syscall(libc::SYS_close_range, 3, all, libc::CLOSE_RANGE_CLOEXEC) == 0 {
            return;
        }
        // Kernels before 5.11 do it one by one.
        for number in 3..65_536 {
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the landlock crate's own way allocates")]
pub(crate) fn submit_to(ruleset: &OwnedFd) -> io::Result<()> {
    // SAFETY: the call takes a descriptor and flags, and touches no memory of ours.
    match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
