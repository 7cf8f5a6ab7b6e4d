//! What a process does before Landlock confines it: it makes a watchdog of itself, and goes on as its
//! child.
//!
//! The watchdog is a copy of ours and runs no other program. It adopts what its child leaves behind, it
//! hears our signals and our end through a pipe, and it leaves last. It is in a Landlock domain of its
//! own, out of which no signal gets: so `kill(-1)` reaches the whole tree, wherever its processes went,
//! at one moment, and nothing else.

use std::{
    ffi::CString,
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    ptr,
};

use libc::{c_int, c_long, c_ulong, pid_t};
use rustix::process::Pid;

use super::submit_to;

/// All that is needed, made before the fork.
#[derive(Debug)]
pub(crate) struct Confined {
    /// Whom the tree runs as, if we are somebody else: user and group.
    pub(crate) user: Option<(u32, u32)>,
    /// Our words to the watchdog: one byte for each signal, and the end when we are gone.
    pub(crate) words: OwnedFd,
    pub(crate) null: OwnedFd,
    /// Keeps signals inside.
    pub(crate) scope: OwnedFd,
    /// Keeps files outside.
    pub(crate) files: OwnedFd,
    pub(crate) filters: Vec<Vec<libc::sock_filter>>,
    /// The last of the filters, whose questions are answered by whoever has its listener.
    pub(crate) supervised: Vec<libc::sock_filter>,
    /// Where the listener is sent.
    pub(crate) supervisor: OwnedFd,
    /// Removes what we cannot remove any more, when we were killed.
    pub(crate) cleaner: Cleaner,
}

/// A program and its arguments, as the kernel takes them.
#[derive(Debug)]
pub(crate) struct Cleaner {
    words: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

#[expect(unsafe_code, reason = "pointers are not sent to other threads by themselves")]
// SAFETY: the pointers lead to the strings beside them, which are on the heap and never change.
unsafe impl Send for Cleaner {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Sync for Cleaner {}

impl Cleaner {
    pub(crate) fn new(words: Vec<CString>) -> Self {
        let pointers = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Self { words, pointers }
    }
}

const PR_CAP_AMBIENT: c_int = 47;
const PR_CAP_AMBIENT_CLEAR_ALL: c_ulong = 4;

/// Being user 0 means nothing any more, and no capability is kept or raised: all of it locked.
const SECURE_BITS: c_ulong = 0b1110_1111;

/// The version of the structures of `capset`, with room for 64 capabilities.
const CAPABILITIES: u32 = 0x2008_0522;

impl Confined {
    /// Becomes the watchdog, and returns in its child alone, with the number of the watchdog.
    pub(super) fn divide(&self) -> io::Result<Pid> {
        rustix::thread::set_no_new_privs(true)?;
        submit_to(&self.scope)?;
        require_scope()?;
        self.give_up_powers()?;
        let watchdog = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(watchdog))?;
        rustix::process::setsid()?;
        match fork()? {
            0 => Ok(watchdog),
            child => self.watch(child),
        }
    }

    /// The last thing that the child does before it runs the program.
    pub(super) fn close_in(&self) -> io::Result<()> {
        submit_to(&self.files)?;
        for filter in &self.filters {
            install(filter, 0)?;
        }
        let flags =
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let listener = install(&self.supervised, flags)?;
        send(self.supervisor.as_raw_fd(), listener)
    }

    #[expect(unsafe_code, reason = "the C library's own calls speak to all threads, or allocate")]
    fn give_up_powers(&self) -> io::Result<()> {
        // SAFETY: plain system calls on numbers, and on structures on our stack.
        unsafe {
            // Refused to whoever has no power over them, who cannot give any to a program either.
            for capability in 0..64_u64 {
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
            libc::prctl(libc::PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0);
            libc::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
            if let Some((user, group)) = self.user {
                done(libc::syscall(libc::SYS_setgroups, 0, ptr::null::<u32>()))?;
                done(libc::syscall(libc::SYS_setresgid, group, group, group))?;
                done(libc::syscall(libc::SYS_setresuid, user, user, user))?;
            }
            let header = [CAPABILITIES, 0_u32];
            let none = [0_u32; 6];
            done(libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()))
        }
    }

    /// The rest of this process: it allocates nothing, takes no lock and never returns.
    fn watch(&self, child: pid_t) -> ! {
        let words = self.alone();
        let ended = signal_of_children();
        let mut orphaned = false;
        let status = loop {
            if let Some(status) = reap(child, libc::WNOHANG) {
                break Some(status);
            }
            if orphaned {
                break None;
            }
            if is_spoken_to(words, ended) {
                match word(words) {
                    Some(signal) if c_int::from(signal) == libc::SIGKILL => kill_all(),
                    Some(signal) => to_group(child, c_int::from(signal)),
                    None => orphaned = true,
                }
            }
        };
        kill_all();
        let status = reap(child, 0).or(status).unwrap_or(0);
        if orphaned {
            self.clean();
        }
        exit(if libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else {
            128 + libc::WTERMSIG(status)
        })
    }

    /// Keeps nothing of what was handed down but the pipe: otherwise another tree's watchdog would not
    /// see our end, and the pipes of this tree would not end with it.
    #[expect(unsafe_code, reason = "descriptors are taken by number")]
    fn alone(&self) -> RawFd {
        const WORDS: RawFd = 3;
        // SAFETY: what is closed or replaced here is used by nobody: the caller never returns, and what
        // it still reads is memory.
        unsafe {
            for stream in 0..WORDS {
                libc::dup2(self.null.as_raw_fd(), stream);
            }
            libc::dup2(self.words.as_raw_fd(), WORDS);
            libc::fcntl(WORDS, libc::F_SETFD, libc::FD_CLOEXEC);
            let behind = WORDS + 1;
            if libc::syscall(libc::SYS_close_range, behind, libc::c_uint::MAX, 0) != 0 {
                for number in behind..65_536 {
                    libc::close(number);
                }
            }
            libc::chdir(c"/".as_ptr());
            libc::prctl(libc::PR_SET_NAME, c"sandbox-keeper".as_ptr(), 0, 0, 0);
            // It has a copy of our memory.
            libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        }
        WORDS
    }

