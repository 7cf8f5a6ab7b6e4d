//! Files and names in directories of which parts are kept: the supervisor opens, makes, moves and removes
//! them for the process. What is elsewhere is left to Landlock.

use std::{
    ffi::CString,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    sync::Arc,
    time::Duration,
};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, chmodat, fchmod, fcntl_getfl,
        fcntl_setfl, ftruncate, linkat, mkdirat, mknodat, open, openat, renameat_with, statat,
        symlinkat, unlinkat,
    },
    io::Errno,
};

use super::{
    Action, Decision, Supervisor,
    entries::Entry,
    held,
    notice::{Done, Listener, Notice, Tracee},
    target::{Named, number, own_descriptor, real_path},
};
use crate::landlock::{
    calls::{self, Call},
    places::{Judge, Places},
};

/// A copy of what a call says.
pub(super) enum Asked {
    Open { place: Place, flags: OFlags, mode: u32 },
    Truncate { place: Place, length: u64 },
    MakeDirectory { place: Place, mode: u32 },
    MakeNode { place: Place, mode: u32 },
    MakeLink { place: Place, target: CString },
    Link { from: Named, place: Place },
    Rename { from: Place, place: Place, flags: RenameFlags },
    Remove { place: Place, is_directory: bool },
}

/// A directory, by the process's number for it, and a path.
pub(super) struct Place {
    directory: u64,
    path: Vec<u8>,
}

const PAUSE: Duration = Duration::from_millis(10);

/// How often a file may come and go while it is opened.
const MOST_TRIES: usize = 16;

