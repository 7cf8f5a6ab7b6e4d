//! Where a socket of the process is connected to, and where it waits for others.

use std::{
    ffi::OsStr,
    fs,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{ffi::OsStrExt, fs::PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};

use super::{
    Action, Decision, Supervisor,
    entries::Entry,
    held,
    notice::{Done, Notice, Tracee, last_error},
    target::{Named, number, real_path},
};
use crate::{Network, landlock::places::Judge};

/// The largest address there is.
const LARGEST: u64 = 128;

/// The name of a socket in the file system, with its NUL, in an address.
const LONGEST_NAME: usize = 108;

const FAMILY: usize = size_of::<libc::sa_family_t>();

/// A socket of the process, and a copy of the address that it gave.
struct Asked {
    socket: OwnedFd,
    address: Vec<u8>,
}

enum Address {
    /// A name in the file system.
    File(Vec<u8>),
    /// A name of the machine's own, or one that the kernel shall choose.
    Nameless,
    Internet,
    /// No address: the end of a connection.
    Unspecified,
    Other,
}

impl Asked {
    fn read(tracee: &Tracee, notice: &Notice) -> Result<Self, Errno> {
        let [descriptor, address, length, ..] = notice.arguments;
        let length = u64::from(number(length).cast_unsigned());
        if length > LARGEST {
            return Err(Errno::INVAL);
        }
        let length = usize::try_from(length).map_err(|_| Errno::INVAL)?;
        let address = tracee.read(address, length)?;
        Ok(Self { socket: tracee.descriptor(number(descriptor))?, address })
    }

    fn kind(&self) -> Address {
        let Some(family) = self.address.first_chunk::<FAMILY>() else { return Address::Other };
        match i32::from(libc::sa_family_t::from_ne_bytes(*family)) {
            libc::AF_UNIX => match self.address.get(FAMILY..).unwrap_or_default() {
                [] | [0, ..] => Address::Nameless,
                name => {
                    Address::File(name.split(|byte| *byte == 0).next().unwrap_or(name).to_vec())
                }
            },
            libc::AF_INET | libc::AF_INET6 => Address::Internet,
            libc::AF_UNSPEC => Address::Unspecified,
            _ => Address::Other,
        }
    }

    /// Calls with our copy of the address.
    #[expect(unsafe_code, reason = "the address is in the form of the kernel already")]
    fn make(&self, call: Made) -> Result<Done, Errno> {
        let length = libc::socklen_t::try_from(self.address.len()).map_err(|_| Errno::INVAL)?;
        let (socket, address) = (self.socket.as_raw_fd(), self.address.as_ptr().cast());
        // SAFETY: the address is as long as it is said to be.
        let answer = unsafe {
            match call {
                Made::Connect => libc::connect(socket, address, length),
                Made::Bind => libc::bind(socket, address, length),
            }
        };
        if answer == 0 { Ok(Done::Number(0)) } else { Err(last_error()) }
    }

    fn may_wait(&self) -> bool {
        rustix::fs::fcntl_getfl(&self.socket).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
    }
}

#[derive(Clone, Copy)]
enum Made {
    Connect,
    Bind,
}

pub(super) fn connect(
    supervisor: &Supervisor,
    tracee: &Tracee,
    notice: &Notice,
) -> Result<Decision, Errno> {
    let mut asked = Asked::read(tracee, notice)?;
    let is_open = supervisor.network == Network::Open;
    let waits = asked.may_wait();
    let action: Action = match asked.kind() {
        Address::File(name) => {
            let here = i64::from(libc::AT_FDCWD).cast_unsigned();
            let file = Named::at(here, name, true).find(tracee)?;
            // A service of the machine's that waits elsewhere is none of this process's.
            if !supervisor.places.is_writable(&real_path(&file)?) {
                return Err(Errno::ACCESS);
            }
            asked.address = address_of(Path::new(&held(&file)))?;
            Box::new(move || {
                let made = asked.make(Made::Connect);
                drop(file);
                made
            })
        }
        Address::Internet | Address::Unspecified if is_open => {
            Box::new(move || asked.make(Made::Connect))
        }
        Address::Nameless => return Err(Errno::CONNREFUSED),
        Address::Internet => return Err(Errno::ACCESS),
        Address::Unspecified | Address::Other => return Err(Errno::PERM),
    };
    Ok(if waits { Decision::ActApart(action) } else { Decision::Act(action) })
}

pub(super) fn bind(
    supervisor: &Supervisor,
    tracee: &Tracee,
    notice: &Notice,
) -> Result<Decision, Errno> {
    let mut asked = Asked::read(tracee, notice)?;
    let action: Action = match asked.kind() {
        Address::File(name) => {
            let mut path = PathBuf::from(OsStr::from_bytes(&name));
            let here = i64::from(libc::AT_FDCWD).cast_unsigned();
            // Where parts are kept, the path begins at a directory that stays the same: Landlock does not
            // keep us out of those parts.
            let mut held_entry = None;
            if supervisor.places.keeps_parts() {
                let entry = Entry::find(tracee, here, &name)?.ok_or(Errno::NOENT)?;
                if supervisor.places.judge(&entry.path) == Judge::Kept {
                    return Err(Errno::ROFS);
                }
                path.clone_from(&entry.path);
                asked.address = address_of(&Path::new(&held(&entry.directory)).join(&entry.name))?;
                held_entry = Some(entry);
            } else if path.is_relative() {
                // Our own working directory is another one.
                path = real_path(&tracee.working_directory()?)?.join(path);
                asked.address = address_of(&path)?;
            }
            let umask = tracee.umask().unwrap_or(0o077);
            let places = supervisor.places.clone();
            // The thread that does it is kept out of other directories by Landlock, links or not.
            Box::new(move || {
                let made = asked.make(Made::Bind)?;
                drop(held_entry);
                lessen(&path, umask, &places);
                Ok(made)
            })
        }
        Address::Internet | Address::Other if supervisor.network == Network::Open => {
            Box::new(move || asked.make(Made::Bind))
        }
        // A name of the machine's own could be one that others look for.
        Address::Nameless | Address::Internet | Address::Unspecified | Address::Other => {
            return Err(Errno::PERM);
        }
    };
    Ok(Decision::Act(action))
}

/// The socket was made with our own mask; the process may want less.
fn lessen(path: &Path, umask: u32, places: &super::Places) {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(file) = open(path, flags, Mode::empty()) else { return };
    if real_path(&file).is_ok_and(|real| places.is_writable(&real)) {
        let path = held(&file);
        if let Ok(found) = fs::metadata(&path) {
            let mode = found.permissions().mode() & 0o777 & !umask;
            // It is the process's own, which can do the same.
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).ok();
        }
    }
}

/// An address in the form of the kernel.
fn address_of(path: &Path) -> Result<Vec<u8>, Errno> {
    let name = path.as_os_str().as_bytes();
    if name.len() >= LONGEST_NAME {
        return Err(Errno::NAMETOOLONG);
    }
    let family = libc::sa_family_t::try_from(libc::AF_UNIX).map_err(|_| Errno::AFNOSUPPORT)?;
    let mut address = family.to_ne_bytes().to_vec();
    address.extend_from_slice(name);
    address.push(0);
    Ok(address)
}
