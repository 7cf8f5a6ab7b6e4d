//! What is special about Landlock: calls that the supervisor makes, and what is refused by name.

use std::{
    fs,
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        net::UnixListener,
    },
};

use probity_sandbox::{Allowlist, Backend, Exit, Mount, Network, SpawnError};

use crate::stage::{INSIDE, Workspace, run, spawn, text};

const PYTHON: [&str; 2] = ["python3", "-c"];

fn python(workspace: &Workspace, script: &str) -> probity_sandbox::Spec {
    let [program, option] = PYTHON;
    workspace.spec(&[program, option, script])
}

/// Everything that programs do with files of their own.
#[test]
fn files_of_the_workspace_and_of_the_home_are_changed_as_asked() {
    let workspace = Workspace::new();
    workspace.write("file", "text");
    workspace.write("directory/other", "text");
    let script = r"
import os, stat
def mode(path): return oct(stat.S_IMODE(os.lstat(path).st_mode))
os.chmod('file', 0o600); print(mode('file'))
held = os.open('file', os.O_RDONLY)
os.fchmod(held, 0o640); print(mode('file'))
os.chmod(f'/proc/self/fd/{held}', 0o644); print(mode('file'))
here = os.open('directory', os.O_RDONLY)
os.chmod('other', 0o604, dir_fd=here); print(mode('directory/other'))
os.chdir('directory'); os.chmod('../file', 0o666); os.chdir('..'); print(mode('file'))
os.symlink('file', 'link'); os.chmod('link', 0o606); print(mode('file'))
os.utime('file', ns=(1_000_000_001, 2_000_000_002)); print(os.stat('file').st_atime_ns, os.stat('file').st_mtime_ns)
os.utime(held, (3, 4)); print(int(os.stat('file').st_mtime))
os.utime('link', (5, 6), follow_symlinks=False); print(int(os.lstat('link').st_mtime), int(os.stat('file').st_mtime))
os.utime('file'); print(os.stat('file').st_mtime > 1e9)
os.chown('file', os.getuid(), os.getgid()); os.chown('file', -1, -1); os.fchown(held, -1, -1); print('owner')
gone = os.open('gone', os.O_CREAT | os.O_RDWR); os.unlink('gone'); os.fchmod(gone, 0o600); print('gone')
for place in (os.environ['HOME'], os.environ['TMPDIR']):
    path = os.path.join(place, 'made'); open(path, 'w').close(); os.chmod(path, 0o700); print(mode(path))
for path in ('absent', ''):
    try: os.chmod(path, 0o600)
    except FileNotFoundError: print('absent')
os.umask(0o27); os.mkdir('made'); print(mode('made'))
";
    let (outcome, stdout) = text(&Backend::Landlock, &python(&workspace, script));
    assert_eq!(
        stdout,
        "0o600\n0o640\n0o644\n0o604\n0o666\n0o606\n1000000001 2000000002\n4\n6 4\nTrue\nowner\ngone\n\
         0o700\n0o700\nabsent\nabsent\n0o750\n",
        "{}",
        String::from_utf8_lossy(&outcome.stderr_tail)
    );
    assert_eq!(outcome.exit, Exit::Code(0));
}

#[test]
fn sockets_of_the_workspace_are_its_own() {
    let workspace = Workspace::new();
    let _host = UnixListener::bind(workspace.path.join("of-the-host")).unwrap();
    fs::set_permissions(workspace.path.join("of-the-host"), fs::Permissions::from_mode(0o777))
        .unwrap();
    let script = r"
import os, socket, stat
os.umask(0o77)
server = socket.socket(socket.AF_UNIX)
server.bind('socket'); server.listen()
print(oct(stat.S_IMODE(os.stat('socket').st_mode)), os.path.basename(server.getsockname()))
for path in ('socket', os.path.abspath('socket')):
    client = socket.socket(socket.AF_UNIX); client.connect(path)
    peer, _ = server.accept(); client.sendall(b'word'); print(peer.recv(9).decode())
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK); client.connect('socket'); print('at once')
socket.socket(socket.AF_UNIX).connect('of-the-host'); print('shown')
first, second = socket.socketpair(); first.sendall(b'pair'); print(second.recv(9).decode())
for path in ('socket', 'absent/socket'):
    try: socket.socket(socket.AF_UNIX).bind(path)
    except OSError as error: print(error.strerror)