impl Asked {
    /// None if the call is another one.
    pub(super) fn read(
        tracee: &Tracee,
        notice: &Notice,
        called: impl Fn(&Call) -> bool,
    ) -> Result<Option<Self>, Errno> {
        let [a, b, c, d, e, _] = notice.arguments;
        let here = i64::from(libc::AT_FDCWD).cast_unsigned();
        let at = |directory, path| Ok(Place { directory, path: tracee.path(path)? });
        let mode = |argument| number(argument).cast_unsigned();
        let opened = |flags| OFlags::from_bits_retain(number(flags).cast_unsigned());
        let renamed = |flags| RenameFlags::from_bits_retain(number(flags).cast_unsigned());
        let target = |argument| CString::new(tracee.path(argument)?).map_err(|_| Errno::INVAL);
        let linked = |directory, path, flags: i32| {
            let path = tracee.path(path)?;
            if flags & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) != 0 {
                return Err(Errno::INVAL);
            }
            let follows = flags & libc::AT_SYMLINK_FOLLOW != 0;
            Ok(if flags & libc::AT_EMPTY_PATH != 0 {
                Named::at_or_itself(directory, path, follows)
            } else {
                Named::at(directory, path, follows)
            })
        };
        Ok(Some(if called(&calls::OPENAT) {
            Self::Open { place: at(a, b)?, flags: opened(c), mode: mode(d) }
        } else if called(&calls::OPEN) {
            Self::Open { place: at(here, a)?, flags: opened(b), mode: mode(c) }
        } else if called(&calls::CREAT) {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC;
            Self::Open { place: at(here, a)?, flags, mode: mode(b) }
        } else if called(&calls::TRUNCATE) {
            Self::Truncate { place: at(here, a)?, length: b }
        } else if called(&calls::MKDIRAT) {
            Self::MakeDirectory { place: at(a, b)?, mode: mode(c) }
        } else if called(&calls::MKDIR) {
            Self::MakeDirectory { place: at(here, a)?, mode: mode(b) }
        } else if called(&calls::MKNODAT) {
            Self::MakeNode { place: at(a, b)?, mode: mode(c) }
        } else if called(&calls::MKNOD) {
            Self::MakeNode { place: at(here, a)?, mode: mode(b) }
        } else if called(&calls::SYMLINKAT) {
            Self::MakeLink { target: target(a)?, place: at(b, c)? }
        } else if called(&calls::SYMLINK) {
            Self::MakeLink { target: target(a)?, place: at(here, b)? }
        } else if called(&calls::LINKAT) {
            Self::Link { from: linked(a, b, number(e))?, place: at(c, d)? }
        } else if called(&calls::LINK) {
            Self::Link { from: linked(here, a, 0)?, place: at(here, b)? }
        } else if called(&calls::RENAMEAT2) {
            Self::Rename { from: at(a, b)?, place: at(c, d)?, flags: renamed(e) }
        } else if called(&calls::RENAMEAT) {
            Self::Rename { from: at(a, b)?, place: at(c, d)?, flags: RenameFlags::empty() }
        } else if called(&calls::RENAME) {
            Self::Rename { from: at(here, a)?, place: at(here, b)?, flags: RenameFlags::empty() }
        } else if called(&calls::UNLINKAT) {
            let is_directory = number(c) & libc::AT_REMOVEDIR != 0;
            Self::Remove { place: at(a, b)?, is_directory }
        } else if called(&calls::UNLINK) {
            Self::Remove { place: at(here, a)?, is_directory: false }
        } else if called(&calls::RMDIR) {
            Self::Remove { place: at(here, a)?, is_directory: true }
        } else {
            return Ok(None);
        }))
    }

    pub(super) fn decide(
        self,
        supervisor: &Supervisor,
        listener: &Arc<Listener>,
        tracee: &Tracee,
        id: u64,
    ) -> Result<Decision, Errno> {
        let places = &supervisor.places;
        let find = |place: &Place| Entry::find(tracee, place.directory, &place.path);
        // Only of calls that make something: to find it out takes its time.
        let bits = |is_asked: bool| Bits {
            own: supervisor.umask,
            of_process: if is_asked { tracee.umask().unwrap_or(0o077) } else { 0 },
        };
        match self {
            Self::Open { place, flags, mode } => {
                let waiting = Waiting { listener: Arc::clone(listener), id };
                let bits = bits(flags.contains(OFlags::CREATE));
                opening(
                    places,
                    tracee,
                    &place,
                    Opening { flags, mode, bits, length: None },
                    waiting,
                )
            }
            Self::Truncate { place, length } => {
                let waiting = Waiting { listener: Arc::clone(listener), id };
                let (flags, bits) = (OFlags::WRONLY, bits(false));
                let shortening = Opening { flags, mode: 0, bits, length: Some(length) };
                opening(places, tracee, &place, shortening, waiting)
            }
            Self::MakeDirectory { place, mode } => {
                let Some(entry) = find(&place)? else { return Ok(Decision::Leave) };
                let (way, bits) = (new_entry(places, &entry, true)?, bits(true));
                way.unwrap_or_act(move || make_directory(&entry, mode, bits))
            }
            Self::MakeNode { place, mode } => {
                let Some(entry) = find(&place)? else { return Ok(Decision::Leave) };
                let (way, bits) = (new_entry(places, &entry, false)?, bits(true));
                way.unwrap_or_act(move || make_node(&entry, mode, bits))
            }
            Self::MakeLink { place, target } => {
                let Some(entry) = find(&place)? else { return Ok(Decision::Leave) };
                new_entry(places, &entry, false)?.unwrap_or_act(move || {
                    symlinkat(target, &entry.directory, &entry.name).map(|()| DONE)
                })
            }
            Self::Link { from, place } => {
                let Some(entry) = find(&place)? else { return Ok(Decision::Leave) };
                let Ok(from) = from.find(tracee) else { return Ok(Decision::Leave) };
                // A second name for a file that is kept would be a way to write it.
                let may_be_written = places.is_writable(&real_path(&from)?);
                match new_entry(places, &entry, false)? {
                    Way::Leave => Ok(Decision::Leave),
                    Way::Act if !may_be_written => Err(Errno::XDEV),
                    Way::Act => act(move || {
                        let (to, name) = (&entry.directory, &entry.name);
                        linkat(CWD, held(&from), to, name, AtFlags::SYMLINK_FOLLOW).map(|()| DONE)
                    }),
                }
            }
            Self::Rename { from, place, flags } => {
                let (Some(from), Some(to)) = (find(&from)?, find(&place)?) else {
                    return Ok(Decision::Leave);
                };
                renaming(places, from, to, flags)
            }
            Self::Remove { place, is_directory } => {
                let Some(entry) = find(&place)? else { return Ok(Decision::Leave) };
                match old_entry(places, &entry, is_directory)? {
                    Way::Leave => Ok(Decision::Leave),
                    Way::Act => act(move || {
                        let flags =
                            if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                        unlinkat(&entry.directory, &entry.name, flags).map(|()| DONE)
                    }),
                }
            }
        }
    }
}

const DONE: Done = Done::Number(0);

/// Who makes a call that may be made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Leave,
    Act,
}

impl Way {
    fn unwrap_or_act(
        self,
        action: impl FnOnce() -> Result<Done, Errno> + Send + 'static,
    ) -> Result<Decision, Errno> {
        match self {
            Self::Leave => Ok(Decision::Leave),
            Self::Act => act(action),
        }
    }
}

fn act(action: impl FnOnce() -> Result<Done, Errno> + Send + 'static) -> Result<Decision, Errno> {
    let action: Action = Box::new(action);
    Ok(Decision::Act(action))
}

