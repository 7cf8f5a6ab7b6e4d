//! What the kernel tells about a call, and what can be seen of the process that made it.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::fs::FileExt,
    },
    process,
};

use rustix::{
    fs::{Mode, OFlags, open, openat},
    io::Errno,
};

/// Where questions come from, and answers go.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

/// What a call that we made has come to.
#[derive(Debug)]
pub(super) enum Done {
    Number(i64),
    /// A file that is opened; whether programs that the process starts have it, too.
    File {
        file: OwnedFd,
        is_inherited: bool,
    },
}

/// A call that waits for its answer.
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) id: u64,
    /// The thread that made it.
    thread: u32,
    pub(super) number: u32,
    pub(super) arguments: [u64; 6],
}

impl Listener {
    #[expect(unsafe_code, reason = "the standard library receives no descriptors yet")]
    pub(super) fn receive(socket: &OwnedFd) -> io::Result<Self> {
        #[repr(C, align(8))]
        struct Room([u8; 64]);
        let (mut room, mut byte) = (Room([0; 64]), [0_u8; 1]);
        let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        // SAFETY: the message leads to values on this stack, with their sizes; what the kernel has
        // written there is one descriptor, if it says so, and that is ours then.
        let descriptor = unsafe {
            let mut message = std::mem::zeroed::<libc::msghdr>();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = room.0.as_mut_ptr().cast();
            message.msg_controllen = room.0.len() as _;
            let flags = libc::MSG_CMSG_CLOEXEC;
            if libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) < 0 {
                return Err(io::Error::last_os_error());
            }
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            let is_one = !header.is_null()
                && ((*header).cmsg_level, (*header).cmsg_type)
                    == (libc::SOL_SOCKET, libc::SCM_RIGHTS);
            is_one.then(|| {
                OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())
            })
        };
        descriptor.map(Self).ok_or_else(|| io::Error::other("the process sent no listener"))
    }

    /// None when no process is left that could ask.
    #[expect(unsafe_code, reason = "rustix has no seccomp")]
    pub(super) fn next(&self) -> Option<Notice> {
        while self.is_open() {
            // SAFETY: the kernel wants it zeroed, and fills it; a structure of numbers is valid so.
            let mut notice = unsafe { std::mem::zeroed::<libc::seccomp_notif>() };
            let request = libc::SECCOMP_IOCTL_NOTIF_RECV as _;
            // SAFETY: the structure is the one of this request.
            if unsafe { libc::ioctl(self.0.as_raw_fd(), request, &raw mut notice) } == 0 {
                return Some(Notice {
                    id: notice.id,
                    thread: notice.pid,
                    number: notice.data.nr.cast_unsigned(),
                    arguments: notice.data.args,
                });
            }
            match io::Error::last_os_error().raw_os_error() {
                // The process died before it was heard.
                Some(libc::ENOENT | libc::EINTR) => {}
                _ => return None,
            }
        }
        None
    }

    /// Waits for a question. False when no process with the filter is left.
    fn is_open(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            let mut source = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut source, None) {
                Err(Errno::INTR) => {}
                Err(_) => return false,
                Ok(_) => {
                    let [source] = source;
                    return source.revents().contains(PollFlags::IN);
                }
            }
        }
    }

    pub(super) fn answer(&self, id: u64, result: Result<Done, Errno>) {
        let refused = |errno: Errno| (0, -errno.raw_os_error());
        let (value, error) = match result {
            Ok(Done::Number(value)) => (value, 0),
            Ok(Done::File { file, is_inherited }) => {
                match self.hand_over(id, &file, is_inherited) {
                    Ok(()) => return,
                    Err(errno) => refused(errno),
                }
            }
            Err(errno) => refused(errno),
        };
        self.respond(id, value, error, 0);
    }

    /// Lets the process make the call itself, with arguments that it may change meanwhile: only for calls
    /// that Landlock judges in full.
    pub(super) fn leave_to_landlock(&self, id: u64) {
        // The constant fits: it is 1.
        self.respond(id, 0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Gives the process a file of ours, whose number is the answer.
    #[expect(unsafe_code, reason = "rustix has no seccomp")]
    fn hand_over(&self, id: u64, file: &OwnedFd, is_inherited: bool) -> Result<(), Errno> {
        #[repr(C)]
        struct Handed {
            id: u64,
            flags: u32,
            source: u32,
            number: u32,
            number_flags: u32,
        }
        let handed = Handed {
            id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            source: file.as_raw_fd().cast_unsigned(),
            number: 0,
            number_flags: if is_inherited { 0 } else { libc::O_CLOEXEC.cast_unsigned() },
        };
        const REQUEST: u64 = 0x4018_2103;
        // SAFETY: the structure is the one of this request, which reads it.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), REQUEST as _, &raw const handed) } {
            0.. => Ok(()),
            _ => Err(last_error()),
        }
    }

    #[expect(unsafe_code, reason = "rustix has no seccomp")]
    fn respond(&self, id: u64, val: i64, error: i32, flags: u32) {
        let mut response = libc::seccomp_notif_resp { id, val, error, flags };
        // SAFETY: the structure is the one of this request. A process that is gone needs no answer.
        unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw mut response);
        }
    }

    /// Whether the call still waits: until then its thread's number is nobody else's.
    #[expect(unsafe_code, reason = "rustix has no seccomp")]
    pub(super) fn is_waiting(&self, id: u64) -> bool {
        // SAFETY: the request reads one number.
        let answer = unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID as _, &raw const id)
        };
        answer == 0
    }
}

