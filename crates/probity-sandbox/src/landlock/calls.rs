//! The numbers of system calls, on both processors, so that the filter of either can be tested on one
//! machine. Calls that a processor does not have are none there.

/// The processor whose numbers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    X86_64,
    Aarch64,
}

impl Processor {
    /// Ours, if the filter knows it.
    pub(super) fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// How the kernel names it to a filter: machine, 64 bits, little-endian.
    pub(super) fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xC000_003E,
            Self::Aarch64 => 0xC000_00B7,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: &'static str,
    x86_64: Option<u32>,
    aarch64: Option<u32>,
}

impl Call {
    pub(super) fn on(self, processor: Processor) -> Option<u32> {
        match processor {
            Processor::X86_64 => self.x86_64,
            Processor::Aarch64 => self.aarch64,
        }
    }
}

const fn both(name: &'static str, x86_64: u32, aarch64: u32) -> Call {
    Call { name, x86_64: Some(x86_64), aarch64: Some(aarch64) }
}

/// One that newer processors do without.
const fn old(name: &'static str, x86_64: u32) -> Call {
    Call { name, x86_64: Some(x86_64), aarch64: None }
}

/// Since Linux 5.1 calls have one number everywhere.
const fn new(name: &'static str, number: u32) -> Call {
    both(name, number, number)
}

pub(super) const SOCKET: Call = both("socket", 41, 198);
pub(super) const SOCKETPAIR: Call = both("socketpair", 53, 199);
pub(super) const BIND: Call = both("bind", 49, 200);
pub(super) const CONNECT: Call = both("connect", 42, 203);
pub(super) const SENDTO: Call = both("sendto", 44, 206);
pub(super) const SENDMSG: Call = both("sendmsg", 46, 211);
pub(super) const SENDMMSG: Call = both("sendmmsg", 307, 269);

pub(super) const CHMOD: Call = old("chmod", 90);
pub(super) const FCHMOD: Call = both("fchmod", 91, 52);
pub(super) const FCHMODAT: Call = both("fchmodat", 268, 53);
pub(super) const FCHMODAT2: Call = new("fchmodat2", 452);
pub(super) const CHOWN: Call = old("chown", 92);
pub(super) const LCHOWN: Call = old("lchown", 94);
pub(super) const FCHOWN: Call = both("fchown", 93, 55);
pub(super) const FCHOWNAT: Call = both("fchownat", 260, 54);
pub(super) const UTIME: Call = old("utime", 132);
pub(super) const UTIMES: Call = old("utimes", 235);
pub(super) const FUTIMESAT: Call = old("futimesat", 261);
pub(super) const UTIMENSAT: Call = both("utimensat", 280, 88);
pub(super) const INOTIFY_ADD_WATCH: Call = both("inotify_add_watch", 254, 27);

pub(super) const OPEN: Call = old("open", 2);
pub(super) const CREAT: Call = old("creat", 85);
pub(super) const OPENAT: Call = both("openat", 257, 56);
pub(super) const TRUNCATE: Call = both("truncate", 76, 45);
pub(super) const MKDIR: Call = old("mkdir", 83);
pub(super) const MKDIRAT: Call = both("mkdirat", 258, 34);
pub(super) const MKNOD: Call = old("mknod", 133);
pub(super) const MKNODAT: Call = both("mknodat", 259, 33);
pub(super) const SYMLINK: Call = old("symlink", 88);
pub(super) const SYMLINKAT: Call = both("symlinkat", 266, 36);
pub(super) const LINK: Call = old("link", 86);
pub(super) const LINKAT: Call = both("linkat", 265, 37);
pub(super) const RENAME: Call = old("rename", 82);
pub(super) const RENAMEAT: Call = both("renameat", 264, 38);
pub(super) const RENAMEAT2: Call = both("renameat2", 316, 276);
pub(super) const RMDIR: Call = old("rmdir", 84);
pub(super) const UNLINK: Call = old("unlink", 87);
pub(super) const UNLINKAT: Call = both("unlinkat", 263, 35);

/// Extended attributes are set, or taken away, by these.
pub(super) const ATTRIBUTES: &[Call] = &[
    both("setxattr", 188, 5),
    both("lsetxattr", 189, 6),
    both("fsetxattr", 190, 7),
    both("removexattr", 197, 14),
    both("lremovexattr", 198, 15),
    both("fremovexattr", 199, 16),
    new("setxattrat", 463),
    new("removexattrat", 466),
    new("file_setattr", 469),
];

/// Memory, semaphores and queues that all processes of the machine share by number or name.
pub(super) const SHARED: &[Call] = &[
    both("shmget", 29, 194),
    both("shmat", 30, 196),
    both("shmctl", 31, 195),
    both("semget", 64, 190),
    both("semop", 65, 193),
    both("semctl", 66, 191),
    both("semtimedop", 220, 192),
    both("msgget", 68, 186),
    both("msgsnd", 69, 189),
    both("msgrcv", 70, 188),
    both("msgctl", 71, 187),
    both("mq_open", 240, 180),
    both("mq_unlink", 241, 181),
    both("mq_timedsend", 242, 182),
    both("mq_timedreceive", 243, 183),
    both("mq_notify", 244, 184),
    both("mq_getsetattr", 245, 185),
];

