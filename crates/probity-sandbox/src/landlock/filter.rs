//! What Landlock leaves open, closed by the filter: calls that are refused, and those about which the
//! supervisor decides. It comes on top of the filter that bubblewrap's processes have.

use std::io;

use libc::sock_filter;

use super::{
    calls::{self, Call, Processor},
    program::{Answer, Rule, Test, write},
};
use crate::Network;

/// Connections with these kinds of sockets begin with `connect`. The others send to any address
/// without it, and their addresses are in memory, where no filter sees them.
const CONNECTED: &[u32] = &[libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32];

/// The lower bits of a type of sockets; flags are above them.
const TYPE: u32 = 0xf;

const UNIX: &[u32] = &[libc::AF_UNIX as u32];
const INTERNET: &[u32] = &[libc::AF_INET as u32, libc::AF_INET6 as u32];
const TRANSPORTS: &[u32] = &[0, libc::IPPROTO_TCP as u32, libc::IPPROTO_UDP as u32];
const OF_TRANSPORTS: &[u32] = &[libc::SOCK_STREAM as u32, libc::SOCK_DGRAM as u32];

/// Connects and sends in one call.
const FAST_OPEN: u32 = libc::MSG_FASTOPEN as u32;

/// Requests that change a file which is open for reading: its flags, version, project and seal; and
/// those of Btrfs that make or remove parts of a file system in a directory that is.
const FILE_REQUESTS: &[u32] = &[
    0x4008_6602,
    0x4004_6602,
    0x4008_7602,
    0x4004_7602,
    0x401c_5820,
    0x4080_6685,
    0x5000_9401,
    0x5000_940e,
    0x5000_940f,
    0x5000_9417,
    0x5000_9418,
    0x4008_941a,
    0x5000_943f,
];

/// A lease on a file of the user's keeps others from opening it.
const LEASE: &[u32] = &[libc::F_SETLEASE as u32];

/// All processes of the user.
const OF_THE_USER: &[u32] = &[2, 3];

/// Calls that the supervisor decides about, and makes itself.
const SUPERVISED: &[Call] = &[
    calls::CHMOD,
    calls::FCHMOD,
    calls::FCHMODAT,
    calls::FCHMODAT2,
    calls::CHOWN,
    calls::LCHOWN,
    calls::FCHOWN,
    calls::FCHOWNAT,
    calls::UTIME,
    calls::UTIMES,
    calls::FUTIMESAT,
    calls::UTIMENSAT,
    calls::INOTIFY_ADD_WATCH,
];

/// Calls that change a directory or a file by its name.
const NAMED: &[Call] = &[
    calls::CREAT,
    calls::TRUNCATE,
    calls::MKDIR,
    calls::MKDIRAT,
    calls::MKNOD,
    calls::MKNODAT,
    calls::SYMLINK,
    calls::SYMLINKAT,
    calls::LINK,
    calls::LINKAT,
    calls::RENAME,
    calls::RENAMEAT,
    calls::RENAMEAT2,
    calls::RMDIR,
    calls::UNLINK,
    calls::UNLINKAT,
];

/// Calls that open files, and the argument with the flags.
const OPENING: &[(Call, u32)] = &[(calls::OPEN, 1), (calls::OPENAT, 2)];

/// Whether Landlock judges a call in full, whatever its arguments have become.
pub(super) fn is_judged_by_landlock(called: impl Fn(&Call) -> bool) -> bool {
    NAMED.iter().chain(OPENING.iter().map(|(call, _)| call)).any(called)
}

/// Flags of whoever wants more than to read.
const WRITES: u32 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u32;

/// What the filter closes depends on these.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) network: Network,
    /// Whether the supervisor can take over a socket of the process, to connect it.
    pub(super) takes_sockets: bool,
    /// Whether parts of writable directories are kept, which Landlock cannot do.
    pub(super) keeps_parts: bool,
}

