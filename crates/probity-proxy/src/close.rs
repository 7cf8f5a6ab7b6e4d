//! The ends of sessions, and of the agents that nobody needs any more.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    time::Instant,
};

use probity_acp::{Envelope, Id, Splice};

use crate::{
    connection::{Answered, Asked, Connection, Phase},
    message::{self, Refusal},
    proxy::{Proxy, spawn},
    serve::{LAST_WORDS, wait_while},
    table::Session,
};

/// The editor ends a session. The agent is told in the way that it understands; if it was its last
/// session it gets the end of its input, and after a while its end.
pub(crate) fn requested(
    proxy: &Arc<Proxy>,
    session: &str,
    id: Option<&Id<'_>>,
    message: Option<&Envelope<'_>>,
) -> Result<(), Refusal> {
    let open = proxy.table().sessions.get(session).cloned();
    open.iter().for_each(|session| session.measure());
    let (session, last) = {
        let mut table = proxy.table();
        let closed = table.close(session).ok_or_else(|| Refusal::no_session(session))?;
        let last = !table.is_used(&closed.connection);
        (closed, last)
    };
    let connection = Arc::clone(&session.connection);
    if last {
        connection.state().ending = true;
    }
    let told = tell(&connection, &session, id, message, last);
    let (ours, id) = (Arc::clone(proxy), id.map(|id| id.clone().into_owned()));
    let until = Instant::now() + proxy.options.limits.farewell;
    spawn(proxy, "close", move || {
        await_answer(&told.answered, until);
        if last {
            end_by(&connection, until);
            // What the agent said last comes before the answer.
            wait_while(LAST_WORDS, || !connection.is_dead());
        }
        // The agent answers for itself where it was asked; else we answer when it is over.
        let answered = match told.number {
            Some(number) => connection.take(&Id::from(number)).is_none(),
            None => false,
        };
        if let Some(id) = id
            && !answered
        {
            ours.write(&message::result(&id, "{}"));
        }
    });
    Ok(())
}

/// How an agent was told that a session is over.
struct Told {
    /// Our number of the editor's own request, if that was sent on.
    number: Option<u64>,
    answered: Option<Receiver<Answered>>,
}

fn tell(
    connection: &Connection,
    session: &Session,
    id: Option<&Id<'_>>,
    message: Option<&Envelope<'_>>,
    last: bool,
) -> Told {
    let nothing = Told { number: None, answered: None };
    let (phase, abilities) = {
        let state = connection.state();
        (state.phase, state.abilities)
    };
    if phase == Phase::Dead {
        return nothing;
    }
    let params = format!(r#"{{"sessionId":{}}}"#, session.agent_session);
    if !abilities.close {
        // What does not understand it ignores it.
        drop(connection.send_urgent(message::notification("session/end", &params)));
        if !last {
            drop(connection.send_urgent(message::notification("session/cancel", &params)));
        }
        return nothing;
    }
    let (answer, answered) = sync_channel(1);
    let is_close =
        |message: &&Envelope<'_>| message.method().is_some_and(|method| method == "session/close");
    let sent = match (id, message.filter(is_close)) {
        (Some(id), Some(message)) => {
            let make = |number: u64| {
                let mut splice = Splice::new(message);
                splice.replace("id", |_| Some(number.to_string()));
                splice.replace("params.sessionId", |_| Some(session.agent_session.clone()));
                splice.finish().into_owned()
            };
            let asked = Asked::Close { answered: answer };
            connection.request(Some(id.clone().into_owned()), asked, make).map(Some)
        }
        _ => {
            let make = |number| message::request(number, "session/close", &params);
            connection.request(None, Asked::Own { _answered: answer }, make).map(|_| None)
        }
    };
    match sent {
        Ok(number) => Told { number, answered: Some(answered) },
        Err(_) => nothing,
    }
}

/// Waits until the sender is used or gone, whichever it is that the answer does.
fn await_answer(answered: &Option<Receiver<Answered>>, until: Instant) {
    if let Some(answered) = answered {
        let left = until.saturating_duration_since(Instant::now());
        // An answer, the agent's death, and the end of our patience all mean the same here.
        drop(answered.recv_timeout(left));
    }
}

/// Ends an agent with all its sessions, politely and in bounded time.
pub(crate) fn end(proxy: &Arc<Proxy>, connection: &Arc<Connection>) {
    let until = Instant::now() + proxy.options.limits.farewell;
    let sessions: Vec<Arc<Session>> = {
        let table = proxy.table();
        let here = |session: &&Arc<Session>| Arc::ptr_eq(&session.connection, connection);
        table.sessions.values().filter(here).cloned().collect()
    };
    sessions.iter().for_each(|session| session.measure());
    connection.state().ending = true;
    let told: Vec<Told> =
        sessions.iter().map(|session| tell(connection, session, None, None, true)).collect();
    for told in told {
        await_answer(&told.answered, until);
    }
    end_by(connection, until);
}

fn end_by(connection: &Connection, until: Instant) {
    connection.outgoing.close();
    if let Some(process) = connection.process.get() {
        let left = until.saturating_duration_since(Instant::now());
        if process.wait(left).is_none() {
            process.kill();
        }
    }
}

/// Ends an agent that has no session and is not the only idle one in its workspace. One is kept:
/// an editor that was told to log in does so with it, and comes back.
pub(crate) fn end_surplus(proxy: &Arc<Proxy>, connection: &Arc<Connection>) {
    let surplus = {
        let table = proxy.table();
        let idle_too = |other: &&Arc<Connection>| {
            !Arc::ptr_eq(other, connection)
                && other.workspace.root == connection.workspace.root
                && other.takes_sessions(false)
        };
        connection.takes_sessions(false) && table.connections.iter().any(|other| idle_too(&other))
    };
    if surplus {
        end_later(proxy, connection);
    }
}

fn end_later(proxy: &Arc<Proxy>, connection: &Arc<Connection>) {
    connection.state().ending = true;
    let (ours, theirs) = (Arc::clone(proxy), Arc::clone(connection));
    spawn(proxy, "close", move || end(&ours, &theirs));
}

/// A session that could not be loaded is not open.
pub(crate) fn undo(proxy: &Arc<Proxy>, connection: &Arc<Connection>, session: &str) {
    proxy.table().close(session);
    connection.state().sessions.retain(|_, known| &*known.id != session);
    end_surplus(proxy, connection);
}

/// A session that the agent has deleted is gone for good.
pub(crate) fn forget(proxy: &Arc<Proxy>, connection: &Arc<Connection>, session: &str) {
    let unused = {
        let mut table = proxy.table();
        table.forget(session);
        table.close(session).is_some() && !table.is_used(connection)
    };
    proxy.store.forget_session(session);
    if unused {
        end_later(proxy, connection);
    }
}
