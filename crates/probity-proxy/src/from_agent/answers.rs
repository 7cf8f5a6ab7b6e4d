//! What agents answer, given back to whoever asked.

use std::sync::Arc;

use probity_acp::{Envelope, Id, Outcome, Splice, find};

use super::receive as receive_again;
use crate::{
    Workspace, close,
    connection::{Answered, Asked, Connection},
    figures::Counters,
    literal::{content, quoted},
    message::{INTERNAL, Refusal},
    proxy::{LONGEST_ID, Proxy, fresh_id},
    rewrite, start,
    table::{Listing, Session},
};

pub(super) fn receive(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    message: &Envelope<'_>,
    id: &Id<'_>,
    outcome: &Outcome<'_>,
) {
    let Some((editor_id, asked)) = connection.take(id) else {
        proxy
            .note(&format!("{} answered a request that was never sent: {id}", proxy.options.agent));
        return;
    };
    match (asked, editor_id) {
        (Asked::Initialize { .. }, _) => match outcome {
            Outcome::Result(result) => start::introduced(proxy, connection, result),
            Outcome::Error(error) => {
                let why = proxy.masked(&format!("refused to start: {error}"));
                start::give_up(connection, &why);
            }
        },
        (Asked::Reload { reload, .. }, _) => match outcome {
            Outcome::Result(_) => {
                let said = content(&reload.agent_session).into_owned();
                connection.state().sessions.insert(said, reload.known);
                connection.ready();
            }
            Outcome::Error(error) => {
                let why = proxy.masked(&format!("lost the session: {error}"));
                start::give_up(connection, &why);
            }
        },
        (Asked::Create { workspace, setup, .. }, Some(id)) => {
            created(proxy, connection, message, &id, outcome, workspace, setup);
        }
        (Asked::Load { session, .. }, Some(id)) => {
            forward(proxy, connection, message, &id);
            if matches!(outcome, Outcome::Error(_)) {
                close::undo(proxy, connection, &session);
            }
        }
        (Asked::List(listing), Some(id)) => listed(proxy, connection, message, &id, &listing),
        (Asked::Delete { session }, Some(id)) => {
            forward(proxy, connection, message, &id);
            if matches!(outcome, Outcome::Result(_)) {
                close::forget(proxy, connection, &session);
            }
        }
        (Asked::Close { answered }, Some(id)) => {
            forward(proxy, connection, message, &id);
            // Nobody waits if the time for it was up.
            drop(answered.send(Answered));
        }
        (Asked::Forward, Some(id)) => forward(proxy, connection, message, &id),
        (_, _) => {}
    }
}

/// Gives an answer to the editor under the id that the editor chose.
fn forward(proxy: &Arc<Proxy>, connection: &Connection, message: &Envelope<'_>, id: &Id<'_>) {
    let mut splice = Splice::new(message);
    splice.replace("id", |_| Some(id.raw().to_owned()));
    splice.replace_any(&["result.sessionId", "error.data.sessionId"], |raw| {
        let state = connection.state();
        state.sessions.get(&*content(raw)).map(|known| quoted(&known.id))
    });
    rebuild_logins(&mut splice, proxy);
    proxy.write_soon(&splice.finish());
}

/// Errors offer logins too.
fn rebuild_logins(splice: &mut Splice<'_>, proxy: &Proxy) {
    splice.replace_any(&["error.data.authMethods", "result.authMethods"], |raw| {
        let methods = serde_json::from_str(raw).unwrap_or_default();
        Some(proxy.options.logins.rebuilt(&methods).to_string())
    });
}

/// A new session: named, put down, told to the editor, and only then what was held for it.
fn created(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    message: &Envelope<'_>,
    id: &Id<'_>,
    outcome: &Outcome<'_>,
    workspace: Arc<Workspace>,
    setup: String,
) {
    if matches!(outcome, Outcome::Error(_)) {
        forward(proxy, connection, message, id);
        release(proxy, connection, None);
        close::end_surplus(proxy, connection);
        return;
    }
    let is_usable = |raw: &&str| *raw != "null" && raw.len() <= LONGEST_ID;
    let Some(raw) = find(message, "result.sessionId").last().copied().filter(is_usable) else {
        let what = format!("{} answered without a usable sessionId", proxy.options.agent);
        proxy.write_soon(&Refusal::new(INTERNAL, what).to(id));
        close::end_surplus(proxy, connection);
        return;
    };
    let said = content(raw);
    let session = Session {
        id: fresh_id(),
        agent_session: raw.to_owned(),
        workspace,
        setup,
        connection: Arc::clone(connection),
        counters: Arc::new(Counters::new()),
    };
    connection.state().sessions.insert(said.clone().into_owned(), session.known());
    let record = session.record();
    {
        let mut table = proxy.table();
        table.remember(record.clone());
        table.sessions.insert(Arc::clone(&session.id), Arc::new(session));
    }
    proxy.store.keep_session(&record);
    forward(proxy, connection, message, id);
    release(proxy, connection, Some(&said));
}

/// Sends what came too early: what is about this session, and the rest if no session is awaited.
fn release(proxy: &Arc<Proxy>, connection: &Arc<Connection>, said: Option<&str>) {
    let messages = {
        let mut state = connection.state();
        let all = state.setups == 0;
        match (all, said) {
            (true, _) => state.early.release(None),
            (false, Some(said)) => state.early.release(Some(said)),
            (false, None) => return,
        }
    };
    for message in messages {
        if let Some(envelope) = Envelope::parse(&message) {
            receive_again(proxy, connection, &envelope);
        }
    }
}

/// Sessions in one answer.
const MOST_LISTED: usize = 1000;

fn listed(
    proxy: &Arc<Proxy>,
    connection: &Connection,
    message: &Envelope<'_>,
    id: &Id<'_>,
    listing: &Arc<Listing>,
) {
    // Each of them is remembered. Lists come in pages, and nobody has so many on one.
    let ids = find(message, "result.sessions.*.sessionId");
    if ids.len() > MOST_LISTED || ids.iter().any(|id| id.len() > LONGEST_ID) {
        let what = format!("{} lists more sessions than anybody has", proxy.options.agent);
        proxy.write_soon(&Refusal::new(INTERNAL, what).to(id));
        return;
    }
    let mut splice = Splice::new(message);
    splice.replace("id", |_| Some(id.raw().to_owned()));
    splice.replace("result.sessions.*.sessionId", |raw| {
        let open = connection.state().sessions.get(&*content(raw)).cloned();
        let id = open.map_or_else(|| proxy.session_id(connection, raw), |known| known.id);
        Some(quoted(&id))
    });
    rewrite::outward(&mut splice, message.text(), &connection.workspace);
    rebuild_logins(&mut splice, proxy);
    let renamed = splice.finish();
    if listing.agents == 1 {
        proxy.write_soon(&renamed);
        return;
    }
    let sessions: Vec<String> = Envelope::parse(&renamed)
        .map(|envelope| {
            find(&envelope, "result.sessions.*").into_iter().map(str::to_owned).collect()
        })
        .unwrap_or_default();
    if let Some(whole) = listing.add(sessions) {
        proxy.write_soon(&crate::message::result(&listing.id, &whole));
    }
}
