//! The rows: what is tried, as the body of a Python function.

use probity_sandbox::PromiseName;

#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) script: &'static str,
    /// The promise that it breaks, if a sandbox does not make it.
    pub(super) promise: Option<PromiseName>,
}

pub(super) const fn row(name: &'static str, script: &'static str) -> Row {
    Row { name, script, promise: None }
}

const fn open(name: &'static str, script: &'static str, promise: PromiseName) -> Row {
    Row { name, script, promise: Some(promise) }
}

/// A way into a part of the workspace that is kept read-only.
const fn kept(name: &'static str, script: &'static str) -> Row {
    Row { name, script, promise: Some(PromiseName::KeptParts) }
}

pub(super) const ROWS: &[Row] = &[
    // Parts of the workspace that are kept.
    kept("write a part", "open('../kept/own', 'r+b').write(b'x')"),
    kept("truncate a part by its path", "os.truncate('../kept/own', 1)"),
    kept("change the mode of a part", "os.chmod('../kept/own', 0o600)"),
    kept("change the times of a part", "os.utime('../kept/own', (1, 1))"),
    kept("make a file in a part", "os.close(os.open('../kept/made', os.O_CREAT | os.O_WRONLY))"),
    kept("make a directory in a part", "os.mkdir('../kept/directory')"),
    kept("make a link in a part", "os.symlink('x', '../kept/link')"),
    kept("make a pipe in a part", "os.mkfifo('../kept/pipe')"),
    kept("remove from a part", "os.unlink('../kept/removed')"),
    kept("move out of a part", "os.rename('../kept/renamed', 'renamed')"),
    kept("move into a part", "open('mine', 'w').close(); os.rename('mine', '../kept/moved')"),
    kept(
        "put a file in its place",
        "open('mine', 'w').close(); os.replace('mine', '../kept/replaced')",
    ),
    kept("a second name for a part", "os.link('../kept/linked', 'linked'); open('linked', 'w')"),
    kept("write through a link", "os.symlink('../kept/own', 'link'); open('link', 'w')"),
    kept("make a file through a link", "os.symlink('../kept/dangling', 'link'); open('link', 'w')"),
    kept("write below a link", "os.symlink('../kept', 'link'); open('link/below', 'w')"),
    kept("move a part away", "os.rename('../kept', '../away'); os.rename('../away', '../kept')"),
    kept(
        "write a part that is held for reading",
        "held = os.open('../kept/own', os.O_RDONLY); open(f'/proc/self/fd/{held}', 'w')",
    ),
    kept(
        "make a file below a part that is held",
        r"
held = os.open('../kept', os.O_PATH)
os.open('below', os.O_CREAT | os.O_WRONLY, dir_fd=held)",
    ),
    kept("make a socket in a part", "socket.socket(socket.AF_UNIX).bind('../kept/socket')"),
    kept("a file without a name in a part", "os.open('../kept', os.O_TMPFILE | os.O_WRONLY)"),
    kept(
        "exchange a part",
        "open('mine', 'w').close(); call(316, 276, -100, b'mine', -100, b'../kept/exchanged', 2)",
    ),
    // Files.
    row("read a file", "need(read(at('secret')) == b'bait')"),
    row("read through a link in the workspace", "os.symlink(at('secret'), 'link'); read('link')"),
    row("read through a link to the directory", "os.symlink(OUT, 'link'); read('link/secret')"),
    row("read through dots", "read('../' * 40 + at('secret')[1:])"),
    row("read through our own root", "read('/proc/self/root' + at('secret'))"),
    row("read through another's root", "read(f'/proc/{TEST}/root' + at('secret'))"),
    row(
        "read through another's directory",
        "read(f'/proc/{TEST}/cwd/' + '../' * 40 + at('secret')[1:])",
    ),
    row(
        "read below a directory held as a path",
        r"
held = os.open(OUT, os.O_PATH)
need(os.read(os.open('secret', os.O_RDONLY, dir_fd=held), 9) == b'bait')",
    ),
    row(
        "read again what is held as a path",
        r"
held = os.open(at('secret'), os.O_PATH)
read(f'/proc/self/fd/{held}')",
    ),
    row("read after a change of directory", "os.chdir(OUT); read('secret')"),
    row("list a directory", "need('secret' in os.listdir(OUT))"),
    row(
        "list the temporary directory",
        "need(os.path.basename(OUT) in os.listdir(os.path.dirname(OUT)))",
    ),
    row("write a file", "open(at('own'), 'r+b').write(b'bait')"),
    row("append to a file", "os.write(os.open(at('own'), os.O_WRONLY | os.O_APPEND), b'')"),
    row("truncate a file by its path", "os.truncate(at('own'), 4)"),
    row(
        "make a file",
        "os.close(os.open(at('made'), os.O_CREAT | os.O_WRONLY)); os.unlink(at('made'))",
    ),
    row("make a file without a name", "os.open(OUT, os.O_TMPFILE | os.O_WRONLY)"),
    row("make a directory", "os.mkdir(at('made')); os.rmdir(at('made'))"),
    row("make a link", "os.symlink('x', at('made')); os.unlink(at('made'))"),
    row("make a pipe", "os.mkfifo(at('made')); os.unlink(at('made'))"),
    row(
        "make a socket",
        r"
socket.socket(socket.AF_UNIX).bind(at('made'))
os.unlink(at('made'))",
    ),
    row(
        "make a socket behind a link",
        r"
os.symlink(OUT, 'link')
socket.socket(socket.AF_UNIX).bind('link/made')
os.unlink(at('made'))",
    ),
    row("bring a file in by a hard link", "os.link(at('secret'), 'linked'); read('linked')"),
    row(
        "take a file out by a hard link",
        "open('mine', 'w').close(); os.link('mine', at('made')); os.unlink(at('made'))",
    ),
    row(
        "bring a file in by its name",
        "os.rename(at('renamed'), 'here'); os.rename('here', at('renamed'))",
    ),
    row(
        "take a file out by its name",
        "open('mine', 'w').close(); os.rename('mine', at('made')); os.unlink(at('made'))",
    ),
    row(
        "exchange a file",
        r"
open('mine', 'w').write('mine')
swap = lambda: call(316, 276, -100, b'mine', -100, at('exchanged').encode(), 2)
swap()
swap()",
    ),
    row("remove a file", "os.unlink(at('removed')); open(at('removed'), 'w').close()"),
    row("remove a directory", "os.rmdir(at('directory/empty')); os.mkdir(at('directory/empty'))"),
    row("change a mode", "os.chmod(at('own'), 0o600)"),
    row(
        "change a mode below a directory",
        "held = os.open(OUT, os.O_PATH); os.chmod('own', 0o600, dir_fd=held)",
    ),
    row("change a mode behind a link", "os.symlink(at('own'), 'link'); os.chmod('link', 0o600)"),
    row(
        "change a mode by a held path",
        r"
held = os.open(at('own'), os.O_PATH)
os.chmod(f'/proc/self/fd/{held}', 0o600)",
    ),
    row(
        "change a mode without a path",
        r"
held = os.open(at('own'), os.O_PATH)
call(452, 452, held, b'', 0o600, 0x1000)",
    ),
    row("change an owner", "os.chown(at('own'), os.getuid(), os.getgid())"),
    row("change a link's owner", "os.lchown(at('own'), os.getuid(), os.getgid())"),
    row("change times", "os.utime(at('own'), (1, 1))"),
    row("change times to now", "os.utime(at('own'))"),
    row(
        "change times below a directory",
        "held = os.open(OUT, os.O_PATH); os.utime('own', (1, 1), dir_fd=held)",
    ),
    row(
        "change an attribute",
        "os.setxattr(at('own'), 'user.x', b'1'); os.removexattr(at('own'), 'user.x')",
    ),
    row(
        "run a program",
        "need(subprocess.run([at('program')], capture_output=True).stdout == b'ran\\n')",
    ),
    row(
        "run a program by the loader",
        r"
loader = '/lib64/ld-linux-x86-64.so.2' if X86 else '/lib/ld-linux-aarch64.so.1'
need(subprocess.run([loader, at('binary')], capture_output=True).returncode == 0)",
    ),
    row(
        "watch a directory",
        r"
queue = libc.inotify_init1(0)
if libc.inotify_add_watch(queue, OUT.encode(), 0x100) < 0:
    raise OSError(ctypes.get_errno(), 'watch')",
    ),
    row(
        "put a program with the owner's rights here",
        r"
open('tool', 'w').close()
os.chmod('tool', 0o4755)",
    ),
    open("see that a file is there", "os.stat(at('secret'))", PromiseName::FilesUnseen),
    // Sockets.
    row("connect to a named socket", "socket.socket(socket.AF_UNIX).connect(at('socket'))"),
    row(
        "connect through a link",
        "os.symlink(at('socket'), 'link'); socket.socket(socket.AF_UNIX).connect('link')",
    ),
    row(
        "connect from the directory",
        "os.chdir(OUT); socket.socket(socket.AF_UNIX).connect('socket')",
    ),
    row(
        "connect by a held path",
        r"
held = os.open(at('socket'), os.O_PATH)
socket.socket(socket.AF_UNIX).connect(f'/proc/self/fd/{held}')",
    ),
    row(
        "connect without waiting",
        r"
s = socket.socket(socket.AF_UNIX)
s.setblocking(False)
s.connect(at('socket'))",
    ),
    row("connect to an abstract socket", "socket.socket(socket.AF_UNIX).connect('\\0' + NAME)"),
    row(
        "send to a named socket",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', at('datagrams'))",
    ),
    row(
        "send to an abstract socket",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '\\0' + NAME + '-d')",
    ),
    row(
        "send a message to a named socket",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, at('datagrams'))",
    ),
    row(
        "send from a pair to a named socket",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', at('datagrams'))",
    ),
    row("connect to a server", "socket.create_connection(('127.0.0.1', PORT))"),
    row(
        "connect to a server from a mapped address",
        r"
s = socket.socket(socket.AF_INET6)
s.connect(('::ffff:127.0.0.1', PORT))",
    ),
    row(
        "send a datagram",
        r"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('127.0.0.1', UDP))
s.send(b'x')
s.settimeout(0.2)
try:
    s.recv(1)
except TimeoutError:
    pass",
    ),
    row(
        "connect with the first bytes",
        r"
s = socket.socket()
s.sendto(b'x', 0x20000000, ('127.0.0.1', PORT))",
    ),
    row("ask the kernel for events", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)"),
    // Processes.
    row("look for a process", "os.kill(VICTIM, 0)"),
    row("signal a process", "os.kill(VICTIM, signal.SIGCONT)"),
    row("signal a group", "os.killpg(VICTIM, signal.SIGCONT)"),
    row("signal a thread", "call(234, 131, VICTIM, VICTIM, 18)"),
    row("signal by a handle", "signal.pidfd_send_signal(os.pidfd_open(VICTIM), signal.SIGCONT)"),
    row(
        "queue a signal",
        r"
info = struct.pack('iiiiii', 18, 0, -1, 0, os.getpid(), os.getuid()) + bytes(104)
call(129, 138, VICTIM, 18, info)",
    ),
    row("trace a process", "call(101, 117, 0x4206, VICTIM, 0, 0)"),
    row("read a process's memory by its file", "open(f'/proc/{VICTIM}/mem', 'rb')"),
    row(
        "read a process's memory",
        r"
line = [line for line in open(f'/proc/{VICTIM}/maps') if 'r-' in line][0]
start = int(line.split('-')[0], 16)
room = ctypes.create_string_buffer(8)
local = struct.pack('PP', ctypes.addressof(room), 8)
remote = struct.pack('PP', start, 8)
call(310, 270, VICTIM, local, 1, remote, 1, 0)",
    ),
    row("read a process's variables", "need(b'of-the-victim' in read(f'/proc/{VICTIM}/environ'))"),
    row("see a process's program", "os.readlink(f'/proc/{VICTIM}/exe')"),
    row("see what a process has open", "os.readlink(f'/proc/{VICTIM}/fd/0')"),
    row("take a process's file", "call(438, 438, os.pidfd_open(VICTIM), 0, 0)"),
    row("compare with a process", "call(312, 272, os.getpid(), VICTIM, 2, 0, 0)"),
    row(
        "limit a process",
        "import resource; resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))",
    ),
    row("slow a process", "os.setpriority(os.PRIO_PROCESS, VICTIM, 1)"),
    row("slow a process's disk", "call(251, 30, 1, VICTIM, (2 << 13) | 5)"),
    row("keep a process to a processor", "os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))"),
    row("schedule a process", "call(144, 119, VICTIM, 3, struct.pack('i', 0))"),
    row("move a process's memory", "call(279, 239, VICTIM, 0, 0, 0, 0, 0)"),
    row("offer a process to the killer", "open(f'/proc/{VICTIM}/oom_score_adj', 'w').write('500')"),
    open(
        "read a process's command line",
        "need(b'3000' in read(f'/proc/{VICTIM}/cmdline'))",
        PromiseName::ProcessesUnseen,
    ),
    // What the machine shares.
    row("shared memory", "call(29, 194, KEY, 0, 0)"),
    row("semaphores", "call(64, 190, KEY, 0, 0)"),
    row("message queues", "call(68, 186, KEY, 0)"),
    row("named queues", "call(240, 180, NAME.encode(), os.O_RDWR, 0, 0)"),
    row("named memory", "read('/dev/shm/' + NAME)"),
    row("keys of the user", "call(250, 219, 0, -4, 0)"),
    open(
        "the name of the machine",
        "need(os.uname().nodename == read(f'/proc/sys/kernel/hostname').decode().strip() and os.uname().nodename != 'sandbox')",
        PromiseName::MachineUnnamed,
    ),
    // The kernel.
    row(
        "a namespace of users",
        "child = os.fork()\nif child == 0:\n    os._exit(0 if libc.unshare(0x10000000) == 0 else 1)\nneed(os.waitpid(child, 0)[1] == 0)",
    ),
    row("rings of calls", "call(425, 425, 1, bytes(120))"),
    row(
        "a process that wants to be traced",
        "child = os.fork()\nif child == 0:\n    os._exit(0 if libc.ptrace(0, 0, 0, 0) == 0 else 1)\nneed(os.waitpid(child, 0)[1] == 0)",
    ),
    row("faults in the hand of a program", "call(323, 282, 1)"),
    row(
        "a path that no filter sees",
        "call(437, 437, -100, b'.', struct.pack('QQQ', 0, 0, 0), 24)",
    ),
    row(
        "a file's handle",
        r"
room = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))
mount = ctypes.c_int()
call(303, 264, -100, b'.', room, ctypes.byref(mount), 0)",
    ),
];
