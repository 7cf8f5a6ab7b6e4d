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

/// Requests that change a file which is open for reading: its flags, version, project and seal.
const FILE_REQUESTS: &[u32] =
    &[0x4008_6602, 0x4004_6602, 0x4008_7602, 0x4004_7602, 0x401c_5820, 0x4080_6685];

/// A lease on a file of the user's keeps others from opening it.
const LEASE: &[u32] = &[libc::F_SETLEASE as u32];

/// All processes of the user.
const OF_THE_USER: &[u32] = &[2, 3];

/// Calls that the supervisor decides about, and makes itself.
const SUPERVISED: &[Call] = &[
    calls::CONNECT,
    calls::BIND,
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

/// The program for this machine.
pub(super) fn program(network: Network) -> io::Result<Vec<sock_filter>> {
    let processor = Processor::here().ok_or_else(|| {
        io::Error::other(format!("no filter for {} processors", std::env::consts::ARCH))
    })?;
    Ok(write(processor, &rules(network)))
}

fn rules(network: Network) -> Vec<Rule> {
    let mut rules = sockets(network);
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
    rules.extend(SUPERVISED.iter().map(|call| Rule {
        call: *call,
        tests: Vec::new(),
        answer: Answer::Supervisor,
    }));
    rules
}

fn sockets(network: Network) -> Vec<Rule> {
    let is = |argument, values| Test::Is { argument, bits: u32::MAX, values };
    let is_not = |argument, values| Test::IsNot { argument, bits: u32::MAX, values };
    let of_other_types = |values| Test::IsNot { argument: 1, bits: TYPE, values };
    let mut rules = Vec::new();
    let mut refuse = |call, tests: &[Test], errno| {
        rules.push(Rule { call, tests: tests.to_vec(), answer: Answer::Errno(errno) });
    };
    refuse(calls::SOCKET, &[is(0, UNIX), of_other_types(CONNECTED)], libc::EPERM);
    refuse(calls::SOCKETPAIR, &[of_other_types(CONNECTED)], libc::EPERM);
    match network {
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
                    let program = write(processor, &rules(network));
                    let number = call.on(processor).unwrap();
                    let seen = interpret(&program, processor.audit(), number, arguments);
                    assert_eq!(seen, expected, "{} {arguments:?} {network:?}", call.name);
                }
            }
        }
        // Calls that only the older processor has.
        let program = write(Processor::X86_64, &rules(Network::None));
        for call in [calls::CHMOD, calls::CHOWN, calls::LCHOWN, calls::UTIME, calls::UTIMES] {
            let number = call.on(Processor::X86_64).unwrap();
            assert_eq!(interpret(&program, 0xC000_003E, number, [9; 6]), ASK, "{}", call.name);
            assert_eq!(call.on(Processor::Aarch64), None);
        }
    }

    /// The kernel takes no longer programs.
    #[test]
    fn the_program_is_short_enough() {
        let longest = write(Processor::X86_64, &rules(Network::None)).len();
        assert!(longest < 4096 && longest > 100, "{longest}");
    }
}
