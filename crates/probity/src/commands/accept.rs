//! `cai accept`: gives back what was moved away at the end of a session, made harmless.

use std::{
    env,
    io::{self, Write as _},
};

use crate::{
    commands::exec::root, containment::quarantine, exit::Exit, failure::Failure, name::Name,
    seats::state,
};

pub(crate) fn run(list: bool) -> anyhow::Result<Exit> {
    let root = root(Name::Cai, &env::current_dir()?)?;
    let kept = quarantine::kept(&state()?, &root.path);
    let mut out = io::stdout().lock();
    if kept.is_empty() {
        writeln!(out, "nothing of this workspace is in quarantine")?;
    }
    let mut refused = 0;
    for kept in &kept {
        let path = kept.record.path.display();
        if list {
            writeln!(out, "{path}: {}, kept in {}", kept.what(), kept.item().display())?;
            continue;
        }
        match kept.restore() {
            Ok(()) => writeln!(out, "{path}: {}", kept.restored())?,
            Err(error) => {
                refused += 1;
                tracing::warn!("{error:#}; it stays in {}", kept.item().display());
            }
        }
    }
    if refused > 0 {
        let what = format!("{refused} of {} could not be restored", kept.len());
        return Err(Failure::new(what, "`cai accept --list` shows where they are").into());
    }
    Ok(Exit::Clean)
}
