//! Seats for agents, as this user's configuration has them, and failures in the words of a command.

use std::{io::Write as _, sync::Arc};

use probity_agent::StderrTap;
use probity_sandbox::Root;
use probity_seat::{Caller, ConfiguredBy, Sandbox, Seats, State, Terms, Unseated};

use crate::{
    config::nearest,
    containment::{Containment, Users},
    failure::Failure,
    streams,
};

/// The seats of a run that asks questions, and the terms of its caller.
pub(crate) fn seats(caller: Caller) -> anyhow::Result<(Seats, Terms)> {
    let Users { table, grants, terms: users, .. } = Users::load()?;
    Ok((Seats::new(table, grants, stderr()), terms(caller, users, None)?))
}

/// The terms on which a caller's process runs: those of the configuration that its row names.
pub(crate) fn terms(caller: Caller, users: Terms, root: Option<&Root>) -> anyhow::Result<Terms> {
    let (ConfiguredBy::UserAndRepository, Some(root)) = (caller.policy().network, root) else {
        // The user's runtime is for workspaces: a question has its own order of sandboxes.
        return Ok(Terms { sandbox: Sandbox::Auto, ..users });
    };
    let state = state()?;
    state.refuse_inside(root).map_err(|error| Failure::from(Unseated::from(error)))?;
    let containment = Containment::load(root, &state)?;
    for ignored in &containment.ignored {
        tracing::warn!("{ignored}");
    }
    Ok(containment.terms())
}

/// The state directory.
pub(crate) fn state() -> anyhow::Result<State> {
    State::find().map_err(|error| Failure::from(Unseated::from(error)).into())
}

/// Whoever asked for more wants to see what the agent says while it works.
fn stderr() -> Option<StderrTap> {
    if !tracing::enabled!(tracing::Level::INFO) {
        return None;
    }
    Some(Arc::new(|piece| drop(streams::stderr().write_all(piece.as_bytes()))))
}

impl From<Unseated> for Failure {
    fn from(unseated: Unseated) -> Self {
        let mut way_out = unseated.way_out();
        if let Unseated::Unknown { name, known } = &unseated
            && let Some(near) = nearest(name, known.iter().map(String::as_str))
        {
            way_out = format!("did you mean `{near}`? {way_out}");
        }
        Self::new(unseated.to_string(), way_out)
    }
}