/// The program for this machine.
pub(super) fn program(wanted: Wanted) -> io::Result<Vec<sock_filter>> {
    let processor = Processor::here().ok_or_else(|| {
        io::Error::other(format!("no filter for {} processors", std::env::consts::ARCH))
    })?;
    Ok(write(processor, &rules(wanted)))
}

fn rules(wanted: Wanted) -> Vec<Rule> {
    let mut rules = sockets(wanted);
    let refuse = |call: &Call, tests: &[Test], errno| Rule {
        call: *call,
        tests: tests.to_vec(),
        answer: Answer::Errno(errno),
    };
    let whole = |argument, values| Test::Is { argument, bits: u32::MAX, values };
    let other = |argument, values| Test::IsNot { argument, bits: u32::MAX, values };
    // As a file system without them answers, which programs that copy files know.
    rules.extend(calls::ATTRIBUTES.iter().map(|call| refuse(call, &[], libc::ENOTSUP)));
    for call in calls::SHARED.iter().chain(calls::MEMORY) {
        rules.push(refuse(call, &[], libc::EPERM));
    }
    rules.extend(
        calls::OF_A_PROCESS.iter().map(|call| refuse(call, &[other(0, &[0])], libc::EPERM)),
    );
    for call in calls::OF_A_KIND {
        rules.push(refuse(call, &[other(1, &[0])], libc::EPERM));
    }
    let [priority, of_disks] = [0, 1].map(|index| calls::OF_A_KIND.get(index));
    rules.extend(priority.map(|call| refuse(call, &[whole(0, &OF_THE_USER[..1])], libc::EPERM)));
    rules.extend(of_disks.map(|call| refuse(call, &[whole(0, &OF_THE_USER[1..])], libc::EPERM)));
    rules.push(refuse(&calls::IOCTL, &[whole(1, FILE_REQUESTS)], libc::EPERM));
    rules.push(refuse(&calls::FCNTL, &[whole(1, LEASE)], libc::EPERM));
    let ask = |call: &Call, tests| Rule { call: *call, tests, answer: Answer::Supervisor };
    rules.extend(SUPERVISED.iter().map(|call| ask(call, Vec::new())));
    if wanted.takes_sockets || wanted.network == Network::None {
        rules.extend([calls::CONNECT, calls::BIND].iter().map(|call| ask(call, Vec::new())));
    }
    if wanted.keeps_parts {
        rules.extend(NAMED.iter().map(|call| ask(call, Vec::new())));
        for (call, argument) in OPENING {
            let writes = Test::IsNot { argument: *argument, bits: WRITES, values: &[0] };
            rules.push(ask(call, vec![writes]));
        }
    }
    rules
}

