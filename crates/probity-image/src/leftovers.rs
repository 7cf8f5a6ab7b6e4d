//! The label on everything that a proof makes, and the removal of what bears it.

pub(crate) mod cache;
pub(crate) mod unfinished;

use std::{
    collections::BTreeSet,
    fs, process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use tempfile::TempDir;

use crate::{Engine, EngineKind, ImageError, engine::SOON};

/// On every image and container of a proof; its value names the process that made it.
pub const LABEL: &str = "probity.proof";

/// Where one comparison works: a name for its images and a directory for its files.
#[derive(Debug)]
pub struct Workbench {
    pub(crate) engine: Engine,
    pub(crate) owner: String,
    pub(crate) directory: TempDir,
    /// Layers that builders without BuildKit made, oldest first; they bear no label.
    layers: Mutex<Vec<String>>,
    /// Entries of BuildKit's cache that the builds added.
    cache: Mutex<BTreeSet<String>>,
    /// How many bytes of images may be kept at a time, and how many are.
    disk_limit: u64,
    kept: AtomicU64,
}

/// Something that a proof has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub kind: LeftoverKind,
    pub id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverKind {
    Container,
    Image,
    /// In which a stage was being built; it bears no label.
    UnfinishedBuild,
}

impl LeftoverKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Image => "image",
            Self::UnfinishedBuild => "build container",
        }
    }
}

impl Workbench {
    /// # Errors
    ///
    /// If no directory can be made for temporary files.
    pub fn new(engine: Engine) -> Result<Self, ImageError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let prefix = "probity-proof-";
        let directory = tempfile::Builder::new().prefix(prefix).tempdir();
        let directory = directory.map_err(ImageError::io("a directory for a proof"))?;
        let (pid, number) = (process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let started = started(pid).unwrap_or_default();
        let owner = format!("{pid}.{started}.{number}");
        let (layers, cache, kept) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        Ok(Self { engine, owner, directory, layers, cache, disk_limit: u64::MAX, kept })
    }

    pub(crate) fn limit_disk(&mut self, bytes: u64) {
        self.disk_limit = bytes;
    }

    /// Before the files of an image of this size are kept.
    pub(crate) fn reserve(&self, size: u64) -> Result<(), ImageError> {
        let needed = self.kept.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        if needed <= self.disk_limit {
            return Ok(());
        }
        self.release(size);
        Err(ImageError::DiskLimit { needed, limit: self.disk_limit })
    }

    /// After those files are gone.
    pub(crate) fn release(&self, size: u64) {
        self.kept.fetch_sub(size, Ordering::Relaxed);
    }

    pub(crate) fn label(&self) -> String {
        format!("{LABEL}={}", self.owner)
    }

    /// Removes whatever bears the label of this comparison.
    ///
    /// # Errors
    ///
    /// If the engine does not answer; what it refuses to remove stays for `cai gc`.
    pub fn clean(&self) -> Result<(), ImageError> {
        for unfinished in unfinished::unfinished(&self.engine)? {
            if unfinished.owner == self.owner {
                remove(&self.engine, &unfinished.leftover())?;
            }
        }
        for left in leftovers(&self.engine, &self.label())? {
            remove(&self.engine, &left)?;
        }
        let mut layers = self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        // Newest first: an older one may be below it. One that somebody else uses by now stays.
        while let Some(id) = layers.pop() {
            if self.engine.tags(&id)?.is_some_and(|tags| tags.is_empty()) {
                self.engine.ask(&self.remove_image(&id), SOON, &|| false)?;
            }
        }
        let added = std::mem::take(&mut *self.cache.lock().unwrap_or_else(PoisonError::into_inner));
        cache::remove(&self.engine, added)
    }

    fn remove_image<'i>(&self, id: &'i str) -> Vec<&'i str> {
        match self.engine.kind {
            // What is below it may be the user's own cache.
            EngineKind::Docker => vec!["rmi", "--no-prune", id],
            EngineKind::Podman | EngineKind::Buildah => vec!["rmi", id],
        }
    }

    /// Runs a build, and remembers what it adds to the cache.
    pub(crate) fn caching<T>(
        &self,
        build: impl FnOnce() -> Result<T, ImageError>,
    ) -> Result<T, ImageError> {
        // Without the entries of before, those of the user cannot be told from ours.
        let Some(before) = cache::entries(&self.engine)? else { return build() };
        let built = build();
        let mut added = cache::entries(&self.engine)?.unwrap_or_default();
        added.retain(|id| !before.contains(id));
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).append(&mut added);
        built
    }

    pub(crate) fn remember(&self, layers: Vec<String>) {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner).extend(layers);
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        // Whatever cannot be removed now is found by its label later.
        self.clean().ok();
    }
}

