//! Which system calls a contained process may not make: a table, compiled for the kernel.
//!
//! A list of what is forbidden and not of what is allowed, because what agents and test suites
//! run is unknown; the namespaces do the containing, and this takes away the parts of the kernel
//! that programs do not need and exploits do.

use std::{collections::BTreeMap, io};

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction,
    SeccompCmpArgLen::Dword,
    SeccompCmpOp::{Eq, MaskedEq, Ne},
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// Answered with "operation not permitted", whatever the arguments.
const FORBIDDEN: &[c_long] = &[
    // Mounts, and roots of file systems.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Files by handle, past every mount.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Other processes' memory and files.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Keys, which are not kept apart by namespaces.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Parts of the kernel with a record of exploits.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // The kernel itself, its clock and its log.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // Other namespaces.
    libc::SYS_setns,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// `open_tree` with attributes, from Linux 6.15, which libc does not name yet. The number is the same
/// everywhere.
const OPEN_TREE_ATTR: c_long = 467;

/// New namespaces: each brings back powers that were taken away.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Kinds of sockets that programs use. All others, the host's virtual machine sockets among them,
/// are closed. Pairs are `AF_UNIX` alone.
const FAMILIES: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Calls that give a file its mode, and the argument with it. A program of the user's that anybody may
/// start with the user's rights is of no use to a session, and would outlive it.
const MODES: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
];

/// Calls that make a file, which is never a directory, and the argument with its mode. `mkdir` is not
/// among them: the kernel drops these bits there.
const MAKING: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls that may make a file, with the arguments of their flags and of the mode, which counts only
/// with certain flags.
const OPENING: &[(c_long, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];

/// From Linux 6.6, which libc does not name everywhere. The number is the same everywhere.
const FCHMODAT2: c_long = 452;

/// Requests that put words into the mouth of a terminal.
const TERMINAL: &[u64] = &[0x5412, 0x541C];

/// The filters, each as the bytes the kernel takes.
pub(crate) fn programs() -> io::Result<Vec<Vec<u8>>> {
    let programs = instructions()?;
    Ok(programs.iter().map(|program| program.iter().flat_map(bytes).collect()).collect())
}

/// The same for whoever installs them without a program in between.
pub(crate) fn instructions() -> io::Result<Vec<Vec<libc::sock_filter>>> {
    // These have their flags or mode in memory, where no filter sees them. "No such call" makes the
    // C library take clone instead, and programs that know openat2 take openat.
    let unseen = BTreeMap::from([(libc::SYS_clone3, Vec::new()), (libc::SYS_openat2, Vec::new())]);
    let no_such_call = libc::ENOSYS.unsigned_abs();
    Ok(vec![compile(forbidden()?, libc::EPERM.unsigned_abs())?, compile(unseen, no_such_call)?])
}

fn forbidden() -> io::Result<BTreeMap<c_long, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
        FORBIDDEN.iter().map(|call| (*call, Vec::new())).collect();
    let mut namespaces = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        namespaces.push(rule([(0, MaskedEq(flag), flag)])?);
    }
    rules.insert(libc::SYS_clone, namespaces.clone());
    // `clone` has the signal of the end in these bits.
    let time = u64::from(libc::CLONE_NEWTIME.unsigned_abs());
    namespaces.push(rule([(0, MaskedEq(time), time)])?);
    rules.insert(libc::SYS_unshare, namespaces);
    let unusual = FAMILIES.iter().map(|family| (0, Ne, u64::from(family.unsigned_abs())));
    let netlink = u64::from(libc::AF_NETLINK.unsigned_abs());
    let route = u64::from(libc::NETLINK_ROUTE.unsigned_abs());
    let sockets = vec![rule(unusual)?, rule([(0, Eq, netlink), (2, Ne, route)])?];
    rules.insert(libc::SYS_socket, sockets);
    // The kernel makes both ends, and loads the module of their family, before it asks whether that
    // family has pairs.
    let unix = u64::from(libc::AF_UNIX.unsigned_abs());
    rules.insert(libc::SYS_socketpair, vec![rule([(0, Ne, unix)])?]);
    let mut terminal = Vec::new();
    for request in TERMINAL {
        terminal.push(rule([(1, Eq, *request)])?);
    }
    rules.insert(libc::SYS_ioctl, terminal);
    rules.append(&mut set_id()?);
    Ok(rules)
}

/// No file gets the set-user-ID bit, and no new one the set-group-ID bit. Changing a mode to one with
/// the latter stays allowed: git and installers give it to directories, and the call does not tell
/// what its file is. The end of the session looks for such files.
fn set_id() -> io::Result<BTreeMap<c_long, Vec<SeccompRule>>> {
    let (user, group) = (u64::from(libc::S_ISUID), u64::from(libc::S_ISGID));
    let mut rules = BTreeMap::new();
    for (call, mode) in MODES {
        rules.insert(*call, vec![rule([(*mode, MaskedEq(user), user)])?]);
    }
    for (call, mode) in MAKING {
        let bits = [user, group].map(|bit| rule([(*mode, MaskedEq(bit), bit)]));
        rules.insert(*call, bits.into_iter().collect::<io::Result<_>>()?);
    }
    // `O_TMPFILE` has the bit of `O_DIRECTORY` as well, which alone makes nothing.
    let making = [libc::O_CREAT, libc::O_TMPFILE].map(|flag| u64::from(flag.unsigned_abs()));
    for (call, flags, mode) in OPENING {
        let mut opening = Vec::new();
        for (flag, bit) in making.iter().flat_map(|flag| [(*flag, user), (*flag, group)]) {
            opening.push(rule([(*flags, MaskedEq(flag), flag), (*mode, MaskedEq(bit), bit)])?);
        }
        rules.insert(*call, opening);
    }
    Ok(rules)
}

fn rule(
    conditions: impl IntoIterator<Item = (u8, seccompiler::SeccompCmpOp, u64)>,
) -> io::Result<SeccompRule> {
    let conditions = conditions
        .into_iter()
        .map(|(argument, operator, value)| SeccompCondition::new(argument, Dword, operator, value))
        .collect::<Result<Vec<_>, _>>()
        .map_err(io::Error::other)?;
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn compile(
    rules: BTreeMap<c_long, Vec<SeccompRule>>,
    errno: u32,
) -> io::Result<Vec<libc::sock_filter>> {
    let target = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), target)
            .map_err(io::Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    Ok(other_numbering().iter().chain(&program).map(native).collect())
}

/// Jumps are relative, so that these can stand before any program: on x86-64 the calls of the
/// x32 numbering would not be found in the table.
#[cfg(target_arch = "x86_64")]
fn other_numbering() -> Vec<sock_filter> {
    let statement = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    vec![
        statement(0x20, 0, 0, 0),           // load the call's number
        statement(0x35, 0, 1, 0x4000_0000), // x32 numbers and above …
        statement(0x06, 0, 0, refused),     // … are refused
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn other_numbering() -> Vec<sock_filter> {
    Vec::new()
}

fn native(instruction: &sock_filter) -> libc::sock_filter {
    let sock_filter { code, jt, jf, k } = *instruction;
    libc::sock_filter { code, jt, jf, k }
}

fn bytes(instruction: &libc::sock_filter) -> [u8; 8] {
    let [a, b] = instruction.code.to_ne_bytes();
    let [c, d, e, f] = instruction.k.to_ne_bytes();
    [a, b, instruction.jt, instruction.jf, c, d, e, f]
}