fn sockets(wanted: Wanted) -> Vec<Rule> {
    let is = |argument, values| Test::Is { argument, bits: u32::MAX, values };
    let is_not = |argument, values| Test::IsNot { argument, bits: u32::MAX, values };
    let of_other_types = |values| Test::IsNot { argument: 1, bits: TYPE, values };
    let mut rules = Vec::new();
    let mut refuse = |call, tests: &[Test], errno| {
        rules.push(Rule { call, tests: tests.to_vec(), answer: Answer::Errno(errno) });
    };
    refuse(calls::SOCKET, &[is(0, UNIX), of_other_types(CONNECTED)], libc::EPERM);
    refuse(calls::SOCKETPAIR, &[of_other_types(CONNECTED)], libc::EPERM);
    if !wanted.takes_sockets {
        // Then every socket is one of the internet, and where it may go is no question: with an open
        // network anywhere, without one nowhere. Pairs are connected already.
        refuse(calls::SOCKET, &[is(0, UNIX)], libc::EACCES);
    }
    match wanted.network {
        Network::None => {
            refuse(calls::SOCKET, &[is(0, INTERNET)], libc::EACCES);
            refuse(calls::SOCKET, &[is_not(0, UNIX)], libc::EPERM);
            refuse(calls::SENDTO, &[Test::IsGiven { argument: 4 }], libc::EPERM);
        }
        Network::Open => {
            refuse(calls::SOCKET, &[is(0, INTERNET), of_other_types(OF_TRANSPORTS)], libc::EPERM);
            refuse(calls::SOCKET, &[is(0, INTERNET), is_not(2, TRANSPORTS)], libc::EPERM);
        }
    }
    for (call, flags) in [(calls::SENDTO, 3), (calls::SENDMSG, 2), (calls::SENDMMSG, 3)] {
        let fast_open = Test::IsNot { argument: flags, bits: FAST_OPEN, values: &[0] };
        refuse(call, &[fast_open], libc::EPERM);
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::landlock::program::tests::interpret;

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
    const EPERM: u32 = libc::SECCOMP_RET_ERRNO | 1;
    const EACCES: u32 = libc::SECCOMP_RET_ERRNO | 13;
    const ENOTSUP: u32 = libc::SECCOMP_RET_ERRNO | 95;

    fn usual(network: Network) -> Wanted {
        Wanted { network, takes_sockets: true, keeps_parts: false }
    }

    /// Call, arguments, the answer if parts are kept; nothing is asked if none are.
    #[test]
    fn what_writes_to_files_by_name_is_asked_about_where_parts_are_kept() {
        let flags = |flags: i32| u64::from(flags.unsigned_abs());
        for (call, arguments, expected) in [
            (calls::OPENAT, [3, 9, flags(libc::O_RDONLY | libc::O_CLOEXEC), 0, 0, 0], ALLOW),
            (calls::OPENAT, [3, 9, flags(libc::O_PATH | libc::O_DIRECTORY), 0, 0, 0], ALLOW),
            (calls::OPENAT, [3, 9, flags(libc::O_WRONLY), 0, 0, 0], ASK),
            (calls::OPENAT, [3, 9, flags(libc::O_RDWR), 0, 0, 0], ASK),
            (calls::OPENAT, [3, 9, flags(libc::O_CREAT), 0, 0, 0], ASK),
            (calls::OPENAT, [3, 9, flags(libc::O_TRUNC), 0, 0, 0], ASK),
            (calls::OPENAT, [3, 9, flags(libc::O_ACCMODE), 0, 0, 0], ASK),
            (calls::RENAMEAT2, [3, 9, 3, 9, 0, 0], ASK),
            (calls::UNLINKAT, [3, 9, 0, 0, 0, 0], ASK),
            (calls::LINKAT, [3, 9, 3, 9, 0, 0], ASK),
            (calls::SYMLINKAT, [9, 3, 9, 0, 0, 0], ASK),
            (calls::MKDIRAT, [3, 9, 0, 0, 0, 0], ASK),
            (calls::MKNODAT, [3, 9, 0, 0, 0, 0], ASK),
            (calls::TRUNCATE, [9, 0, 0, 0, 0, 0], ASK),
        ] {
            for processor in [Processor::X86_64, Processor::Aarch64] {
                for (keeps_parts, expected) in [(true, expected), (false, ALLOW)] {
                    let wanted = Wanted { keeps_parts, ..usual(Network::None) };
                    let program = write(processor, &rules(wanted));
                    let number = call.on(processor).unwrap();
                    let seen = interpret(&program, processor.audit(), number, arguments);
                    assert_eq!(seen, expected, "{} {arguments:?}", call.name);
                }
            }
        }
        let wanted = Wanted { keeps_parts: true, ..usual(Network::None) };
        let program = write(Processor::X86_64, &rules(wanted));
        let ask = |call: Call, arguments| {
            interpret(&program, 0xC000_003E, call.on(Processor::X86_64).unwrap(), arguments)
        };
        assert_eq!(ask(calls::OPEN, [9, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(ask(calls::OPEN, [9, flags(libc::O_WRONLY), 0, 0, 0, 0]), ASK);
        for call in [calls::CREAT, calls::MKDIR, calls::RENAME, calls::UNLINK, calls::RMDIR] {
            assert_eq!(ask(call, [9; 6]), ASK, "{}", call.name);
        }
    }

    #[test]
    fn where_no_socket_can_be_taken_over_there_are_none_of_the_machines_own() {
        for (network, internet, connect) in
            [(Network::Open, ALLOW, ALLOW), (Network::None, EACCES, ASK)]
        {
            let wanted = Wanted { takes_sockets: false, ..usual(network) };
            let program = write(Processor::X86_64, &rules(wanted));
            let ask = |call: Call, arguments| {
                interpret(&program, 0xC000_003E, call.on(Processor::X86_64).unwrap(), arguments)
            };
            assert_eq!(ask(calls::SOCKET, [1, 1, 0, 0, 0, 0]), EACCES);
            assert_eq!(ask(calls::SOCKETPAIR, [1, 1, 0, 0, 0, 0]), ALLOW);
            assert_eq!(ask(calls::SOCKET, [2, 1, 6, 0, 0, 0]), internet);
            assert_eq!(ask(calls::CONNECT, [3, 9, 16, 0, 0, 0]), connect);
            assert_eq!(ask(calls::BIND, [3, 9, 16, 0, 0, 0]), connect);
        }
    }

    /// Call, arguments, the answer without a network, and with an open one.
    #[test]
    fn every_call_has_its_answer_on_both_processors() {
        const CLOEXEC: u64 = 0x8_0000;
        for (call, arguments, none, open) in [
            (calls::SOCKET, [1, 1 | CLOEXEC, 0, 0, 0, 0], ALLOW, ALLOW),
            (calls::SOCKET, [1, 5, 0, 0, 0, 0], ALLOW, ALLOW),
            (calls::SOCKET, [1, 2 | CLOEXEC, 0, 0, 0, 0], EPERM, EPERM),
            (calls::SOCKET, [1, 3, 0, 0, 0, 0], EPERM, EPERM),
            (calls::SOCKET, [2, 1, 6, 0, 0, 0], EACCES, ALLOW),
            (calls::SOCKET, [2, 2, 17, 0, 0, 0], EACCES, ALLOW),
            (calls::SOCKET, [10, 1, 0, 0, 0, 0], EACCES, ALLOW),
            (calls::SOCKET, [2, 3, 0, 0, 0, 0], EACCES, EPERM),
            (calls::SOCKET, [2, 2, 1, 0, 0, 0], EACCES, EPERM),
            (calls::SOCKET, [2, 1, 132, 0, 0, 0], EACCES, EPERM),
            (calls::SOCKET, [2, 1, 262, 0, 0, 0], EACCES, EPERM),
            (calls::SOCKET, [16, 3, 0, 0, 0, 0], EPERM, ALLOW),
            (calls::SOCKETPAIR, [1, 1, 0, 0, 0, 0], ALLOW, ALLOW),
            (calls::SOCKETPAIR, [1, 2, 0, 0, 0, 0], EPERM, EPERM),
            (calls::SENDTO, [3, 9, 9, 0, 0, 0], ALLOW, ALLOW),
            (calls::SENDTO, [3, 9, 9, 0, 0x7fff_0000_0000, 16], EPERM, ALLOW),
            (calls::SENDTO, [3, 9, 9, 0x2000_0000, 9, 16], EPERM, EPERM),
            (calls::SENDMSG, [3, 9, 0, 0, 0, 0], ALLOW, ALLOW),
            (calls::SENDMSG, [3, 9, 0x2000_4000, 0, 0, 0], EPERM, EPERM),
            (calls::SENDMMSG, [3, 9, 1, 0x2000_0000, 0, 0], EPERM, EPERM),
            (calls::CONNECT, [3, 9, 16, 0, 0, 0], ASK, ASK),
            (calls::BIND, [3, 9, 16, 0, 0, 0], ASK, ASK),
            (calls::FCHMOD, [3, 0o644, 0, 0, 0, 0], ASK, ASK),
            (calls::FCHMODAT, [3, 9, 0o644, 0, 0, 0], ASK, ASK),
            (calls::FCHMODAT2, [3, 9, 0o644, 0, 0, 0], ASK, ASK),
            (calls::FCHOWN, [3, 0, 0, 0, 0, 0], ASK, ASK),
            (calls::FCHOWNAT, [3, 9, 0, 0, 0, 0], ASK, ASK),
            (calls::UTIMENSAT, [3, 9, 9, 0, 0, 0], ASK, ASK),
            (calls::INOTIFY_ADD_WATCH, [3, 9, 9, 0, 0, 0], ASK, ASK),
            (calls::ATTRIBUTES[0], [9, 9, 9, 1, 0, 0], ENOTSUP, ENOTSUP),
            (calls::ATTRIBUTES[8], [9, 9, 9, 1, 0, 0], ENOTSUP, ENOTSUP),
            (calls::SHARED[0], [1, 4096, 0, 0, 0, 0], EPERM, EPERM),
            (calls::MEMORY[1], [1, 0, 0, 0, 0, 0], EPERM, EPERM),
            (calls::OF_A_PROCESS[0], [0, 7, 9, 9, 0, 0], ALLOW, ALLOW),
            (calls::OF_A_PROCESS[0], [1234, 7, 9, 9, 0, 0], EPERM, EPERM),
            (calls::OF_A_KIND[0], [0, 0, 5, 0, 0, 0], ALLOW, ALLOW),
            (calls::OF_A_KIND[0], [0, 77, 5, 0, 0, 0], EPERM, EPERM),
            (calls::OF_A_KIND[0], [2, 0, 5, 0, 0, 0], EPERM, EPERM),
            (calls::OF_A_KIND[1], [2, 0, 5, 0, 0, 0], ALLOW, ALLOW),
            (calls::OF_A_KIND[1], [3, 0, 5, 0, 0, 0], EPERM, EPERM),
            (calls::IOCTL, [3, 0x5401, 9, 0, 0, 0], ALLOW, ALLOW),
            (calls::IOCTL, [3, 0x4008_6602, 9, 0, 0, 0], EPERM, EPERM),
            (calls::FCNTL, [3, 1024, 0, 0, 0, 0], EPERM, EPERM),
            (calls::FCNTL, [3, 3, 0, 0, 0, 0], ALLOW, ALLOW),
        ] {
            for processor in [Processor::X86_64, Processor::Aarch64] {
                for (network, expected) in [(Network::None, none), (Network::Open, open)] {
                    let program = write(processor, &rules(usual(network)));
                    let number = call.on(processor).unwrap();
                    let seen = interpret(&program, processor.audit(), number, arguments);
                    assert_eq!(seen, expected, "{} {arguments:?} {network:?}", call.name);
                }
            }
        }
        // Calls that only the older processor has.
        let program = write(Processor::X86_64, &rules(usual(Network::None)));
        for call in [calls::CHMOD, calls::CHOWN, calls::LCHOWN, calls::UTIME, calls::UTIMES] {
            let number = call.on(Processor::X86_64).unwrap();
            assert_eq!(interpret(&program, 0xC000_003E, number, [9; 6]), ASK, "{}", call.name);
            assert_eq!(call.on(Processor::Aarch64), None);
        }
    }

    /// The kernel takes no longer programs.
    #[test]
    fn the_program_is_short_enough() {
        let wanted = Wanted { keeps_parts: true, ..usual(Network::None) };
        let longest = write(Processor::X86_64, &rules(wanted)).len();
        assert!(longest < 4096 && longest > 100, "{longest}");
    }
}
