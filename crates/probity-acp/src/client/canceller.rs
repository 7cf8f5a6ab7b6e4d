//! Calling off a turn from another thread than the one that waits for it.

use std::{fmt, sync::Arc};

use super::{
    shared::{Shared, State},
    wire,
};

/// Calls off the turn of a [`Client`](crate::Client) that is under way.
#[derive(Clone)]
pub struct Canceller(pub(super) Arc<Shared>);

impl Canceller {
    /// Asks the agent to stop, and says whether it was asked: an agent that is asked nothing, or
    /// was told before, is not told.
    ///
    /// Whoever waits for the turn goes on waiting, for the answer of an agent that obeys.
    pub fn cancel(&self) -> bool {
        self.0.with(cancel)
    }
}

/// What stands in the queue does not matter: a cancellation is short, and there is only one a turn.
pub(super) fn cancel(state: &mut State) -> bool {
    let session = match &state.collecting {
        Some(collecting) if state.expected.is_some() && !state.cancelling => {
            collecting.session.clone()
        }
        _ => return false,
    };
    state.cancelling = true;
    state.enqueue(wire::cancel(&session));
    true
}

impl fmt::Debug for Canceller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Canceller")
    }
}