/// What changes other processes of the user, whose number comes first. None is the process itself.
pub(super) const OF_A_PROCESS: &[Call] = &[
    both("prlimit64", 302, 261),
    both("sched_setaffinity", 203, 122),
    both("sched_setscheduler", 144, 119),
    both("sched_setparam", 142, 118),
    both("sched_setattr", 314, 274),
];

/// The same, with the number behind a kind.
pub(super) const OF_A_KIND: &[Call] = &[both("setpriority", 141, 140), both("ioprio_set", 251, 30)];

/// Other processes' memory.
pub(super) const MEMORY: &[Call] = &[
    both("migrate_pages", 256, 238),
    both("move_pages", 279, 239),
    new("process_madvise", 440),
    new("process_mrelease", 448),
];

pub(super) const FCNTL: Call = both("fcntl", 72, 25);
pub(super) const IOCTL: Call = both("ioctl", 16, 29);

#[cfg(test)]
mod tests {
    use super::*;

    /// The column of the processor that runs this test.
    #[test]
    fn numbers_are_those_of_the_c_library() {
        let here = Processor::here().unwrap();
        for (call, number) in [
            (SOCKET, libc::SYS_socket),
            (SOCKETPAIR, libc::SYS_socketpair),
            (BIND, libc::SYS_bind),
            (CONNECT, libc::SYS_connect),
            (SENDTO, libc::SYS_sendto),
            (SENDMSG, libc::SYS_sendmsg),
            (SENDMMSG, libc::SYS_sendmmsg),
            (FCHMOD, libc::SYS_fchmod),
            (FCHMODAT, libc::SYS_fchmodat),
            (FCHOWN, libc::SYS_fchown),
            (FCHOWNAT, libc::SYS_fchownat),
            (UTIMENSAT, libc::SYS_utimensat),
            (INOTIFY_ADD_WATCH, libc::SYS_inotify_add_watch),
            (FCNTL, libc::SYS_fcntl),
            (IOCTL, libc::SYS_ioctl),
            (OPENAT, libc::SYS_openat),
            (TRUNCATE, libc::SYS_truncate),
            (MKDIRAT, libc::SYS_mkdirat),
            (MKNODAT, libc::SYS_mknodat),
            (SYMLINKAT, libc::SYS_symlinkat),
            (LINKAT, libc::SYS_linkat),
            (RENAMEAT, libc::SYS_renameat),
            (RENAMEAT2, libc::SYS_renameat2),
            (UNLINKAT, libc::SYS_unlinkat),
        ] {
            assert_eq!(call.on(here).map(i64::from), Some(number), "{}", call.name);
        }
        let numbers = |list: &[Call]| -> Vec<i64> {
            list.iter().filter_map(|call| call.on(here)).map(i64::from).collect()
        };
        assert_eq!(
            numbers(&ATTRIBUTES[..6]),
            [
                libc::SYS_setxattr,
                libc::SYS_lsetxattr,
                libc::SYS_fsetxattr,
                libc::SYS_removexattr,
                libc::SYS_lremovexattr,
                libc::SYS_fremovexattr,
            ]
        );
        assert_eq!(
            numbers(SHARED),
            [
                libc::SYS_shmget,
                libc::SYS_shmat,
                libc::SYS_shmctl,
                libc::SYS_semget,
                libc::SYS_semop,
                libc::SYS_semctl,
                libc::SYS_semtimedop,
                libc::SYS_msgget,
                libc::SYS_msgsnd,
                libc::SYS_msgrcv,
                libc::SYS_msgctl,
                libc::SYS_mq_open,
                libc::SYS_mq_unlink,
                libc::SYS_mq_timedsend,
                libc::SYS_mq_timedreceive,
                libc::SYS_mq_notify,
                libc::SYS_mq_getsetattr,
            ]
        );
        assert_eq!(
            numbers(OF_A_PROCESS),
            [
                libc::SYS_prlimit64,
                libc::SYS_sched_setaffinity,
                libc::SYS_sched_setscheduler,
                libc::SYS_sched_setparam,
                libc::SYS_sched_setattr,
            ]
        );
        assert_eq!(numbers(OF_A_KIND), [libc::SYS_setpriority, libc::SYS_ioprio_set]);
        assert_eq!(
            numbers(MEMORY),
            [
                libc::SYS_migrate_pages,
                libc::SYS_move_pages,
                libc::SYS_process_madvise,
                libc::SYS_process_mrelease,
            ]
        );
        #[cfg(target_arch = "x86_64")]
        for (call, number) in [
            (CHMOD, libc::SYS_chmod),
            (CHOWN, libc::SYS_chown),
            (LCHOWN, libc::SYS_lchown),
            (UTIME, libc::SYS_utime),
            (UTIMES, libc::SYS_utimes),
            (FUTIMESAT, libc::SYS_futimesat),
            (FCHMODAT2, libc::SYS_fchmodat2),
            (OPEN, libc::SYS_open),
            (CREAT, libc::SYS_creat),
            (MKDIR, libc::SYS_mkdir),
            (MKNOD, libc::SYS_mknod),
            (SYMLINK, libc::SYS_symlink),
            (LINK, libc::SYS_link),
            (RENAME, libc::SYS_rename),
            (RMDIR, libc::SYS_rmdir),
            (UNLINK, libc::SYS_unlink),
        ] {
            assert_eq!(call.on(here).map(i64::from), Some(number), "{}", call.name);
        }
    }
}
