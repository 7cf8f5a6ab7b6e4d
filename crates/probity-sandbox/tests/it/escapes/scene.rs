//! Bait: files, sockets, servers and a process that belong to nobody's workspace.

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixDatagram, UnixListener},
            process::CommandExt,
        },
    },
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

pub(super) struct Scene {
    outside: TempDir,
    victim: Child,
    port: u16,
    port_of_six: Option<u16>,
    datagrams: u16,
    name: String,
    _open: Vec<Box<dyn std::any::Any>>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let at = |name: &str| outside.path().join(name);
        for name in ["secret", "own", "removed", "renamed", "exchanged", "linked"] {
            fs::write(at(name), "bait").unwrap();
        }
        fs::create_dir_all(at("directory/empty")).unwrap();
        fs::write(at("program"), "#!/bin/sh\necho ran\n").unwrap();
        fs::copy("/bin/true", at("binary")).unwrap();
        for name in ["program", "binary"] {
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let name = format!("probity-escape-{}", std::process::id());
        shared(MAKE, &name);
        let named = |kind: &str| SocketAddr::from_abstract_name(format!("{name}{kind}")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let of_six = TcpListener::bind("[::1]:0").ok();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        // In a group of its own, which is a target of its own.
        let mut victim = Command::new("sleep");
        victim.arg("3000").env("SECRET", "of-the-victim").process_group(0);
        victim.stdin(Stdio::null()).stdout(Stdio::null());
        Self {
            victim: victim.spawn().unwrap(),
            port: listener.local_addr().unwrap().port(),
            port_of_six: of_six.as_ref().map(|open| open.local_addr().unwrap().port()),
            datagrams: datagrams.local_addr().unwrap().port(),
            _open: vec![
                Box::new(UnixListener::bind(at("socket")).unwrap()),
                Box::new(UnixDatagram::bind(at("datagrams")).unwrap()),
                Box::new(UnixListener::bind_addr(&named("")).unwrap()),
                Box::new(UnixDatagram::bind_addr(&named("-d")).unwrap()),
                Box::new(listener),
                Box::new(of_six),
                Box::new(datagrams),
            ],
            outside,
            name,
        }
    }

    /// Names that the rows use.
    pub(super) fn preamble(&self) -> String {
        let six = self.port_of_six.map_or("None".to_owned(), |port| port.to_string());
        format!(
            "OUT = {:?}\nVICTIM = {}\nPORT = {}\nPORT6 = {six}\nUDP = {}\nNAME = {:?}\nTEST = {}\nKEY = {}\n{HELPERS}",
            self.outside.path(),
            self.victim.id(),
            self.port,
            self.datagrams,
            self.name,
            std::process::id(),
            key(),
        )
    }
}

/// Makes or removes what the whole machine shares, by key or by name.
fn shared(script: &str, name: &str) {
    let script = format!("NAME = {name:?}\nKEY = {}\n{HELPERS}{script}", key());
    let done = Command::new("python3").args(["-c", &script]).status().unwrap();
    assert!(done.success());
}

fn key() -> u32 {
    0x5000_0000 | std::process::id()
}

const MAKE: &str = r"
call(29, 194, KEY, 4096, 0o1600)
call(64, 190, KEY, 1, 0o1600)
call(68, 186, KEY, 0o1600)
call(240, 180, NAME.encode(), os.O_CREAT | os.O_RDWR, 0o600, 0)
open('/dev/shm/' + NAME, 'w').close()
";

const REMOVE: &str = r"
call(31, 195, call(29, 194, KEY, 0, 0), 0, 0)
call(66, 191, call(64, 190, KEY, 0, 0), 0, 0)
call(71, 187, call(68, 186, KEY, 0), 0, 0)
call(241, 181, NAME.encode())
os.unlink('/dev/shm/' + NAME)
";

impl Drop for Scene {
    fn drop(&mut self) {
        shared(REMOVE, &self.name);
        self.victim.kill().ok();
        self.victim.wait().ok();
    }
}

const HELPERS: &str = r"
import array, ctypes, errno, fcntl, mmap, os, select, signal, socket, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == 'x86_64'
class Held(Exception):
    pass
def need(truth, why='nothing'):
    if not truth:
        raise Held(why)
def call(x86, arm, *words):
    ctypes.set_errno(0)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    answer = libc.syscall(ctypes.c_long(x86 if X86 else arm), *words)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
def at(name):
    return os.path.join(OUT, name)
def read(path):
    with open(path, 'rb') as file:
        return file.read()
";
