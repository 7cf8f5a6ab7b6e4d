//! Makes calls for a confined process that neither Landlock nor a filter can judge: where to connect, and
//! whose file to change.
//!
//! A call is looked at in a copy, once, and what was looked at is what is done: a socket or file is held by
//! a descriptor of ours, so that the process cannot exchange anything in between. The call itself is
//! let through to the process only if Landlock judges it in full, whatever its arguments have become.
//!
//! Two threads do this. The first reads what is asked, which takes the right to look into the process, and
//! has no powers but that user's. The second does what was decided, and is confined to the files of the
//! process by Landlock as well.

mod attributes;
mod entries;
mod files;
mod notice;
mod sockets;
mod target;

use std::{
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use rustix::io::Errno;

use super::{
    calls::{self, Call, Processor},
    filter,
    places::{Places, Whose},
};
use crate::{Network, spawner::submit_to, user::Ids};
use notice::{Done, Listener, Notice, Tracee};

#[derive(Debug, Clone)]
pub(super) struct Supervisor {
    pub(super) places: Arc<Places>,
    pub(super) ids: Ids,
    pub(super) network: Network,
    /// The bits that this process, and all its threads, give to nothing they make.
    pub(super) umask: u32,
}

/// What is done about a call. It owns all that it needs.
type Action = Box<dyn FnOnce() -> Result<Done, Errno> + Send>;

enum Decision {
    Act(Action),
    /// Something that may take as long as somebody else likes.
    ActApart(Action),
    /// The process makes the call itself, and Landlock judges it.
    Leave,
}

/// Connections at a time that are waited for.
const MOST_WAITING: usize = 128;

impl Supervisor {
    /// Takes the listener that the process has sent, and serves it until the last process is gone.
    pub(super) fn serve(self, socket: &OwnedFd) -> io::Result<()> {
        let listener = Arc::new(Listener::receive(socket)?);
        let files = self.places.ruleset(self.network, Whose::Supervisor)?;
        let (sender, actions) = mpsc::channel::<(u64, Action)>();
        let (ids, answering) = (self.ids, Arc::clone(&listener));
        let start =
            |name: &str| thread::Builder::new().name(name.to_owned()).stack_size(256 * 1024);
        start("supervisor").spawn(move || {
            if become_user(ids).and_then(|()| confine_thread(&files)).is_ok() {
                for (id, action) in actions {
                    answering.answer(id, action());
                }
            }
        })?;
        start("supervisor").spawn(move || {
            // Without the right user nothing is answered: the listener closes, and all is refused.
            if become_user(self.ids).is_ok() {
                self.listen(&listener, &sender);
            }
        })?;
        Ok(())
    }

    fn listen(&self, listener: &Arc<Listener>, acting: &mpsc::Sender<(u64, Action)>) {
        let waiting = Arc::new(AtomicUsize::new(0));
        while let Some(notice) = listener.next() {
            let id = notice.id;
            match self.decide(listener, &notice) {
                Err(errno) => listener.answer(id, Err(errno)),
                Ok(Decision::Act(action)) => {
                    if acting.send((id, action)).is_err() {
                        listener.answer(id, Err(Errno::PERM));
                    }
                }
                Ok(Decision::ActApart(action)) => apart(listener, id, action, &waiting),
                Ok(Decision::Leave) => listener.leave_to_landlock(id),
            }
        }
    }

    fn decide(&self, listener: &Arc<Listener>, notice: &Notice) -> Result<Decision, Errno> {
        let called = |call: &Call| {
            Processor::here().and_then(|processor| call.on(processor)) == Some(notice.number)
        };
        let tracee = match Tracee::open(listener, notice) {
            // Some programs forbid that anybody looks into them.
            Err(_) if filter::is_judged_by_landlock(called) => return Ok(Decision::Leave),
            found => found?,
        };
        if called(&calls::CONNECT) {
            return sockets::connect(self, &tracee, notice);
        }
        if called(&calls::BIND) {
            return sockets::bind(self, &tracee, notice);
        }
        if let Some(asked) = files::Asked::read(&tracee, notice, called)? {
            return asked.decide(self, listener, &tracee, notice.id);
        }
        attributes::decide(self, &tracee, notice, called).map(Decision::Act)
    }
}

/// In a thread of its own, of which there are not too many.
fn apart(listener: &Arc<Listener>, id: u64, action: Action, waiting: &Arc<AtomicUsize>) {
    if waiting.fetch_add(1, Ordering::AcqRel) >= MOST_WAITING {
        waiting.fetch_sub(1, Ordering::AcqRel);
        listener.answer(id, Err(Errno::AGAIN));
        return;
    }
    let (answering, counted) = (Arc::clone(listener), Arc::clone(waiting));
    let started = thread::Builder::new().stack_size(128 * 1024).spawn(move || {
        answering.answer(id, action());
        counted.fetch_sub(1, Ordering::AcqRel);
    });
    if started.is_err() {
        waiting.fetch_sub(1, Ordering::AcqRel);
        listener.answer(id, Err(Errno::AGAIN));
    }
}

/// This thread alone becomes the user of the process, without any power, so that the kernel judges what it
/// does as it would judge the process.
#[expect(unsafe_code, reason = "the C library's own calls change all threads")]
fn become_user(ids: Ids) -> io::Result<()> {
    let done = |answer: libc::c_long| {
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: plain system calls on numbers, and on structures on our stack; they concern this thread.
    unsafe {
        if ids.user != libc::geteuid() {
            done(libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<u32>()))?;
            done(libc::syscall(libc::SYS_setresgid, ids.group, ids.group, ids.group))?;
            done(libc::syscall(libc::SYS_setresuid, ids.user, ids.user, ids.user))?;
        }
        // The version with 64 capabilities, for this thread; none of them.
        let (header, none) = ([0x2008_0522_u32, 0], [0_u32; 6]);
        done(libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()))
    }
}

fn confine_thread(files: &OwnedFd) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    submit_to(files)
}

/// Whether a socket of the process can be connected by us.
pub(super) fn takes_sockets() -> bool {
    notice::can_take()
}

/// The bits that we do not give to what we make, without changing them for a moment.
pub(super) fn own_umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // What is asked to have more than this is given it afterwards; with all bits, always.
    notice::umask_of(&status).unwrap_or(0o777)
}

/// The path by which this process finds what it holds.
fn held(file: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}
