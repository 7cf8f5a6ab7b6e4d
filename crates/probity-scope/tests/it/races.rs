//! Somebody changes the tree while we read: the answer is a file of the root, or an error.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::{OUTSIDE, Place, read};

const READS: usize = 10_000;

#[test]
fn a_file_swapped_for_a_link_never_gives_a_byte_from_outside() {
    let place = Place::new();
    place.write("target", b"inside");
    let (target, spare) = (place.root().join("target"), place.root().join("spare"));
    let secret = place.outside().join("private");
    race(&place, "target", || {
        symlink(&secret, &spare).unwrap();
        fs::rename(&spare, &target).unwrap();
        fs::write(&spare, "inside").unwrap();
        fs::rename(&spare, &target).unwrap();
    });
}

#[test]
fn a_directory_swapped_for_a_link_never_gives_a_byte_from_outside() {
    let place = Place::new();
    place.write("door/private", b"inside");
    let root = place.root();
    symlink(place.outside(), root.join("window")).unwrap();
    race(&place, "door/private", || {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        let (door, window) = (root.join("door"), root.join("window"));
        for _ in 0..2 {
            renameat_with(CWD, &door, CWD, &window, RenameFlags::EXCHANGE).unwrap();
        }
    });
}

/// `..` is the classic: the directory moves out while the kernel stands in it.
#[test]
fn a_directory_moved_out_while_dots_are_resolved_leads_nowhere() {
    let place = Place::new();
    place.write("a/b/c", b"inside");
    place.write("private", b"inside");
    let (inner, moved) = (place.root().join("a/b"), place.outside().join("b"));
    race(&place, "a/b/../../private", || {
        fs::rename(&inner, &moved).unwrap();
        fs::rename(&moved, &inner).unwrap();
    });
}

/// Reads while another thread disturbs the tree and puts it back; then the file is read as it is.
///
/// How often a read meets the disturbance is up to the machine, so nothing is asserted about that.
fn race(place: &Place, path: &str, disturb: impl Fn() + Sync) {
    let scope = place.scope();
    let done = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                disturb();
            }
        });
        for _ in 0..READS {
            match read(&scope, path) {
                Ok(text) => assert!(!OUTSIDE.starts_with(&text) || text.is_empty(), "read: {text}"),
                Err(error) => assert!(error.starts_with(path), "{error}"),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(read(&scope, path).as_deref(), Ok("inside"));
}