/// What proofs have left whose processes are gone.
///
/// # Errors
///
/// If the engine does not answer.
pub fn abandoned(engine: &Engine) -> Result<Vec<Leftover>, ImageError> {
    let mut all = leftovers(engine, LABEL)?;
    let mut failed = None;
    all.retain(|left| {
        match engine.label_of(left, LABEL) {
            Ok(owner) => !is_alive(&owner),
            // Somebody else has removed it meanwhile.
            Err(ImageError::Refused { .. }) => false,
            Err(error) => {
                failed = Some(error);
                false
            }
        }
    });
    let unfinished = unfinished::unfinished(engine)?;
    let of_the_dead = unfinished.iter().filter(|unfinished| !is_alive(&unfinished.owner));
    // They hold images.
    all.splice(0..0, of_the_dead.map(unfinished::Unfinished::leftover));
    failed.map_or(Ok(all), Err)
}

/// Containers first, since they hold their images.
fn leftovers(engine: &Engine, label: &str) -> Result<Vec<Leftover>, ImageError> {
    let filter = format!("label={label}");
    let list = |kind: LeftoverKind, words: &[&str]| -> Result<Vec<Leftover>, ImageError> {
        let ask = || engine.must(words, SOON, &|| false);
        // Podman fails if somebody else removes an image while it lists them.
        let listed = ask().or_else(|_| ask()).or_else(|_| ask())?;
        let mut ids: Vec<String> =
            String::from_utf8_lossy(&listed).lines().map(|id| id.trim().to_owned()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| !id.is_empty());
        Ok(ids.into_iter().map(|id| Leftover { kind, id }).collect())
    };
    let containers = ["ps", "-a", "-q", "--no-trunc", "--filter", &filter];
    let mut all = match engine.kind {
        EngineKind::Docker | EngineKind::Podman => list(LeftoverKind::Container, &containers)?,
        // It makes containers for its builds alone.
        EngineKind::Buildah => Vec::new(),
    };
    let images = ["images", "-a", "-q", "--no-trunc", "--filter", &filter];
    all.extend(list(LeftoverKind::Image, &images)?);
    Ok(all)
}

/// Removes a container with its volumes, or an image with its tags.
///
/// # Errors
///
/// If the engine does not answer in time.
pub fn remove(engine: &Engine, left: &Leftover) -> Result<(), ImageError> {
    let id = left.id.as_str();
    if left.kind == LeftoverKind::UnfinishedBuild {
        unfinished::end_commands(engine, id)?;
    }
    let words = match (left.kind, engine.kind) {
        // Podman would first ask it for ten seconds to end by itself.
        (LeftoverKind::Container, EngineKind::Podman) => vec!["rm", "-f", "-v", "-t", "0", id],
        (LeftoverKind::Container, EngineKind::Docker) => vec!["rm", "-f", "-v", id],
        (LeftoverKind::UnfinishedBuild, EngineKind::Docker | EngineKind::Podman) => {
            vec!["rm", "-f", id]
        }
        // Force means tags here, and what is below the image may be the user's own cache.
        (LeftoverKind::Image, EngineKind::Docker) => vec!["rmi", "-f", "--no-prune", id],
        (LeftoverKind::Image, EngineKind::Podman | EngineKind::Buildah) => {
            return remove_tags(engine, id);
        }
        (LeftoverKind::Container | LeftoverKind::UnfinishedBuild, EngineKind::Buildah) => {
            vec!["rm", id]
        }
    };
    tolerate(engine.must(&words, SOON, &|| false))
}

/// Force would end the builds of others that rest on the same layers, so each tag is removed instead.
fn remove_tags(engine: &Engine, id: &str) -> Result<(), ImageError> {
    let tags = engine.tags(id)?.unwrap_or_default();
    let mut words = vec!["rmi"];
    words.extend(tags.iter().map(String::as_str));
    if tags.is_empty() {
        words.push(id);
    }
    tolerate(engine.must(&words, SOON, &|| false))
}

/// It may be gone already, or another image rests on it and takes it along.
fn tolerate(removed: Result<Vec<u8>, ImageError>) -> Result<(), ImageError> {
    match removed {
        Ok(_) | Err(ImageError::Refused { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_alive(owner: &str) -> bool {
    let mut words = owner.split('.');
    let pid = words.next().and_then(|word| word.parse().ok());
    let Some(pid) = pid else { return false };
    if !cfg!(target_os = "linux") {
        return true;
    }
    let start = words.next().and_then(|word| word.parse::<u64>().ok());
    started(pid).is_some_and(|now| Some(now) == start)
}

/// When a process started, in ticks since the machine did: numbers of processes come again.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(19)?.parse().ok()
}
