//! Which files the processes of a container open, seen by fanotify.
//!
//! A file that is read and closed again leaves no trace in `/proc`: scripts, templates and
//! configuration are such files. The mark stands on the container's own file system and must be
//! there before the first process is, so the engine is made to mount that file system early.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags},
};
use probity_sandbox::{Child, Exit};

use crate::{
    EngineKind, ImageError, Workbench,
    engine::{Interrupt, SOON},
};

/// A container whose files are watched.
pub(super) struct FileWatch<'w> {
    bench: &'w Workbench,
    container: &'w str,
    /// A client that makes docker keep the file system mounted.
    holder: Option<Child>,
    reader: JoinHandle<Option<BTreeSet<String>>>,
    is_over: Arc<AtomicBool>,
}

/// How long an engine may take to mount a file system.
const MOUNT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);
/// Nobody names more files in a report; what opens more is not watched to its end.
const MOST_FILES: usize = 100_000;

impl<'w> FileWatch<'w> {
    /// Begins to watch a container that was created and not started.
    ///
    /// None where that cannot be done: without root, with an engine on another machine, or with
    /// another storage driver than overlay.
    pub(super) fn begin(
        bench: &'w Workbench,
        container: &'w str,
        interrupt: Interrupt<'_>,
    ) -> Result<Option<Self>, ImageError> {
        let flags = InitFlags::FAN_CLASS_NOTIF
            | InitFlags::FAN_CLOEXEC
            | InitFlags::FAN_NONBLOCK
            | InitFlags::FAN_UNLIMITED_QUEUE;
        let event_flags = EventFFlags::O_RDONLY | EventFFlags::O_CLOEXEC;
        // Without root there is nothing to mount either.
        let Ok(events) = Fanotify::init(flags, event_flags) else { return Ok(None) };
        let (root, holder) = match bench.engine.kind {
            EngineKind::Docker => {
                let words = ["inspect", "-f", "{{.GraphDriver.Data.MergedDir}}", container];
                let root = said(bench, &words, interrupt)?;
                // An export that nobody reads waits with the file system mounted.
                let holder = bench.engine.start_unread(&["export", container])?;
                (root, Some(holder))
            }
            EngineKind::Podman | EngineKind::Buildah => {
                (said(bench, &["mount", container], interrupt)?, None)
            }
        };
        let Some(root) = root.filter(|root| is_mounted_soon(root)) else { return Ok(None) };
        let marked = events.mark(
            MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_FILESYSTEM,
            MaskFlags::FAN_OPEN,
            rustix::fs::CWD,
            Some(&root),
        );
        if marked.is_err() {
            return Ok(None);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&is_over);
        let reader = thread::spawn(move || read(&events, &root, &theirs));
        Ok(Some(Self { bench, container, holder, reader, is_over }))
    }

    /// The container holds its file system by itself now.
    pub(super) fn release(&mut self) -> Result<(), ImageError> {
        self.holder = None;
        if self.bench.engine.kind == EngineKind::Podman {
            self.bench.engine.ask(&["umount", self.container], SOON, &|| false)?;
        }
        Ok(())
    }

    /// What was opened so far, as paths in the container; none if the list may have gaps.
    pub(super) fn opened(self) -> Option<BTreeSet<String>> {
        self.is_over.store(true, Ordering::Relaxed);
        self.reader.join().ok().flatten()
    }
}

/// A path that the engine names; none if it refuses.
fn said(
    bench: &Workbench,
    words: &[&str],
    interrupt: Interrupt<'_>,
) -> Result<Option<PathBuf>, ImageError> {
    let answer = bench.engine.ask(words, SOON, interrupt)?;
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    Ok((answer.exit == Exit::Code(0) && path.is_absolute()).then_some(path))
}

/// Whether another file system than that of the directory above begins here.
fn is_mounted_soon(root: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).ok().map(|data| data.dev());
    let deadline = Instant::now() + MOUNT;
    loop {
        let (here, above) = (device(root), root.parent().and_then(device));
        if here.is_some() && above.is_some() && here != above {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(POLL);
    }
}

fn read(events: &Fanotify, root: &Path, is_over: &AtomicBool) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    loop {
        // Read once more after the end: what happened before it may still wait.
        let was_over = is_over.load(Ordering::Relaxed);
        match events.read_events() {
            Ok(batch) => {
                for event in &batch {
                    if event.mask().contains(MaskFlags::FAN_Q_OVERFLOW) {
                        return None;
                    }
                    found.extend(event.fd().and_then(|file| path_of(file, root)));
                }
                if found.len() > MOST_FILES {
                    return None;
                }
            }
            Err(Errno::EAGAIN) if was_over => return Some(found),
            Err(Errno::EAGAIN | Errno::EINTR) => thread::sleep(POLL),
            Err(_) => return None,
        }
    }
}

/// Where a file is in the container. What the engine itself opens lies below its own mount.
fn path_of(file: impl std::os::fd::AsRawFd, root: &Path) -> Option<String> {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let is_from_outside = path.starts_with(root);
    let path = path.into_os_string().into_string().ok()?;
    (!is_from_outside && path.starts_with('/') && !path.ends_with(" (deleted)")).then_some(path)
}
