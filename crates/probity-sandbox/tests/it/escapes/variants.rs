//! The same ways out by other calls, and by other names of the same thing.

use super::rows::{Row, row};

pub(super) const VARIANTS: &[Row] = &[
    row(
        "bring a held file in by a hard link",
        r"
held = os.open(at('secret'), os.O_PATH)
call(265, 37, -100, f'/proc/self/fd/{held}'.encode(), -100, b'linked', 0x400)
read('linked')",
    ),
    row(
        "run a program that is held as a path",
        r"
held = os.open(at('binary'), os.O_PATH)
child = os.fork()
if child == 0:
    try:
        os.execve(held, ['true'], {})
    finally:
        os._exit(1)
need(os.waitpid(child, 0)[1] == 0)",
    ),
    row(
        "map a program",
        r"
held = os.open(at('binary'), os.O_RDONLY)
mmap.mmap(held, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)",
    ),
    row(
        "make a program with the group's rights here",
        "os.close(os.open('tool', os.O_CREAT | os.O_WRONLY, 0o2755))",
    ),
    row("make a program with the owner's rights here", "os.mknod('tool', 0o104755)"),
    row(
        "change a link's times",
        r"
os.symlink('x', at('dangling'))
try:
    os.utime(at('dangling'), (1, 1), follow_symlinks=False)
finally:
    os.unlink(at('dangling'))",
    ),
    row(
        "change an owner below a directory",
        "held = os.open(OUT, os.O_PATH); os.chown('own', -1, os.getgid(), dir_fd=held)",
    ),
    row(
        "change an owner without a path",
        r"
held = os.open(at('own'), os.O_PATH)
call(260, 54, held, b'', os.getuid(), os.getgid(), 0x1000)",
    ),
    row(
        "lock a file",
        "fcntl.flock(os.open(at('own'), os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)",
    ),
    row("list the directory that one is in", "os.chdir(OUT); need('secret' in os.listdir('.'))"),
    row("open a file by the number of another", "os.open(f'/proc/{VICTIM}/fd/0', os.O_RDONLY)"),
    row("read by the root of a child", "read(f'/proc/{VICTIM}/root' + at('secret'))"),
    row(
        "connect and send to a named socket",
        r"
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(at('datagrams'))
s.send(b'x')",
    ),
    row(
        "connect and send to an abstract socket",
        r"
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect('\0' + NAME + '-d')
s.send(b'x')",
    ),
    row(
        "connect through the root of another",
        "socket.socket(socket.AF_UNIX).connect(f'/proc/{VICTIM}/root' + at('socket'))",
    ),
    row(
        "send a datagram to its address",
        r"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'x', ('127.0.0.1', UDP))
s.connect(('127.0.0.1', UDP))
s.send(b'x')
s.settimeout(0.2)
try:
    s.recv(1)
except TimeoutError:
    pass",
    ),
    row("signal a process's thread", "call(200, 130, VICTIM, 18)"),
    row(
        "queue a signal for a thread",
        r"
info = struct.pack('iiiiii', 18, 0, -1, 0, os.getpid(), os.getuid()) + bytes(104)
call(297, 240, VICTIM, VICTIM, 18, info)",
    ),
    row("see a process's memory map", "need(read(f'/proc/{VICTIM}/maps'))"),
    row("see where a process's secrets are", "need(read(f'/proc/{VICTIM}/auxv'))"),
    row("see what a process reads", "read(f'/proc/{VICTIM}/io')"),
    row("see a process's namespaces", "os.readlink(f'/proc/{VICTIM}/ns/net')"),
    row("see a process's directory", "os.readlink(f'/proc/{VICTIM}/cwd')"),
    row(
        "see a process's locks",
        r"
head, size = ctypes.c_long(), ctypes.c_long()
call(274, 100, VICTIM, ctypes.byref(head), ctypes.byref(size))",
    ),
    row("change a process's dumps", "open(f'/proc/{VICTIM}/coredump_filter', 'w').write('33')"),
    row("slow a group", "os.setpriority(os.PRIO_PGRP, VICTIM, 1)"),
    row(
        "look at shared memory",
        r"
number = call(29, 194, KEY, 0, 0)
call(31, 195, number, 2, ctypes.create_string_buffer(256))",
    ),
    row(
        "use semaphores",
        "call(65, 193, call(64, 190, KEY, 0, 0), struct.pack('Hhh', 0, 1, 0), 1)",
    ),
    row(
        "send to message queues",
        "call(69, 189, call(68, 186, KEY, 0), struct.pack('l', 1) + b'x', 1, 0)",
    ),
    row("list shared memory", "need(NAME in os.listdir('/dev/shm'))"),
    row("make a key", "call(248, 217, b'user', b'probity-escape', b'x', 1, -1)"),
    row("join a session of keys", "call(250, 219, 1, 0)"),
];