/// The process behind a call.
#[derive(Debug)]
pub(super) struct Tracee {
    thread: u32,
    /// The kernel's directory about the thread, which never means another one.
    about: OwnedFd,
    memory: File,
}

/// A longer path is none.
const LONGEST_PATH: usize = 4096;

const PAGE: u64 = 4096;

impl Tracee {
    /// What is opened here stays that thread's, if the call was still waiting afterwards.
    pub(super) fn open(listener: &Listener, notice: &Notice) -> Result<Self, Errno> {
        let thread = notice.thread;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let about = open(format!("/proc/{thread}"), flags, Mode::empty())?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let memory = openat(&about, "mem", flags, Mode::empty()).map_err(|_| Errno::PERM)?;
        if !listener.is_waiting(notice.id) {
            return Err(Errno::SRCH);
        }
        Ok(Self { thread, about, memory: memory.into() })
    }

    /// As many bytes as there are, up to this many.
    pub(super) fn read(&self, address: u64, most: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; most];
        self.memory.read_exact_at(&mut bytes, address).map_err(|_| Errno::FAULT)?;
        Ok(bytes)
    }

    /// A path, which ends with a NUL. It is read page by page, since nothing may be behind it.
    pub(super) fn path(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let (mut path, mut at) = (Vec::new(), address);
        while path.len() < LONGEST_PATH {
            let rest = PAGE - at % PAGE;
            let part = self.read(at, usize::try_from(rest).map_err(|_| Errno::FAULT)?)?;
            let end = part.iter().position(|byte| *byte == 0);
            path.extend_from_slice(part.get(..end.unwrap_or(part.len())).unwrap_or_default());
            if end.is_some() {
                return if path.len() < LONGEST_PATH { Ok(path) } else { Err(Errno::NAMETOOLONG) };
            }
            at = at.checked_add(rest).ok_or(Errno::FAULT)?;
        }
        Err(Errno::NAMETOOLONG)
    }

    /// The file that it has open under a number, to be looked at and changed.
    pub(super) fn file(&self, number: RawFd) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        openat(&self.about, format!("fd/{number}"), flags, Mode::empty()).map_err(|errno| {
            match errno {
                Errno::NOENT => Errno::BADF,
                other => other,
            }
        })
    }

    /// What it has open under a number, to be used as the process would use it.
    pub(super) fn descriptor(&self, number: RawFd) -> Result<OwnedFd, Errno> {
        let process = pidfd(self.thread, PIDFD_THREAD)?;
        // A number of a thread that is gone may be another's by now; its directory is gone then.
        openat(&self.about, "stat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        take(&process, number)
    }

    pub(super) fn working_directory(&self) -> Result<OwnedFd, Errno> {
        openat(&self.about, "cwd", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    /// The bits that it does not give to what it makes.
    pub(super) fn umask(&self) -> Option<u32> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let status = openat(&self.about, "status", flags, Mode::empty()).ok()?;
        umask_of(&io::read_to_string(File::from(status)).ok()?)
    }
}

/// As the kernel tells about a process.
pub(super) fn umask_of(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// Whether sockets can be taken over at all: docker's default profile forbids the call, and the kernel
/// allows everybody to take their own.
pub(super) fn can_take() -> bool {
    let own = pidfd(process::id(), 0);
    own.and_then(|own| take(&own, own.as_raw_fd())).is_ok()
}

#[expect(unsafe_code, reason = "rustix takes no number that is not ours")]
fn take(process: &OwnedFd, number: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: the answer is a new descriptor, which is ours, or an error.
    unsafe {
        match libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) {
            taken @ 0.. => Ok(OwnedFd::from_raw_fd(RawFd::try_from(taken).unwrap_or(-1))),
            _ => Err(last_error()),
        }
    }
}

/// A thread that does not lead its process has a handle from Linux 6.9 on; a kernel whose Landlock does
/// for us is newer.
const PIDFD_THREAD: libc::c_int = libc::O_EXCL;

#[expect(unsafe_code, reason = "rustix does not name threads")]
fn pidfd(number: u32, flags: libc::c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: the answer is a new descriptor, which is ours, or an error.
    unsafe {
        match libc::syscall(libc::SYS_pidfd_open, number, flags) {
            opened @ 0.. => Ok(OwnedFd::from_raw_fd(RawFd::try_from(opened).unwrap_or(-1))),
            _ => Err(last_error()),
        }
    }
}

pub(super) fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::PERM)
}
