//! What a contained process cannot reach, with bait laid out where an uncontained one finds it.

use std::{
    fs,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{PermissionsExt, symlink},
            net::{SocketAddr, UnixListener},
        },
    },
    path::Path,
};

use probity_sandbox::{Backend, Exit, Mount, Network, Spec};

use crate::stage::{INSIDE, Workspace, bubblewrap, run, spawn, text};

/// Runs a script in both backends and gives what each printed: the bait must be real.
fn both(spec: &Spec) -> (String, String) {
    (text(&Backend::None, spec).1, text(&bubblewrap(), spec).1)
}

#[test]
fn only_the_workspace_and_the_system_are_seen() {
    let workspace = Workspace::new();
    let outside = Workspace::new();
    outside.write("secret", "bait");
    symlink(outside.path.join("secret"), workspace.path.join("link")).unwrap();
    let (open, contained) = both(&workspace.shell("cat link"));
    assert_eq!((open.as_str(), contained.as_str()), ("bait", ""));

    let listing = workspace.shell("ls -A / /home /root /var /run /etc /tmp 2>/dev/null");
    let (_, contained) = both(&listing);
    for bait in ["shadow", "root\n", "boot", "sys\n", "log", "lib/dpkg"] {
        assert!(!contained.contains(bait), "{bait} in {contained}");
    }
    let (_, contained) = both(&workspace.shell("ls -A /home /run /root; ls -A /tmp | wc -l"));
    let expected = if workspace.path.starts_with("/tmp") { "1\n" } else { "0\n" };
    assert_eq!(contained, format!("/home:\nagent\n\n/run:\n{expected}"));
}

#[test]
fn nothing_but_the_workspace_and_scratch_space_can_be_written() {
    let workspace = Workspace::new();
    // Opened for appending and not written to: should it succeed, the host is none the worse.
    let script = "for at in /x /usr/x /etc/x /etc/passwd /usr/bin/x /home/x /proc/sys/kernel/core_pattern \
                  /proc/sys/vm/drop_caches /proc/sysrq-trigger /proc/1/comm; do \
                  (: >> $at) 2>/dev/null && echo opened $at; done; \
                  for at in . /tmp /run /var/tmp /home/agent /dev/shm; do echo x > $at/x || echo no $at; done";
    let (_, contained) = text(&bubblewrap(), &workspace.shell(script));
    assert_eq!(contained, "");
    assert_eq!(fs::read_to_string(workspace.path.join("x")).unwrap(), "x\n");
}

#[test]
fn read_only_mounts_and_fresh_ones_are_what_they_say() {
    let workspace = Workspace::new();
    let other = Workspace::new();
    other.write("file", "old");
    let mut spec = workspace.shell(
        "cat /data/file; echo new > /data/file; rm -f /data/file; echo x > /scratch/x && echo ok",
    );
    spec.mounts.push(Mount::read_only(&other.path, "/data"));
    spec.mounts.push(Mount::Tmpfs { inside: "/scratch".into(), bytes: Some(1 << 20) });
    assert_eq!(text(&bubblewrap(), &spec).1, "oldok\n");
    assert_eq!(fs::read_to_string(other.path.join("file")).unwrap(), "old");
    spec.argv = ["sh", "-c", "head -c 3000000 /dev/zero > /scratch/big || echo full"]
        .map(Into::into)
        .to_vec();
    assert_eq!(text(&bubblewrap(), &spec).1, "full\n");
}

#[test]
fn sockets_of_the_host_are_out_of_reach() {
    let workspace = Workspace::new();
    // Where only root may put one, or else where everybody may.
    let bait = |directory: &str| {
        let name = format!("{directory}/probity-bait-{}", std::process::id());
        UnixListener::bind(&name).map(|listener| (name, listener))
    };
    let (name, listener) = bait("/run").or_else(|_| bait("/var/tmp")).unwrap();
    fs::set_permissions(&name, fs::Permissions::from_mode(0o777)).unwrap();
    let abstract_name = format!("probity-bait-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let connect = |name: &str| {
        format!(
            "import socket; s = socket.socket(socket.AF_UNIX); s.connect('{name}'); print('connected')"
        )
    };
    for name in [name.clone(), format!("\\0{abstract_name}")] {
        let mut spec = workspace.spec(&["python3", "-c", &connect(&name)]);
        let (open, contained) = both(&spec);
        assert_eq!((open.as_str(), contained.as_str()), ("connected\n", ""), "{name}");
        spec.network = Network::Open;
        assert_eq!(text(&bubblewrap(), &spec).1, "", "{name}, with the network open");
    }
    drop(listener);
    fs::remove_file(&name).unwrap();
}