/// Something that is to be made. A slash behind a name is for directories; about others, which the
/// kernel refuses, it may speak itself.
fn new_entry(places: &Places, entry: &Entry, may_have_slash: bool) -> Result<Way, Errno> {
    match places.judge(&entry.path) {
        Judge::Landlock => Ok(Way::Leave),
        _ if entry.has_slash && !may_have_slash => Ok(Way::Leave),
        _ if entry.kind().is_some() => Err(Errno::EXIST),
        Judge::Kept => Err(Errno::ROFS),
        Judge::Allowed => Ok(Way::Act),
    }
}

/// Something that is to be removed or moved.
fn old_entry(places: &Places, entry: &Entry, may_have_slash: bool) -> Result<Way, Errno> {
    match places.judge(&entry.path) {
        Judge::Landlock => Ok(Way::Leave),
        _ if entry.has_slash && !may_have_slash => Ok(Way::Leave),
        _ if entry.kind().is_none() => Err(Errno::NOENT),
        _ if places.is_fixed(&entry.path) => Err(Errno::BUSY),
        Judge::Kept => Err(Errno::ROFS),
        Judge::Allowed => Ok(Way::Act),
    }
}

fn renaming(
    places: &Places,
    from: Entry,
    to: Entry,
    flags: RenameFlags,
) -> Result<Decision, Errno> {
    if [&from, &to].iter().all(|entry| places.judge(&entry.path) == Judge::Landlock) {
        return Ok(Decision::Leave);
    }
    if from.kind().is_none() {
        return Err(Errno::NOENT);
    }
    for entry in [&from, &to] {
        if places.is_fixed(&entry.path) {
            return Err(Errno::BUSY);
        }
        match places.judge(&entry.path) {
            Judge::Kept => return Err(Errno::ROFS),
            // As between two file systems: the process copies, and is told why that fails.
            Judge::Landlock if !places.is_writable(&entry.path) => return Err(Errno::XDEV),
            Judge::Landlock | Judge::Allowed => {}
        }
    }
    act(move || {
        let (old, new) = (with_slash(&from), with_slash(&to));
        renameat_with(&from.directory, old, &to.directory, new, flags).map(|()| DONE)
    })
}

fn with_slash(entry: &Entry) -> Vec<u8> {
    let mut name = entry.name.as_bytes().to_vec();
    if entry.has_slash {
        name.push(b'/');
    }
    name
}

/// What becomes of the bits of a mode: our own mask cannot be another one for a moment.
#[derive(Clone, Copy)]
struct Bits {
    own: u32,
    of_process: u32,
}

impl Bits {
    fn wanted(self, mode: u32) -> u32 {
        mode & 0o7777 & !self.of_process
    }

    /// Whether our mask has taken bits that the process's leaves.
    fn lacks(self, mode: u32) -> bool {
        self.wanted(mode) & self.own != 0
    }
}

fn make_directory(entry: &Entry, mode: u32, bits: Bits) -> Result<Done, Errno> {
    // Who may read a directory is all that a mode says here; the rest is inherited.
    let wanted = bits.wanted(mode) & 0o1777;
    mkdirat(&entry.directory, &entry.name, Mode::from_raw_mode(wanted))?;
    if bits.lacks(mode & 0o1777) {
        add_bits(entry, wanted);
    }
    Ok(DONE)
}

fn make_node(entry: &Entry, mode: u32, bits: Bits) -> Result<Done, Errno> {
    let kind = match FileType::from_raw_mode(mode) {
        // As the kernel reads a mode without a kind.
        FileType::Unknown if mode & libc::S_IFMT == 0 => FileType::RegularFile,
        kind @ (FileType::RegularFile | FileType::Fifo | FileType::Socket) => kind,
        _ => return Err(Errno::PERM),
    };
    let wanted = bits.wanted(mode) & 0o777;
    mknodat(&entry.directory, &entry.name, kind, Mode::from_raw_mode(wanted), 0)?;
    if bits.lacks(mode & 0o777) {
        add_bits(entry, wanted);
    }
    Ok(DONE)
}