    #[expect(unsafe_code, reason = "the standard library would allocate")]
    fn clean(&self) {
        let Some(program) = self.cleaner.words.first() else { return };
        let none: [*const libc::c_char; 1] = [ptr::null()];
        // SAFETY: both lists end with null, and lead to strings that are still there.
        unsafe {
            let mut mask = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut mask);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut());
            libc::execve(program.as_ptr(), self.cleaner.pointers.as_ptr(), none.as_ptr());
        }
    }
}

/// On a kernel that does not hold signals back, `kill(-1)` would end everything. Whoever started us is
/// outside, and has to be out of reach; we still have the powers that we began with.
#[expect(unsafe_code, reason = "rustix refuses to send no signal this way")]
fn require_scope() -> io::Result<()> {
    // SAFETY: no signal is sent.
    let reached = unsafe { libc::kill(libc::getppid(), 0) } == 0;
    if reached || io::Error::last_os_error().raw_os_error() != Some(libc::EPERM) {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    Ok(())
}

#[expect(unsafe_code, reason = "no library forks")]
fn fork() -> io::Result<pid_t> {
    // SAFETY: this process has one thread, and both sides make system calls only until they exec.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(child),
    }
}

#[expect(unsafe_code, reason = "rustix has no seccomp")]
fn install(filter: &[libc::sock_filter], flags: c_ulong) -> io::Result<RawFd> {
    let too_long = |_| io::Error::from_raw_os_error(libc::EINVAL);
    let len = libc::c_ushort::try_from(filter.len()).map_err(too_long)?;
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the kernel reads the program, and writes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    done(answer)?;
    RawFd::try_from(answer).map_err(too_long)
}

/// Hands a descriptor over. The filter, which holds already, asks nobody about this call.
#[expect(unsafe_code, reason = "the ready-made way allocates")]
fn send(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    #[repr(C, align(8))]
    struct Room([u8; 64]);
    let mut room = Room([0; 64]);
    let mut byte = [0_u8; 1];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    const SIZE: libc::c_uint = size_of::<RawFd>() as libc::c_uint;
    // SAFETY: the message leads to values on this stack, which outlive the call; its one control message
    // is inside the room, which is larger than that needs.
    unsafe {
        let mut message = std::mem::zeroed::<libc::msghdr>();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = room.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(SIZE) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(SIZE) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor);
        done(libc::sendmsg(socket, &raw const message, 0) as c_long)
    }
}

fn done(answer: c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor that can be read when a child has ended. No signal ends this process any more but the
/// one that nothing can hold back.
#[expect(unsafe_code, reason = "rustix has no signalfd")]
fn signal_of_children() -> RawFd {
    // SAFETY: the sets are on our stack, and this process has one thread.
    unsafe {
        // Whoever started us may have had their children reaped unseen.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, ptr::null_mut());
        let mut children = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut children);
        libc::sigaddset(&raw mut children, libc::SIGCHLD);
        libc::signalfd(-1, &raw const children, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// Sleeps until we have spoken or a child has ended, and says whether we have spoken. It also wakes by
/// itself: a child may have ended before its signal could be held back.
#[expect(unsafe_code, reason = "called where nothing may allocate or panic")]
fn is_spoken_to(words: RawFd, ended: RawFd) -> bool {
    const PAUSE: c_int = 200;
    let source = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut sources = [source(words), source(ended)];
    let mut signals = [0_u8; 512];
    // SAFETY: the lists are on our stack, with their lengths.
    unsafe {
        libc::poll(sources.as_mut_ptr(), 2, PAUSE);
        libc::read(ended, signals.as_mut_ptr().cast(), signals.len());
    }
    let [words, _] = sources;
    words.revents != 0
}

/// The next byte, or none when the other side is gone.
#[expect(unsafe_code, reason = "called where nothing may allocate or panic")]
fn word(words: RawFd) -> Option<u8> {
    let mut byte = 0_u8;
    // SAFETY: there is room for the one byte.
    let read = unsafe { libc::read(words, (&raw mut byte).cast(), 1) };
    (read == 1).then_some(byte)
}

/// Collects what has ended, and says how the child did if it was among them.
#[expect(unsafe_code, reason = "called where nothing may allocate or panic")]
fn reap(child: pid_t, flags: c_int) -> Option<c_int> {
    let mut found = None;
    loop {
        let mut status = 0;
        // SAFETY: the status is on our stack.
        match unsafe { libc::waitpid(-1, &raw mut status, flags | libc::__WALL) } {
            ended if ended == child => found = Some(status),
            1.. => {}
            _ => return found,
        }
    }
}

#[expect(unsafe_code, reason = "rustix knows no signal to all")]
fn kill_all() {
    // SAFETY: that no signal leaves this domain was tried: nothing outside of the tree is reached.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// The child leads its group, and is not reaped: its number is nobody else's.
#[expect(unsafe_code, reason = "called where nothing may allocate or panic")]
fn to_group(child: pid_t, signal: c_int) {
    // SAFETY: a number that is no signal is an error, and nothing else.
    unsafe { libc::kill(-child, signal) };
}

#[expect(unsafe_code, reason = "nothing of the standard library may run at this end")]
fn exit(code: c_int) -> ! {
    // SAFETY: the process ends.
    unsafe { libc::_exit(code) }
}