#[test]
fn the_network_is_closed_unless_opened() {
    let workspace = Workspace::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let mut spec = workspace.spec(&["bash", "-c", &script]);
    assert_eq!(text(&bubblewrap(), &spec).1, "");
    spec.network = Network::Open;
    assert_eq!(text(&bubblewrap(), &spec).1, "connected\n");
}

#[test]
fn no_process_of_the_host_is_seen_and_no_file_of_ours_inherited() {
    let workspace = Workspace::new();
    let (_, seen) = text(&bubblewrap(), &workspace.shell("echo /proc/[0-9]*; ls /proc/self/fd"));
    assert_eq!(seen, "/proc/1 /proc/2\n0\n1\n2\n3\n", "3 is the directory that ls reads");
}

#[test]
fn secrets_do_not_get_in_by_our_environment_nor_out_by_a_command_line() {
    let workspace = Workspace::new();
    let mut spec = workspace.shell("cat /proc/*/environ | tr '\\0' '\\n'; sleep 0.3");
    spec.env.push(("TOKEN".into(), "hidden-value".into()));
    let child = spawn(&bubblewrap(), &spec).unwrap();
    let line = fs::read_to_string(format!("/proc/{}/cmdline", child.pid())).unwrap();
    assert!(line.contains("bwrap") && !line.contains("hidden-value"), "{line}");
    drop(child);
    let (_, contained) = text(&bubblewrap(), &spec);
    assert!(contained.contains("TOKEN=hidden-value"));
    assert!(!contained.contains("CARGO"), "{contained}");
}

#[test]
fn powers_are_gone_for_good() {
    let workspace = Workspace::new();
    let script = "grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status";
    let (_, status) = text(&bubblewrap(), &workspace.shell(script));
    let none = "0000000000000000";
    let expected =
        format!("CapPrm:\t{none}\nCapEff:\t{none}\nCapBnd:\t{none}\nNoNewPrivs:\t1\nSeccomp:\t2\n");
    assert_eq!(status, expected);
    let script = "id -u; for try in 'unshare -Ur true' 'unshare -n true' 'mount -t tmpfs x /tmp' \
                  'chroot / true' 'dmesg' 'nsenter -t 1 -m true' 'strace -V && strace true' \
                  'su -c true' 'hostname x'; do sh -c \"$try\" >/dev/null 2>&1 && echo did: $try; done";
    let (_, done) = text(&bubblewrap(), &workspace.shell(script));
    assert_ne!(done, "0\n");
    assert_eq!(done.lines().count(), 1, "{done}");
}

/// The user's own programs, which anybody on the host could start with the user's rights. Directories
/// get the bit of the group, as `git init --shared` wants it.
#[test]
fn no_file_gets_the_set_user_id_bit() {
    let workspace = Workspace::new();
    let script = r"
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def openat2(path, mode):
    how = struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, mode, 0)
    if libc.syscall(437, -100, path.encode(), how, len(how)) < 0:
        raise OSError(ctypes.get_errno(), '')
def fchmod(path, mode):
    with open(path, 'w') as file:
        os.fchmod(file.fileno(), mode)
def tmpfile(path, mode):
    here = os.open('.', os.O_WRONLY | os.O_TMPFILE, mode)
    os.link(f'/proc/self/fd/{here}', path, follow_symlinks=True)
open('there', 'w').close()
for name, call, path, mode in [
    ('chmod', os.chmod, 'there', 0o4755), ('both', os.chmod, 'there', 0o6755),
    ('fchmod', fchmod, 'there', 0o4755),
    ('fchmodat2', lambda path, mode: libc.syscall(452, -100, path.encode(), mode, 0) and 1 / 0, 'there', 0o4755),
    ('open', lambda path, mode: os.open(path, os.O_CREAT | os.O_WRONLY, mode), 'opened', 0o4755),
    ('group', lambda path, mode: os.open(path, os.O_CREAT | os.O_WRONLY, mode), 'group', 0o2755),
    ('tmpfile', tmpfile, 'unnamed', 0o4755), ('mknod', os.mknod, 'node', 0o104755),
    ('openat2', openat2, 'second', 0o4755), ('directory', os.chmod, '.', 0o2775),
    ('plain', os.chmod, 'there', 0o755), ('sticky', os.chmod, '.', 0o1777),
]:
    try:
        call(path, mode)
        print(name, 'ok')
    except ZeroDivisionError:
        print(name, 'refused')
    except OSError as error:
        print(name, errno.errorcode[error.errno])