for name in ('\0name', ''):
    try: socket.socket(socket.AF_UNIX).bind(name)
    except OSError as error: print(error.strerror)
try: socket.socket(socket.AF_UNIX).connect('absent')
except OSError as error: print(error.strerror)
";
    let (outcome, stdout) = text(&Backend::Landlock, &python(&workspace, script));
    assert_eq!(
        stdout,
        "0o700 socket\nword\nword\nat once\nshown\npair\nAddress already in use\n\
         No such file or directory\nOperation not permitted\nOperation not permitted\n\
         No such file or directory\n",
        "{}",
        String::from_utf8_lossy(&outcome.stderr_tail)
    );
}

#[test]
fn an_open_network_is_the_hosts() {
    let workspace = Workspace::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "import socket\n\
         socket.create_connection(('127.0.0.1', {port})); print('connected')\n\
         s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print('listens')\n\
         socket.create_connection(s.getsockname(), timeout=5); print('by itself')\n\
         u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0)); \
         u.sendto(b'x', u.getsockname()); print(u.recv(1))\n\
         try: socket.create_connection(('127.0.0.1', 1))\n\
         except ConnectionRefusedError: print('refused')\n"
    );
    let mut spec = python(&workspace, &script);
    spec.network = Network::Open;
    let (outcome, stdout) = text(&Backend::Landlock, &spec);
    let told = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    assert_eq!(stdout, "connected\nlistens\nby itself\nb'x'\nrefused\n", "{told}");
    spec.network = Network::None;
    assert_eq!(text(&Backend::Landlock, &spec).1, "");
}

#[test]
fn what_it_has_no_means_for_is_refused_by_name() {
    let workspace = Workspace::new();
    workspace.write("part", "");
    let refused = |change: &dyn Fn(&mut probity_sandbox::Spec)| {
        let mut spec = workspace.spec(&["true"]);
        spec.mounts.retain(|mount| mount.inside() == workspace.path);
        change(&mut spec);
        probity_sandbox::spawn(&Backend::Landlock, &spec).unwrap_err()
    };
    let path = workspace.path.display();
    let other = refused(&|spec| spec.mounts.push(Mount::read_write(&workspace.path, INSIDE)));
    assert!(matches!(other, SpawnError::NotShown { .. }));
    assert_eq!(
        other.to_string(),
        format!("landlock cannot show {INSIDE}: it shows files at their own path alone")
    );
    let empty = refused(&|spec| {
        spec.mounts.push(Mount::Tmpfs { inside: workspace.path.join("empty"), bytes: None });
    });
    let why = "it cannot put an empty directory anywhere";
    assert_eq!(empty.to_string(), format!("landlock cannot show {path}/empty: {why}"));
    let list = refused(&|spec| spec.reach = Some(Allowlist::parse(&["example.com"]).unwrap()));
    assert_eq!(
        list.to_string(),
        "landlock could not prepare the sandbox: a list of allowed hosts cannot be enforced without a \
         network of its own"
    );
}