/// To something that was made a moment ago. If it is something else by now, that is the process's own.
fn add_bits(entry: &Entry, wanted: u32) {
    let inherited = statat(&entry.directory, &entry.name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(0, |found| found.st_mode & libc::S_ISGID);
    let mode = Mode::from_raw_mode(wanted | inherited);
    chmodat(&entry.directory, &entry.name, mode, AtFlags::empty()).ok();
}

/// How a file is opened.
struct Opening {
    flags: OFlags,
    mode: u32,
    bits: Bits,
    /// What its length becomes, if it is opened for that alone.
    length: Option<u64>,
}

/// Whether the call still waits for us.
struct Waiting {
    listener: Arc<Listener>,
    id: u64,
}

fn opening(
    places: &Places,
    tracee: &Tracee,
    place: &Place,
    opening: Opening,
    waiting: Waiting,
) -> Result<Decision, Errno> {
    if opening.flags.contains(OFlags::PATH) {
        return Ok(Decision::Leave);
    }
    if let Some(number) = own_descriptor(&place.path) {
        let file = tracee.file(number)?;
        let path = real_path(&file)?;
        return match if path.is_absolute() { places.judge(&path) } else { Judge::Landlock } {
            Judge::Landlock => Ok(Decision::Leave),
            Judge::Kept => Err(Errno::ROFS),
            Judge::Allowed => act(move || opening.again(&file)),
        };
    }
    let follows = !opening.flags.contains(OFlags::NOFOLLOW)
        && !opening.flags.contains(OFlags::CREATE | OFlags::EXCL);
    let Some(named) = Entry::find(tracee, place.directory, &place.path)? else {
        return Ok(Decision::Leave);
    };
    let Some(entry) = (if follows { named.followed() } else { Some(named) }) else {
        return Ok(Decision::Leave);
    };
    let kind = entry.kind();
    match places.judge(&entry.path) {
        Judge::Landlock => Ok(Decision::Leave),
        _ if entry.has_slash => Ok(Decision::Leave),
        // Programs take a name instead, which others do not have.
        _ if opening.flags.contains(OFlags::TMPFILE) => Err(Errno::OPNOTSUPP),
        _ if kind.is_some() && opening.flags.contains(OFlags::CREATE | OFlags::EXCL) => {
            Err(Errno::EXIST)
        }
        _ if kind == Some(FileType::Directory) => Err(Errno::ISDIR),
        _ if kind.is_none() && !opening.flags.contains(OFlags::CREATE) => Err(Errno::NOENT),
        Judge::Kept => Err(Errno::ROFS),
        Judge::Allowed if kind == Some(FileType::Fifo) => {
            let action: Action = Box::new(move || opening.of_pipe(&entry, &waiting));
            Ok(Decision::ActApart(action))
        }
        Judge::Allowed => act(move || opening.of_file(&entry)),
    }
}

impl Opening {
    /// Nothing is followed, and nothing is waited for.
    fn of_file(self, entry: &Entry) -> Result<Done, Errno> {
        let own = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(self.bits.wanted(self.mode) & 0o777);
        let open = |flags| openat(&entry.directory, &entry.name, flags | own, mode);
        if !self.flags.contains(OFlags::CREATE) || self.flags.contains(OFlags::EXCL) {
            let file = open(self.flags)?;
            return self.done(file, self.flags.contains(OFlags::EXCL));
        }
        // Whether it is made or found has to be known, for its mode.
        for _ in 0..MOST_TRIES {
            match open(self.flags | OFlags::EXCL) {
                Err(Errno::EXIST) => {}
                made => return self.done(made?, true),
            }
            match open(self.flags - OFlags::CREATE) {
                Err(Errno::NOENT) => {}
                found => return self.done(found?, false),
            }
        }
        Err(Errno::AGAIN)
    }

    /// A file that the process has open already, by that file.
    fn again(self, file: &OwnedFd) -> Result<Done, Errno> {
        let flags = self.flags - OFlags::CREATE - OFlags::EXCL - OFlags::NOFOLLOW;
        let file = open(held(file), flags | OFlags::CLOEXEC, Mode::empty())?;
        self.done(file, false)
    }

    /// A pipe is opened when somebody reads it, which may never be.
    fn of_pipe(self, entry: &Entry, waiting: &Waiting) -> Result<Done, Errno> {
        let own = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let flags = self.flags - OFlags::CREATE - OFlags::TRUNC;
        loop {
            match openat(&entry.directory, &entry.name, flags | own, Mode::empty()) {
                Err(Errno::NXIO) if !self.flags.contains(OFlags::NONBLOCK) => {
                    if !waiting.listener.is_waiting(waiting.id) {
                        return Err(Errno::INTR);
                    }
                    std::thread::sleep(PAUSE);
                }
                opened => {
                    let file = opened?;
                    if !self.flags.contains(OFlags::NONBLOCK) {
                        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
                    }
                    return self.done(file, false);
                }
            }
        }
    }

    fn done(&self, file: OwnedFd, is_new: bool) -> Result<Done, Errno> {
        if let Some(length) = self.length {
            ftruncate(&file, length)?;
            return Ok(DONE);
        }
        if is_new && self.flags.contains(OFlags::CREATE) && self.bits.lacks(self.mode & 0o777) {
            fchmod(&file, Mode::from_raw_mode(self.bits.wanted(self.mode) & 0o777))?;
        }
        Ok(Done::File { file, is_inherited: !self.flags.contains(OFlags::CLOEXEC) })
    }
}