";
    let (outcome, stdout) = text(&bubblewrap(), &workspace.spec(&["python3", "-c", script]));
    let expected = "chmod EPERM\nboth EPERM\nfchmod EPERM\nfchmodat2 refused\nopen EPERM\n\
                    group EPERM\ntmpfile EPERM\nmknod EPERM\nopenat2 ENOSYS\ndirectory ok\n\
                    plain ok\nsticky ok\n";
    assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&outcome.stderr_tail));
}

#[test]
fn forbidden_system_calls_are_refused_and_allowed_ones_work() {
    let workspace = Workspace::new();
    let script = r"
import ctypes, errno, mmap, os, socket, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
SOCKETPAIR = 53 if os.uname().machine == 'x86_64' else 199
def call(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(number, *arguments), errno.errorcode.get(ctypes.get_errno(), '-')
if os.uname().machine == 'x86_64':
    for name, number in [('ptrace', 101), ('keyctl', 250), ('bpf', 321), ('userfaultfd', 323),
                         ('perf', 298), ('io_uring_setup', 425), ('io_uring_enter', 426),
                         ('io_uring_register', 427), ('unshare', 272), ('quotactl_fd', 443),
                         ('open_tree_attr', 467), ('setns', 308)]:
        print(name, call(number, 0x10000000, 0, 0, 0, 0)[1])
    for name, flag in [('user', 0x10000000), ('mount', 0x20000), ('net', 0x40000000), ('time', 0x80)]:
        print('unshare', name, call(272, flag)[1])
    print('clone', call(56, 0x10000000 | 17, 0, 0, 0, 0)[1])
    print('clone3', call(435, 0, 0)[1])
    for name, number in [('getpid', 39), ('socket', 41), ('socketpair', 53)]:
        print('x32', name, call(0x40000000 + number, 40, 1, 0, 0)[1])
    # The address is null, and so a kernel that is asked answers with that.
    print('openat2', call(437, -100, 0, 0, 0)[1])
    print('faccessat2', call(439, -100, 0, 0, 0)[1])
    # int 0x80 takes the calls of 32-bit programs: 102 is socketcall, which has its family in memory.
    child = os.fork()
    if child == 0:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b'\xb8\x66\x00\x00\x00\xcd\x80\xc3')
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    print('socketcall signal', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for family in ['AF_VSOCK', 'AF_PACKET', 'AF_ALG', 'AF_INET', 'AF_UNIX']:
    try:
        socket.socket(getattr(socket, family), socket.SOCK_DGRAM if family != 'AF_ALG' else socket.SOCK_SEQPACKET).close()
        print(family, 'ok')
    except OSError as error:
        print(family, errno.errorcode[error.errno])
for name, family in [('AF_TIPC', 30), ('AF_VSOCK', 40), ('AF_RDS', 21), ('AF_INET', 2), ('AF_NETLINK', 16), ('AF_UNIX', 1)]:
    print('pair', name, call(SOCKETPAIR, family, 1, 0, (ctypes.c_int * 2)())[1])
thread = threading.Thread(target=lambda: print('thread ok')); thread.start(); thread.join()
print(subprocess.run(['echo', 'process ok'], capture_output=True, text=True).stdout.strip())
";
    let (outcome, stdout) = text(&bubblewrap(), &workspace.spec(&["python3", "-c", script]));
    let mut expected = String::new();
    if cfg!(target_arch = "x86_64") {
        expected += "ptrace EPERM\nkeyctl EPERM\nbpf EPERM\nuserfaultfd EPERM\nperf EPERM\n\
                     io_uring_setup EPERM\nio_uring_enter EPERM\nio_uring_register EPERM\n\
                     unshare EPERM\nquotactl_fd EPERM\nopen_tree_attr EPERM\nsetns EPERM\n\
                     unshare user EPERM\nunshare mount EPERM\nunshare net EPERM\n\
                     unshare time EPERM\nclone EPERM\nclone3 ENOSYS\nx32 getpid EPERM\n\
                     x32 socket EPERM\nx32 socketpair EPERM\nopenat2 ENOSYS\nfaccessat2 EFAULT\n\
                     socketcall signal -31\n";
    }
    expected += "AF_VSOCK EPERM\nAF_PACKET EPERM\nAF_ALG EPERM\nAF_INET ok\nAF_UNIX ok\n\
                 pair AF_TIPC EPERM\npair AF_VSOCK EPERM\npair AF_RDS EPERM\n\
                 pair AF_INET EPERM\npair AF_NETLINK EPERM\npair AF_UNIX -\n\
                 thread ok\nprocess ok\n";
    assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&outcome.stderr_tail));
}