#[test]
fn powers_are_gone_for_good() {
    let workspace = Workspace::new();
    let script = "grep -E '^(CapEff|CapPrm|CapInh|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status";
    let (_, status) = text(&Backend::Landlock, &workspace.shell(script));
    let none = "0000000000000000";
    let expected = format!(
        "CapInh:\t{none}\nCapPrm:\t{none}\nCapEff:\t{none}\nCapAmb:\t{none}\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    );
    assert_eq!(status, expected);
    // Nobody but root could give them away; and nothing gives any back to a process without new ones.
    let bounding = text(&Backend::Landlock, &workspace.shell("grep CapBnd /proc/self/status")).1;
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    assert!(!is_root || bounding == format!("CapBnd:\t{none}\n"), "{bounding}");
}

/// The supervisor is root's, and acts as whoever the process is.
#[test]
fn roots_process_in_another_users_workspace_is_that_user() {
    let workspace = Workspace::new();
    // Only root can give it away; otherwise it is our own.
    std::os::unix::fs::chown(&workspace.path, Some(65534), Some(65534)).ok();
    let owner = fs::metadata(&workspace.path).unwrap().uid();
    fs::write(workspace.path.join("ours"), "").unwrap();
    fs::set_permissions(workspace.path.join("ours"), fs::Permissions::from_mode(0o600)).unwrap();
    let script = "id -u; id -G; echo hi > made; chmod 600 made; stat -c '%u %a' made; \
                  stat -c %u \"$HOME\"; chmod 666 ours 2>/dev/null && echo changed";
    let (_, stdout) = text(&Backend::Landlock, &workspace.shell(script));
    let group = fs::metadata(&workspace.path).unwrap().gid();
    if owner == 65534 && fs::metadata("/proc/self").unwrap().uid() == 0 {
        assert_eq!(stdout, format!("{owner}\n{group}\n{owner} 600\n{owner}\n"));
    } else {
        assert!(stdout.ends_with("changed\n"), "{stdout}");
    }
}

/// As docker's default profile does: files are changed all the same, an open network is reached, and there
/// are no sockets of the machine's own.
#[test]
fn where_no_socket_can_be_taken_over_the_internet_is_reached_and_nothing_else() {
    const ROLE: &str = "PROBITY_SANDBOX_TEST_NO_SOCKETS";
    if std::env::var_os(ROLE).is_some() {
        let workspace = Workspace::new();
        let script = "import os, socket\n\
                      open('file', 'w').close(); held = os.open('file', os.O_RDWR)\n\
                      os.fchmod(held, 0o600); os.utime(held); os.chmod('file', 0o640); print('changed')\n\
                      try: socket.socket(socket.AF_UNIX)\n\
                      except PermissionError: print('refused')\n\
                      first, second = socket.socketpair(); first.sendall(b'pair'); print(second.recv(9))\n\
                      try: first.connect(b'socket')\n\
                      except OSError: print('connected already')\n\
                      try: socket.create_connection(('127.0.0.1', PORT)); print('reached')\n\
                      except PermissionError: print('closed')\n";
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let mut spec = python(&workspace, &script.replace("PORT", &port));
        let seen = "changed\nrefused\nb'pair'\nconnected already\n";
        assert_eq!(text(&Backend::Landlock, &spec).1, format!("{seen}closed\n"));
        spec.network = Network::Open;
        assert_eq!(text(&Backend::Landlock, &spec).1, format!("{seen}reached\n"));
        return;
    }
    let Backend::Bubblewrap { program } = crate::stage::bubblewrap() else { unreachable!() };
    let number: u32 = 438;
    let refused: u32 = 0x0005_0001;
    let filter: [(u16, u8, u8, u32); 4] =
        [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, refused), (0x06, 0, 0, 0x7fff_0000)];
    let mut bytes = Vec::new();
    for (code, jt, jf, k) in filter {
        bytes.extend(code.to_ne_bytes());
        bytes.extend([jt, jf]);
        bytes.extend(k.to_ne_bytes());
    }
    let workspace = Workspace::new();
    fs::write(workspace.path.join("filter"), bytes).unwrap();
    let test =
        "landlock::where_no_socket_can_be_taken_over_the_internet_is_reached_and_nothing_else";
    let script = "exec 9<\"$1\"; shift; exec \"$@\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(workspace.path.join("filter"))
        .arg(program)
        .args(["--dev-bind", "/", "/", "--seccomp", "9", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}{failed}");
}

/// Where parts are kept, every call that names a file goes through the supervisor: what programs see of it
/// has to be what the kernel would have done.
#[test]
fn beside_parts_that_are_kept_programs_do_with_files_what_they_do_elsewhere() {
    let script = r"
import errno, os, stat, tempfile, threading
def mode(path): return oct(stat.S_IMODE(os.lstat(path).st_mode))
def error(action):
    try: action(); return 'done'
    except OSError as error: return errno.errorcode[error.errno]
os.umask(0o22)
open('file', 'w').write('text'); print(mode('file'), open('file').read())
open('file', 'a').write('more'); print(open('file').read())
print(error(lambda: open('file', 'x')), error(lambda: os.open('absent', os.O_WRONLY)))
print(error(lambda: os.open('.', os.O_WRONLY)), error(lambda: open('no/such', 'w')), error(lambda: open('file/x', 'w')))
held = os.open('made', os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o666); print(mode('made'), os.get_inheritable(held))
os.write(held, b'12345'); os.truncate('made', 2); print(os.fstat(held).st_size)
os.umask(0); open('open', 'w').close(); print(mode('open')); os.mkdir('all'); print(mode('all'))
os.umask(0o77); os.mkdir('own'); open('own/x', 'w').close(); print(mode('own'), mode('own/x')); os.umask(0o22)
os.mkdir('d'); os.chdir('d'); open('../up', 'w').close(); os.mkdir('../beside'); os.chdir('..')
here = os.open('d', os.O_RDONLY)
open(os.path.abspath('d/abs'), 'w').close(); os.open('rel', os.O_CREAT | os.O_WRONLY, dir_fd=here)
os.rename('abs', 'moved', src_dir_fd=here, dst_dir_fd=here); print(sorted(os.listdir('d')))
os.symlink('d/rel', 'link'); open('link', 'w').write('through'); print(open('d/rel').read())
os.symlink('d/new', 'dangling'); open('dangling', 'w').close(); print(os.path.exists('d/new'))
print(error(lambda: os.open('link', os.O_WRONLY | os.O_NOFOLLOW)), error(lambda: open('dangling', 'x')))
os.symlink('loop', 'loop'); print(error(lambda: open('loop', 'w')))
os.link('file', 'hard'); print(os.stat('file').st_nlink, error(lambda: os.link('file', 'hard')))
print(error(lambda: os.mkdir('d')), error(lambda: os.rmdir('d')), error(lambda: os.unlink('d')), error(lambda: os.rmdir('file')))
os.replace('hard', 'file2'); os.rename('d', 'e/'); print(os.path.isdir('e'), error(lambda: os.rename('absent', 'x')))
print(error(lambda: os.rename('e', 'e/below')), error(lambda: os.rename('file', 'e')))
os.unlink('link'); os.rmdir('all'); print(os.path.lexists('link'), os.path.exists('all'))
os.mkfifo('pipe'); got = []
reader = threading.Thread(target=lambda: got.append(open('pipe').read())); reader.start()
open('pipe', 'w').write('piped'); reader.join(); print(got)
print(error(lambda: os.open('pipe', os.O_WRONLY | os.O_NONBLOCK)))
print(error(lambda: os.mknod('device', 0o600 | stat.S_IFCHR, os.makedev(1, 3))) in ('EPERM', 'EACCES'))
with tempfile.TemporaryFile(dir='.') as file: file.write(b'x'); print('temporary')
with tempfile.NamedTemporaryFile(dir='.') as file: file.write(b'x'); print('named')
again = os.open(f'/proc/self/fd/{held}', os.O_WRONLY); os.write(again, b'67'); print(open('made').read())

open(os.path.join(os.environ['TMPDIR'], 'temporary'), 'w').write('x'); print('own')
import ctypes; ctypes.CDLL(None).prctl(4, 0); open('/dev/null', 'w').close(); ctypes.CDLL(None).prctl(4, 1); print('unseen')
print(error(lambda: open('/etc/made', 'w')) in ('EACCES', 'EPERM', 'EROFS'), error(lambda: open('', 'w')))
";
    let seen = |kept: bool, backend: &Backend| {
        let workspace = Workspace::new();
        workspace.write("kept/part", "kept");
        let mut spec = python(&workspace, script);
        if kept {
            for at in [workspace.path.clone(), INSIDE.into()] {
                spec.mounts.push(Mount::read_only(workspace.path.join("kept"), at.join("kept")));
            }
        }
        spec.env.push(("TMPDIR".into(), "/tmp".into()));
        if *backend == Backend::Landlock {
            spec.env.retain(|(name, _)| name != "TMPDIR");
            spec.mounts.retain(|mount| !mount.inside().starts_with(INSIDE));
        }
        let (outcome, stdout) = text(backend, &spec);
        assert_eq!(
            outcome.exit,
            Exit::Code(0),
            "{}",
            String::from_utf8_lossy(&outcome.stderr_tail)
        );
        stdout
    };
    let expected = seen(false, &crate::stage::bubblewrap());
    assert_eq!(seen(true, &Backend::Landlock), expected);
    assert_eq!(seen(false, &Backend::Landlock), expected);
}

/// Each way to change a part, from a thread that changes paths under the supervisor's eyes, too.
#[test]
fn a_race_for_a_part_that_is_kept_is_lost() {
    let script = r"
import os, threading
os.makedirs('work/git/hooks', exist_ok=True)
stop = False
def swap():
    while not stop:
        for target in ('work/free', 'work/git/hooks', 'work/git'):
            try:
                os.symlink(target, 'next'); os.replace('next', 'turn')
            except OSError: pass
os.mkdir('work/free')
thread = threading.Thread(target=swap); thread.start()
for number in range(500):
    for action in (
        lambda: os.close(os.open('turn/evil', os.O_CREAT | os.O_WRONLY)),
        lambda: os.mkdir('turn/evil'), lambda: os.symlink('x', 'turn/evil'),
        lambda: os.link('work/free/evil', 'turn/evil'), lambda: os.rename('work/free/evil', 'turn/evil'),
        lambda: os.rename('turn/hooks', 'turn/moved'), lambda: open('turn/kept', 'w').write('evil'),
        lambda: os.unlink('turn/kept'), lambda: os.rename('turn', 'turned'),
    ):
        try: action()
        except OSError: pass
stop = True
thread.join()
print('tried')
";
    let workspace = Workspace::new();
    workspace.write("work/git/hooks/kept", "kept");
    let kept = workspace.path.join("work/git/hooks");
    let mut spec = python(&workspace, script);
    spec.mounts.push(Mount::read_only(&kept, &kept));
    let (outcome, stdout) = text(&Backend::Landlock, &spec);
    assert_eq!(
        stdout,
        "tried
",
        "{}",
        String::from_utf8_lossy(&outcome.stderr_tail)
    );
    let names: Vec<_> =
        fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["kept"]);
    assert_eq!(fs::read_to_string(kept.join("kept")).unwrap(), "kept");
}

