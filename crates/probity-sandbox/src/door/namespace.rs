//! A listening socket in the network namespace of another process.
//!
//! A socket stays in the namespace it was made in, and a thread among others cannot enter a user
//! namespace. So a child makes it, between fork and exec, and we take it from there.

use std::{
    fs::File,
    io,
    net::TcpListener,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    os::unix::fs::MetadataExt,
    process::{Command, Stdio},
};

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::spawner::{self, Before, Enter};

pub(super) fn listen(process: Pid, port: u16) -> io::Result<TcpListener> {
    let process = process.as_raw_nonzero();
    let network = File::open(format!("/proc/{process}/ns/net"))?;
    if network.metadata()?.ino() == File::open("/proc/self/ns/net")?.metadata()?.ino() {
        // The list would be for everybody, and nobody would need it.
        return Err(io::Error::other("the process is on the network of the host"));
    }
    let mut namespaces = Vec::new();
    let owner = owner_of(&network)?;
    if owner.metadata()?.ino() != File::open("/proc/self/ns/user")?.metadata()?.ino() {
        namespaces.push(owner.into());
    }
    namespaces.push(network.into());
    // Any file: its number is where the child puts the socket.
    let place = OwnedFd::from(File::open("/dev/null")?);
    let number = place.as_raw_fd();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "read -r word"])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut before = Before::dying_with_us();
    before.enter = Some(Enter { namespaces, port, place });
    let child = spawner::start(command, before)?;
    let handle = pidfd_open(child.pid()?, PidfdFlags::empty())?;
    let listener = pidfd_getfd(&handle, number, PidfdGetfdFlags::empty())?;
    Ok(TcpListener::from(listener))
}

/// The user namespace in which the powers over a network namespace are held.
#[expect(unsafe_code, reason = "rustix does not have this request")]
fn owner_of(namespace: &File) -> io::Result<File> {
    const NS_GET_USERNS: libc::Ioctl = 0xb701;
    // SAFETY: the request takes no memory and answers with a new descriptor, which is ours.
    unsafe {
        match libc::ioctl(namespace.as_raw_fd(), NS_GET_USERNS) {
            number @ 0.. => Ok(File::from_raw_fd(number)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