#[test]
fn a_mount_that_cannot_be_is_named() {
    let workspace = Workspace::new();
    for (mount, message) in [
        (Mount::read_only("/no/such", "/data"), "/no/such: cannot be mounted"),
        (Mount::read_only("/usr", "data"), "data: cannot be mounted: not an absolute path"),
        (Mount::read_only("/usr", "/a/../b"), "/a/../b: cannot be mounted: not an absolute path"),
        (Mount::read_write("/usr", "/"), "/: cannot be mounted: the root is made"),
    ] {
        let mut spec = workspace.spec(&["true"]);
        spec.mounts.push(mount);
        let error = spawn(&bubblewrap(), &spec).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn the_workspace_is_its_owners_at_both_of_its_paths() {
    let workspace = Workspace::new();
    fs::set_permissions(&workspace.path, fs::Permissions::from_mode(0o755)).unwrap();
    // Only root can give it away; otherwise it is our own.
    std::os::unix::fs::chown(&workspace.path, Some(65534), Some(65534)).ok();
    let script = format!("echo hi > made; id -un; stat -c %u . {INSIDE}; cat {INSIDE}/made");
    let (outcome, stdout) = text(&bubblewrap(), &workspace.shell(&script));
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&workspace.path).unwrap());
    let inside = if owner == 0 { 1000 } else { owner };
    assert_eq!(stdout, format!("agent\n{inside}\n{inside}\nhi\n"), "{outcome:?}");
    let made = fs::metadata(Path::new(&workspace.path).join("made")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&made), owner);
}

/// Another session in the same workspace can exchange directories at any time; here it does while
/// bubblewrap starts.
#[test]
fn what_is_exchanged_while_the_sandbox_is_made_is_not_shown() {
    let Backend::Bubblewrap { program: real } = bubblewrap() else { unreachable!() };
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "outside").unwrap();
    for (exchange, refusal) in [
        ("", None),
        ("mv kept old; mkdir kept; echo other > kept/file", Some("was exchanged")),
        ("mv kept old; ln -s old kept", Some("")),
        ("mv kept old; ln -s $OUTSIDE kept", Some("")),
        ("mv deep deeper; ln -s $OUTSIDE deep", Some("")),
        ("mv deep deeper; mkdir -p deep/kept", Some("was exchanged")),
    ] {
        let workspace = Workspace::new();
        workspace.write("kept/file", "inside");
        workspace.write("deep/kept/file", "inside");
        let wrapper = outside.path().join("bwrap");
        let script = format!(
            "#!/bin/sh\nOUTSIDE={}\ncd {}\n{exchange}\ncd /\nexec {} \"$@\"\n",
            outside.path().display(),
            workspace.path.display(),
            real.display()
        );
        fs::write(&wrapper, script).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let mut spec = workspace.shell("cat kept/file deep/kept/file");
        for name in ["kept", "deep/kept"] {
            let place = workspace.path.join(name);
            spec.mounts.push(Mount::read_only(&place, &place));
        }
        let backend = Backend::Bubblewrap { program: wrapper };
        match (run(&backend, &spec, b""), refusal) {
            (Ok(outcome), None) => assert_eq!(outcome.stdout, b"insideinside"),
            (Err(error), Some(refusal)) => {
                assert!(error.to_string().contains(refusal), "{exchange}: {error}");
            }
            // bubblewrap follows links out of the workspace to nothing.
            (Ok(outcome), Some("")) if outcome.exit == Exit::NotStarted => {}
            (other, _) => panic!("{exchange}: {other:?}"),
        }
    }
    // Before bubblewrap has started, too.
    let workspace = Workspace::new();
    symlink(outside.path(), workspace.path.join("kept")).unwrap();
    let mut spec = workspace.shell("cat kept/file");
    let place = workspace.path.join("kept");
    spec.mounts.push(Mount::read_only(&place, &place));
    let error = run(&bubblewrap(), &spec, b"").unwrap_err();
    assert!(error.to_string().contains("a link has taken its place"), "{error}");
}
