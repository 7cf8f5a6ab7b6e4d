//! The watch over a workspace while a sandboxed process can write to it, and what comes of it: a
//! host must not obey what such a process left behind.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use probity_sandbox::Guard;
use probity_seat::{Seated, State};

use crate::{containment::quarantine, seats::state};

/// Ended once, whoever comes first: the end of the process, or that of its handle.
pub(crate) struct Watch {
    held: Mutex<Option<Held>>,
}

struct Held {
    guard: Option<Guard>,
    workspace: PathBuf,
    state: State,
    seated: Seated,
}

impl Watch {
    /// Begins before the process does.
    pub(crate) fn start(seated: &Seated) -> anyhow::Result<Self> {
        let Some(root) = &seated.root else { return Ok(Self { held: Mutex::new(None) }) };
        let guard = root.guard();
        if let Err(error) = &guard {
            tracing::warn!("the git directory is not watched: {error}");
        }
        let held = Held {
            guard: guard.ok(),
            workspace: root.path.clone(),
            state: state()?,
            seated: seated.clone(),
        };
        Ok(Self { held: Mutex::new(Some(held)) })
    }

    /// Ends the watch, takes away what the host must not obey, and says so.
    pub(crate) fn end(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Held { guard, workspace, state, seated }) = held else { return };
        seated.keep_logins();
        let Some(ended) = guard.map(Guard::finish) else { return };
        if ended.removed > 0 {
            tracing::warn!(
                "a commondir was made in the git directory, which would lead git astray: removed"
            );
        }
        for note in &ended.notes {
            tracing::warn!("{note}");
        }
        for stray in &ended.strays {
            match quarantine::take(&state, &workspace, stray) {
                Ok(kept) => tracing::warn!(
                    "{}: {} was moved to {}; `cai accept` restores it without programs",
                    stray.path.display(),
                    kept.what(),
                    kept.item().display()
                ),
                Err(error) => tracing::warn!(
                    "{}: git may run programs of the sandboxed command there, and moving it away \
                     failed: {error:#}; remove it before you use git",
                    stray.path.display()
                ),
            }
        }
    }
}