/// Supervisors end with their processes.
#[test]
fn no_thread_or_descriptor_is_left_of_a_process_that_ended() {
    let count = |of: &str| fs::read_dir(format!("/proc/self/{of}")).unwrap().count();
    let workspace = Workspace::new();
    let spec = workspace.shell("chmod 700 .");
    let mut least = usize::MAX;
    for _ in 0..30 {
        run(&Backend::Landlock, &spec, b"").unwrap();
        let started = std::time::Instant::now();
        // Other tests of this program come and go at the same time.
        while count("task") + count("fd") > least.saturating_add(40) {
            assert!(started.elapsed() < crate::stage::SOON, "{} threads", count("task"));
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        least = least.min(count("task") + count("fd"));
    }
}

/// What a process of the tree sets for itself cannot take it out of the tree.
#[test]
fn nothing_is_left_of_a_tree_that_hides() {
    use crate::stage::{alive, nap, wait_alive};
    let workspace = Workspace::new();
    let nap = nap();
    // No group, session, parent or mark of its own is left, and its signals are held back.
    let script = format!(
        "import os, resource, signal\n\
         for _ in range(3):\n    if os.fork(): os._exit(0)\n    os.setsid()\n\
         soft, hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)\n\
         resource.setrlimit(resource.RLIMIT_MSGQUEUE, (1, hard))\n\
         signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         os.closerange(0, 100)\n\
         os.execvp('sleep', ['sleep', '{nap}'])\n"
    );
    workspace.write("hide.py", &script);
    let spec = workspace.shell("python3 hide.py; read -r go");
    let child = spawn(&Backend::Landlock, &spec).unwrap();
    wait_alive(&nap, 1);
    drop(child);
    assert_eq!(alive(&nap), 0);
}

#[test]
fn its_own_directories_are_gone_afterwards() {
    let workspace = Workspace::new();
    let script =
        "mkdir -p \"$HOME/a/b\" && chmod 0 \"$HOME/a/b\" && touch \"$TMPDIR/x\" && echo \"$HOME\"";
    let outcome = run(&Backend::Landlock, &workspace.shell(script), b"").unwrap();
    let home = String::from_utf8(outcome.stdout).unwrap();
    let scratch = std::path::Path::new(home.trim()).parent().unwrap();
    assert!(scratch.is_absolute() && !scratch.exists(), "{}", scratch.display());
}
