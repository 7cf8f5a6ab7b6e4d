//! `cai accept`: gives back what was moved away at the end of a session, made harmless, or deletes it.

use std::{env, io::Write as _};

use anyhow::Error;
use probity_containment::quarantine::{self, Quarantined};

use crate::{
    commands::exec::root, exit::Exit, failure::Failure, name::Name, seats::state, streams,
};

/// What becomes of things in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    List,
    Restore,
    Drop,
}

/// Without items, all of the workspace are meant.
pub(crate) fn run(action: Action, items: &[String]) -> anyhow::Result<Exit> {
    let current = env::current_dir()?;
    let root = root(Name::Cai, &current)?;
    let kept = quarantine::kept(&state()?, &root.path);
    let real = current.canonicalize()?;
    for word in items {
        if !kept.iter().any(|kept| kept.is_named(word, &real)) {
            let what = format!("`{word}` is not in quarantine for this workspace");
            return Err(Failure::new(what, "`cai accept --list` shows what is").into());
        }
    }
    let is_meant = |kept: &&Quarantined| {
        items.is_empty() || items.iter().any(|word| kept.is_named(word, &real))
    };
    let meant: Vec<&Quarantined> = kept.iter().filter(is_meant).collect();
    let mut out = streams::stdout().lock();
    if meant.is_empty() {
        writeln!(out, "nothing of this workspace is in quarantine")?;
    }
    let mut refused = 0;
    for kept in &meant {
        let path = kept.path().display();
        let done = match action {
            Action::List => {
                writeln!(out, "{path}: {}, kept in {}", kept.what(), kept.item().display())?;
                continue;
            }
            Action::Restore => kept.restore().map(|()| kept.restored()).map_err(Error::from),
            Action::Drop => kept.discard().map(|()| "deleted").map_err(Error::from),
        };
        match done {
            Ok(done) => writeln!(out, "{path}: {done}")?,
            Err(error) => {
                refused += 1;
                tracing::warn!("{error:#}; it stays in {}", kept.item().display());
            }
        }
    }
    if refused > 0 {
        let what = format!("{refused} of {} stayed in quarantine", meant.len());
        let way_out = "copy what you need, then `cai accept --drop ITEM` deletes the rest";
        return Err(Failure::new(what, way_out).into());
    }
    Ok(Exit::Clean)
}
