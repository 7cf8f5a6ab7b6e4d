//! What stays from one review to the next: fetched packages, compiled dependencies and maps of tests, by
//! the hash of all that went into them.
//!
//! **Invariant:** nothing that runs code of a repository ever writes here. A store is filled once, by
//! processes that see lock files and manifests and no other file of a repository, and is never written
//! again. What runs may change gets a copy. Code of a dependency may run while a store is filled, and
//! what it leaves serves only those who lock the same dependencies. A map of tests is what a run told;
//! we write it down, under the hash of the whole tree that ran, and no run sees it.

use std::{
    fs::TryLockError,
    io, process,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};

use probity_scope::HeldKind;
use sha2::{Digest as _, Sha256};

use super::Trouble;
use crate::places::{Leaf, Vault};

/// Stores of one kind that stay. The ones that were not used for the longest time go.
const MOST_STORES: usize = 8;

/// After which time a store that nobody finished is removed.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

const FILLING: &str = "filling-";
const USED: &str = ".used";
const LOCK: &str = ".lock";

/// How often those who wait look whether the store is theirs to fill.
const LOOK: Duration = Duration::from_millis(50);

/// All that the content of a store depends on.
pub(crate) struct StoreKey(Sha256);

impl StoreKey {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Adds a part; where it begins and ends is part of the hash.
    pub(crate) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn name(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Gives the store of a key, and fills it before if nobody has. What could not be filled is not kept.
/// Others who want the same wait for the one who fills it, as long as they may.
pub(crate) fn stored(
    caches: &Vault,
    kind: &str,
    key: StoreKey,
    may_wait: impl Fn(Instant) -> bool,
    fill: impl FnOnce(&Leaf) -> Result<(), Trouble>,
) -> Result<Leaf, Trouble> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let failed = |error: io::Error| Trouble::at(caches.path(), &error);
    let stores = caches.vault(kind).map_err(failed)?;
    let name = key.name();
    if let Some(known) = known(&stores, &name) {
        return Ok(known);
    }
    let lock = stores.held().open_or_create_file(format!("{name}{LOCK}"), 0o600).map_err(failed)?;
    let began = Instant::now();
    // Locks end with their process. Without one the work is only done twice.
    while matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && may_wait(began) {
        thread::sleep(LOOK);
    }
    if let Some(known) = known(&stores, &name) {
        return Ok(known);
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = format!("{FILLING}{}-{number}", process::id());
    let filling = stores.fresh_leaf(&temporary).map_err(failed)?;
    if let Err(trouble) = fill(&filling) {
        stores.remove(&temporary).map_err(failed)?;
        return Err(trouble);
    }
    if stores.rename(&temporary, &name).is_err() {
        // Somebody else has filled it meanwhile, with the same.
        stores.remove(&temporary).map_err(failed)?;
    }
    mark_used(&stores, &name);
    remove_old(&stores, &name).map_err(failed)?;
    let missing = || Trouble::Machine(format!("{name} has gone from {}", stores.path().display()));
    stores.find_leaf(&name).ok_or_else(missing)
}

fn known(stores: &Vault, name: &str) -> Option<Leaf> {
    let known = stores.find_leaf(name)?;
    mark_used(stores, name);
    Some(known)
}

/// By the time of a file beside it: a store itself is never written.
fn mark_used(stores: &Vault, name: &str) {
    // Without the mark it goes earlier, and is made again.
    stores.held().write(format!("{name}{USED}"), b"").ok();
}

/// Removes the stores that were not used for the longest time, and never the one that is wanted now.
fn remove_old(stores: &Vault, wanted: &str) -> io::Result<()> {
    let now = SystemTime::now();
    let age = |name: &str| {
        let (seconds, nanoseconds) = stores.held().stat(name)?.modified;
        let modified =
            Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        Some(now.duration_since(SystemTime::UNIX_EPOCH + modified).unwrap_or_default())
    };
    let mut known = Vec::new();
    for entry in stores.held().entries("")? {
        let Ok(name) = entry.name.into_string() else { continue };
        if entry.kind != HeldKind::Directory || name == wanted {
            continue;
        }
        if !name.starts_with(FILLING) {
            known.push((age(&format!("{name}{USED}")).unwrap_or(Duration::MAX), name));
        } else if age(&name).is_some_and(|age| age > ABANDONED) {
            stores.remove(&name)?;
        }
    }
    known.sort();
    for (_, name) in known.into_iter().skip(MOST_STORES - 1) {
        stores.remove(&name)?;
        stores.remove(&format!("{name}{USED}"))?;
        stores.remove(&format!("{name}{LOCK}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{AtomicUsize, Duration, HeldKind, MOST_STORES, Ordering, StoreKey, stored, thread};
    use crate::{places::Vault, runner::Trouble};

    #[test]
    fn a_store_that_several_want_is_filled_by_one_of_them() {
        let place = tempfile::tempdir().unwrap();
        let filled = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let caches = Vault::open(place.path()).unwrap();
                    let store = stored(
                        &caches,
                        "go",
                        key("a"),
                        |_| true,
                        |leaf| {
                            filled.fetch_add(1, Ordering::SeqCst);
                            thread::sleep(Duration::from_millis(200));
                            leaf.held.write("file", b"text").unwrap();
                            Ok(())
                        },
                    );
                    assert_eq!(store.unwrap().held.read("file", 10).unwrap(), b"text");
                });
            }
        });
        assert_eq!(filled.into_inner(), 1);
    }

    fn key(part: &str) -> StoreKey {
        let mut key = StoreKey::new();
        key.add(part);
        key
    }

    #[test]
    fn a_store_is_filled_once_for_each_key_and_old_ones_go() {
        let place = tempfile::tempdir().unwrap();
        let caches = Vault::open(place.path()).unwrap();
        let fill = |text: &str| {
            let filled = stored(
                &caches,
                "rust",
                key(text),
                |_| true,
                |leaf| {
                    leaf.held.write("file", text.as_bytes()).unwrap();
                    Ok(())
                },
            );
            filled.unwrap().held.read_text("file", 100).unwrap()
        };
        assert_eq!(fill("a"), "a");
        let again = stored(&caches, "rust", key("a"), |_| true, |_| unreachable!("it is filled"));
        assert_eq!(again.unwrap().held.read_text("file", 100).unwrap(), "a");
        let failed = stored(
            &caches,
            "rust",
            key("b"),
            |_| true,
            |leaf| {
                leaf.held.write("half", b"").unwrap();
                Err(Trouble::Machine("no".to_owned()))
            },
        );
        assert_eq!(failed.unwrap_err(), Trouble::Machine("no".to_owned()));
        assert_eq!(fill("b"), "b");
        for number in 0..MOST_STORES + 3 {
            fill(&number.to_string());
        }
        let stores = caches.vault("rust").unwrap().held().entries("").unwrap();
        let directories = stores.iter().filter(|entry| entry.kind == HeldKind::Directory);
        assert_eq!(directories.count(), MOST_STORES);
    }

    #[test]
    fn parts_of_a_key_cannot_be_shifted() {
        let name = |parts: &[&str]| {
            let mut key = StoreKey::new();
            for part in parts {
                key.add(part);
            }
            key.name()
        };
        assert_ne!(name(&["ab", "c"]), name(&["a", "bc"]));
        assert_ne!(name(&["ab"]), name(&["ab", ""]));
    }
}
