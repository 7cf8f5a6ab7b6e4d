//! The watch over a workspace while a sandboxed process can write to it, and what comes of it: a
//! host must not obey what such a process left behind.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use probity_sandbox::{Guard, GuardedEnd, Root, Snapshot, workspace_root};
use probity_scope::HeldDirectory;
use probity_seat::{Seated, State};
use probity_text::visible;

use crate::{
    implicit::{Changed, Changes, Implicit},
    quarantine::{self, Quarantine},
    session::{self, Begun, Note},
};

/// Files that a note names.
const SHOWN: usize = 8;

/// Ends once: with the process, or when it is dropped, as after a process that did not start.
#[expect(missing_debug_implementations, reason = "it has nothing to show")]
pub struct Watch {
    held: Mutex<Option<Held>>,
}

struct Held {
    places: Vec<WatchedDirectory>,
    quarantine: Quarantine,
    state: State,
    seated: Seated,
}

/// The workspace, or a directory beside it.
struct WatchedDirectory {
    guard: Guard,
    implicit: Implicit,
    /// The workspace that `cai accept` finds what was taken away in.
    workspace: PathBuf,
    /// For whoever comes next, if we are killed.
    note: Option<Note>,
}

impl WatchedDirectory {
    fn new(root: &Root, quarantine: Quarantine, state: &State) -> Result<Self, WatchError> {
        let guard = root.guard();
        let unreachable = |source| WatchError { workspace: root.path.clone(), source };
        let top = guard.directory().map_err(unreachable)?;
        if let Some(error) = guard.unwatched() {
            tracing::warn!(
                "do not use git in {} before the command ends: its git directories cannot be watched \
                 ({error})",
                root.path.display()
            );
        }
        for warning in root.warnings() {
            tracing::warn!("{}", visible::line(&warning));
        }
        let implicit = Implicit::look(&root.path, top.into());
        let begun = Begun::new(guard.snapshot(), &implicit, quarantine);
        let note = Note::write(state, &begun);
        if let Err(error) = &note {
            tracing::warn!("if probity is killed, nothing will look at this session: {error}");
        }
        let workspace = workspace_root(&root.path).map_or(root.path.clone(), |root| root.path);
        Ok(Self { guard, implicit, workspace, note: note.ok() })
    }
}

/// Why a workspace cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("{}", workspace.display())]
pub struct WatchError {
    workspace: PathBuf,
    source: io::Error,
}

impl Watch {
    /// Begins before the process does.
    ///
    /// # Errors
    ///
    /// Fails if the workspace cannot be opened.
    pub fn start(
        seated: &Seated,
        quarantine: Quarantine,
        state: &State,
    ) -> Result<Self, WatchError> {
        let Some(root) = &seated.root else { return Ok(Self { held: Mutex::new(None) }) };
        let roots = [root].into_iter().chain(&seated.directories);
        let places = roots.map(|root| WatchedDirectory::new(root, quarantine, state));
        let places = places.collect::<Result<_, _>>()?;
        let (state, seated) = (state.clone(), seated.clone());
        let held = Held { places, quarantine, state, seated };
        Ok(Self { held: Mutex::new(Some(held)) })
    }

    /// Ends the watch, takes away what the host must not obey, and says so.
    pub fn end(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Held { places, quarantine, state, seated }) = held else { return };
        seated.keep_logins();
        for WatchedDirectory { guard, implicit, workspace, note } in places {
            take_strays(&guard.finish(), &workspace, &state);
            take_files(&implicit, quarantine, &workspace, &state);
            note.into_iter().for_each(Note::remove);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Does what the ends of killed sessions did not, in this workspace or in all of them, and gives the
/// workspaces. Has to be done before anything is read for the next session.
pub fn make_up(state: &State, workspace: Option<&Path>) -> Vec<PathBuf> {
    let mut workspaces = Vec::new();
    for (note, mut begun) in session::killed(state, workspace) {
        let workspace = begun.workspace();
        if workspace.is_dir() {
            let shown = workspace.display();
            tracing::warn!("a session in {shown} was killed; probity checks its files");
            let top = match begun.git.take().map(Snapshot::finish) {
                Some(ended) => {
                    take_strays(&ended, &workspace, state);
                    ended.held.directory(&workspace).map(HeldDirectory::from)
                }
                None => HeldDirectory::open(&workspace),
            };
            // If it is another directory now, that was just said.
            if let Ok(top) = top {
                let quarantine = begun.quarantine;
                take_files(&begun.implicit(top), quarantine, &workspace, state);
            }
        }
        note.remove();
        workspaces.push(workspace);
    }
    workspaces
}

fn take_files(implicit: &Implicit, quarantine: Quarantine, workspace: &Path, state: &State) {
    let Changes { files: changed, is_complete } = implicit.changed();
    if !is_complete {
        tracing::warn!(
            "{} has too many files to look for all that tools run by themselves",
            workspace.display()
        );
    }
    match quarantine {
        _ if changed.is_empty() => {}
        Quarantine::GitOnly => tracing::warn!(
            "the session changed files that tools run by themselves: {}; read them before you use \
             these tools, or run with --quarantine",
            named(&changed, workspace)
        ),
        Quarantine::Implicit => keep(state, workspace, implicit, changed),
    }
}

/// The files and what runs them, in one short line however many there are.
fn named(changed: &[Changed], workspace: &Path) -> String {
    let named = changed.iter().take(SHOWN).map(|changed| {
        let path = changed.path.strip_prefix(workspace).unwrap_or(&changed.path);
        let path = path.to_string_lossy();
        format!("{} ({})", visible::line(&path), changed.run_by)
    });
    let named: Vec<String> = named.collect();
    let more = match changed.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

fn keep(state: &State, workspace: &Path, implicit: &Implicit, changed: Vec<Changed>) {
    let mut moved = Vec::new();
    for changed in changed {
        match quarantine::take_file(state, workspace, implicit, &changed) {
            Ok(_) => moved.push(changed),
            Err(error) => tracing::warn!(
                "{}: {} would run what the session wrote, and moving it away failed: {}",
                changed.path.display(),
                changed.run_by,
                in_full(&error)
            ),
        }
    }
    if !moved.is_empty() {
        tracing::warn!(
            "the session changed files that tools run by themselves, and they were put back as they \
             were: {}; `cai accept --list` shows the changed ones, `cai accept` puts them in place",
            named(&moved, workspace)
        );
    }
}

fn take_strays(ended: &GuardedEnd, workspace: &Path, state: &State) {
    if ended.removed > 0 {
        tracing::warn!(
            "a commondir was made in the git directory, which would lead git astray: removed"
        );
    }
    for note in &ended.notes {
        tracing::warn!("{note}");
    }
    for stray in &ended.strays {
        match quarantine::take(state, workspace, &ended.held, stray) {
            Ok(kept) => tracing::warn!(
                "{}: {} was moved to {}; {}",
                stray.path.display(),
                kept.what(),
                kept.item().display(),
                kept.next_step()
            ),
            Err(error) => tracing::warn!(
                "{}: git may run programs of the sandboxed command there, and moving it away \
                     failed: {}; remove it before you use git",
                stray.path.display(),
                in_full(&error)
            ),
        }
    }
}

/// An error and its causes in one line.
fn in_full(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
