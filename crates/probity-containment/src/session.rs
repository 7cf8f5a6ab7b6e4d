//! Sessions that have begun, noted until they end: the end of one that was killed is made up for later.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
};

use probity_sandbox::{ByteText, Identity, Snapshot};
use probity_scope::{HeldDirectory, MOST_BYTES, open_file, read_file};
use probity_seat::State;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::{
    implicit::{Content, Implicit},
    quarantine::Quarantine,
};

/// What the end of a session needs to know of its beginning.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    workspace: ByteText,
    pub(crate) quarantine: Quarantine,
    /// `None` if git directories were not watched.
    pub(crate) git: Option<Snapshot>,
    files: Vec<(ByteText, KeptContent)>,
    /// The directories of these files. Notes of older versions have none.
    #[serde(default)]
    directories: Vec<(ByteText, Identity)>,
}

/// [`Content`], as a file can hold it.
#[derive(Debug, Serialize, Deserialize)]
enum KeptContent {
    Bytes(ByteText),
    Digest(String),
    Link(ByteText, Option<String>),
    Large(u64),
}

impl Begun {
    pub(crate) fn new(git: Snapshot, implicit: &Implicit, quarantine: Quarantine) -> Self {
        let kept = |content: &Content| match content.clone() {
            Content::Bytes(bytes) => KeptContent::Bytes(ByteText(bytes)),
            Content::Digest(digest) => KeptContent::Digest(digest),
            Content::Link(target, digest) => KeptContent::Link((&*target).into(), digest),
            Content::Large(bytes) => KeptContent::Large(bytes),
        };
        let files = implicit.before.iter();
        let directories = implicit.directories.iter();
        Self {
            workspace: (&*implicit.root).into(),
            quarantine,
            git: Some(git),
            files: files.map(|(path, content)| ((&**path).into(), kept(content))).collect(),
            directories: directories.map(|(path, it)| ((&**path).into(), *it)).collect(),
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.workspace.clone().path()
    }

    pub(crate) fn implicit(self, top: HeldDirectory) -> Implicit {
        let content = |kept| match kept {
            KeptContent::Bytes(bytes) => Content::Bytes(bytes.0),
            KeptContent::Digest(digest) => Content::Digest(digest),
            KeptContent::Link(target, digest) => Content::Link(target.path(), digest),
            KeptContent::Large(bytes) => Content::Large(bytes),
        };
        let files = self.files.into_iter().map(|(path, kept)| (path.path(), content(kept)));
        let before = files.collect::<BTreeMap<_, _>>();
        let directories = self.directories.into_iter().map(|(path, it)| (path.path(), it));
        Implicit { root: self.workspace.path(), top, directories: directories.collect(), before }
    }
}

/// The note of a session. It is locked for as long as the session's program lives.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    _locked: File,
}

impl Note {
    pub(crate) fn write(state: &State, begun: &Begun) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let directory = directory(state);
        fs::create_dir_all(&directory)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{}-{number}.json", process::id()));
        // Under its own name only when it is locked and whole.
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        flock(&file, FlockOperation::LockExclusive)?;
        file.write_all(&serde_json::to_vec(begun)?)?;
        fs::rename(&new, &path)?;
        Ok(Self { path, _locked: file })
    }

    /// Nobody has to make up for this session any more.
    pub(crate) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Sessions whose program was killed: in this workspace, or in all of them.
pub(crate) fn killed(state: &State, workspace: Option<&Path>) -> Vec<(Note, Begun)> {
    let notes = fs::read_dir(directory(state)).into_iter().flatten().flatten();
    let killed = notes.filter_map(|note| {
        // Any other is of a session that is about to begin.
        let path =
            Some(note.path()).filter(|path| path.extension().is_some_and(|end| end == "json"))?;
        let file = open_file(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let begun: Begun = serde_json::from_slice(&read_file(&path, MOST_BYTES).ok()?).ok()?;
        let is_wanted = workspace.is_none_or(|workspace| begun.workspace() == workspace);
        is_wanted.then_some((Note { path, _locked: file }, begun))
    });
    killed.collect()
}

/// The workspaces in which sessions were killed that nobody has looked at since.
#[must_use]
pub fn killed_workspaces(state: &State) -> Vec<PathBuf> {
    killed(state, None).iter().map(|(_, begun)| begun.workspace()).collect()
}

fn directory(state: &State) -> PathBuf {
    state.directory.join("sessions")
}
