//! What the editor says, on its way to the agents.
//!
//! Runs on the thread that reads from the editor. It never waits: not for an agent to start, not for
//! one to read, and not for the editor itself.

mod setup;

use std::sync::{Arc, atomic::Ordering::Relaxed};

use probity_acp::{Broken, Envelope, Id, MessageKind, Splice, find};

use crate::{
    broken::{Remedy, remedy},
    close,
    connection::{Asked, CalledOff, Connection, NotSent, Reload},
    from_agent::raw_id,
    handshake, introduction,
    literal::content,
    message::{CANCELLED, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Refusal},
    proxy::Proxy,
    rewrite, start,
    table::Session,
};

pub(crate) fn receive(proxy: &Arc<Proxy>, message: &Envelope<'_>) {
    match message.kind() {
        MessageKind::Request { id, method, .. } => {
            let done = request(proxy, message, &id, &method);
            if let Err(refusal) = done {
                proxy.refuse(&id, &refusal);
            }
        }
        MessageKind::Notification { method, .. } => notification(proxy, message, &method),
        MessageKind::Response { id: Some(id), .. } => answer(proxy, message, &id),
        MessageKind::Response { id: None, .. } => {}
        MessageKind::Batch => {
            let refusal = Refusal::new(INVALID_REQUEST, "batches are not part of the protocol");
            proxy.answer(refusal.to(&raw_id("null").unwrap_or_else(|| Id::string(""))));
        }
    }
}

/// A line that is no message. Whoever waits for something that it might have been is told.
pub(crate) fn receive_broken(proxy: &Arc<Proxy>, broken: &Broken) {
    match remedy(broken) {
        Remedy::Refuse(id, refusal) => proxy.refuse(&id, &refusal),
        Remedy::Answer(text) => {
            if let Some(envelope) = Envelope::parse(&text) {
                receive(proxy, &envelope);
            }
        }
        Remedy::Nothing => {}
    }
}

fn request(
    proxy: &Arc<Proxy>,
    message: &Envelope<'_>,
    id: &Id<'_>,
    method: &str,
) -> Result<(), Refusal> {
    match method {
        "initialize" => {
            initialize(proxy, message, id);
            Ok(())
        }
        "session/new" => setup::create(proxy, message, id),
        "session/load" | "session/resume" => setup::load(proxy, message, id),
        "session/fork" => setup::fork(proxy, message, id),
        "session/list" => setup::list(proxy, message, id),
        "session/delete" => setup::delete(proxy, message, id),
        "session/close" | "session/end" => {
            let session = named_session(message)?;
            close::requested(proxy, &session, Some(id), Some(message))
        }
        "authenticate" | "logout" => {
            let latest = proxy.table().latest();
            let connection = latest.map_or_else(|| setup::anywhere(proxy), Ok)?;
            if method == "logout" {
                tell_others(proxy, &connection, message);
            }
            forward(proxy, &connection, message, id, None)
        }
        _ if find(message, "params.sessionId").is_empty() => {
            // An extension that belongs to no session is the agent's that was used last.
            let latest = proxy.table().latest();
            let missing = || Refusal::new(METHOD_NOT_FOUND, format!("Method not found: {method}"));
            forward(proxy, &latest.ok_or_else(missing)?, message, id, None)
        }
        _ => to_session(proxy, message, id, method),
    }
}

fn initialize(proxy: &Arc<Proxy>, message: &Envelope<'_>, id: &Id<'_>) {
    proxy.keep_handshake(message.text());
    let known = proxy.known_capabilities(&introduction::client(message));
    if known.is_none() && introduction::begin(proxy, message, id) {
        return;
    }
    proxy.answer(handshake::answer(id, message, known.as_deref(), &proxy.options));
}

/// A request about a session goes to its agent, which is started again if it has died.
fn to_session(
    proxy: &Arc<Proxy>,
    message: &Envelope<'_>,
    id: &Id<'_>,
    method: &str,
) -> Result<(), Refusal> {
    let session = open_session(proxy, message)?;
    session.counters.sent(message.text().len());
    if method == "session/prompt" {
        session.counters.prompts.fetch_add(1, Relaxed);
    }
    let session = living(proxy, session)?;
    forward(proxy, &session.connection, message, id, Some(&session))
}

/// Sends a request on, under a number of ours and the agent's own name of the session.
fn forward(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    message: &Envelope<'_>,
    id: &Id<'_>,
    session: Option<&Session>,
) -> Result<(), Refusal> {
    let asked = Asked::Forward;
    send(proxy, connection, asked, id, message, session.map(|session| &*session.agent_session))
}

fn send(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    asked: Asked,
    id: &Id<'_>,
    message: &Envelope<'_>,
    agent_session: Option<&str>,
) -> Result<(), Refusal> {
    let make = |number: u64| {
        let mut splice = Splice::new(message);
        splice.replace("id", |_| Some(number.to_string()));
        translate(&mut splice, connection, message, agent_session);
        splice.finish().into_owned()
    };
    let is_setup = asked.is_setup();
    match connection.request(Some(id.clone().into_owned()), asked, make) {
        Ok(_) => Ok(()),
        Err(NotSent::Closed) => Err(start::obituary(proxy, connection, is_setup)),
        Err(NotSent::Full) => {
            let what = format!("the agent {} does not read its input", proxy.options.agent);
            Err(Refusal::new(INTERNAL, what))
        }
    }
}

fn translate(
    splice: &mut Splice<'_>,
    connection: &Connection,
    message: &Envelope<'_>,
    agent_session: Option<&str>,
) {
    if let Some(agent_session) = agent_session {
        splice.replace("params.sessionId", |_| Some(agent_session.to_owned()));
    }
    rewrite::inward(splice, message.text(), &connection.workspace);
}

fn notification(proxy: &Arc<Proxy>, message: &Envelope<'_>, method: &str) {
    match method {
        "$/cancel_request" => return cancel(proxy, message),
        "session/end" | "session/close" => {
            if let Ok(session) = named_session(message) {
                // Nobody waits for an answer to a notification, not even for a refusal.
                drop(close::requested(proxy, &session, None, None));
            }
            return;
        }
        _ => {}
    }
    if find(message, "params.sessionId").is_empty() {
        let connections = proxy.table().connections.clone();
        for connection in connections {
            // An agent that does not read misses what is for everybody.
            drop(connection.send_urgent(message.text().to_owned()));
        }
        return;
    }
    let Ok(session) = open_session(proxy, message) else { return };
    session.counters.sent(message.text().len());
    let mut splice = Splice::new(message);
    translate(&mut splice, &session.connection, message, Some(&session.agent_session));
    // An agent that has died has nothing to cancel.
    drop(session.connection.send_urgent(splice.finish().into_owned()));
}

/// A request that the editor withdraws: it is still answered, by the agent that has it, or by us
/// if it still waits for its agent to start.
fn cancel(proxy: &Arc<Proxy>, message: &Envelope<'_>) {
    let Some(id) = find(message, "params.requestId").last().and_then(|raw| raw_id(raw)) else {
        return;
    };
    let connections = proxy.table().connections.clone();
    let key = Some(id.clone());
    let mut is_answered = false;
    // A list may have been asked of several agents.
    for connection in connections {
        match connection.call_off(&key) {
            None => {}
            Some(CalledOff::Sent(number)) => {
                let mut splice = Splice::new(message);
                splice.replace("params.requestId", |_| Some(number.to_string()));
                drop(connection.send_urgent(splice.finish().into_owned()));
            }
            Some(CalledOff::Waiting(asked)) => {
                if let Asked::Load { session, .. } = &asked {
                    close::undo(proxy, &connection, session);
                }
                if !is_answered {
                    proxy.refuse(&id, &Refusal::new(CANCELLED, "the request was cancelled"));
                    is_answered = true;
                }
                if connection.is_needless() {
                    start::give_up(&connection, "was not needed any more when it had started");
                }
            }
        }
    }
}

/// The editor's answer to an agent's question.
fn answer(proxy: &Arc<Proxy>, message: &Envelope<'_>, id: &Id<'_>) {
    let taken = proxy.table().asked.take(id);
    // What nobody asked, or an agent that is gone, needs no answer.
    let Some(((_, agent_id), connection)) = taken else { return };
    let mut splice = Splice::new(message);
    splice.replace("id", |_| Some(agent_id.raw().to_owned()));
    drop(connection.send_urgent(splice.finish().into_owned()));
}

/// The other agents are told what one of them is asked, and their answers are nobody's.
fn tell_others(proxy: &Arc<Proxy>, first: &Arc<Connection>, message: &Envelope<'_>) {
    let connections = proxy.table().connections.clone();
    for connection in connections.iter().filter(|other| !Arc::ptr_eq(other, first)) {
        let make = |number: u64| {
            let mut splice = Splice::new(message);
            splice.replace("id", |_| Some(number.to_string()));
            splice.finish().into_owned()
        };
        drop(connection.request(None, Asked::Ignored, make));
    }
}

/// The id of the session that a message names.
fn named_session(message: &Envelope<'_>) -> Result<String, Refusal> {
    find(message, "params.sessionId")
        .last()
        .filter(|raw| raw.starts_with('"'))
        .map(|raw| content(raw).into_owned())
        .ok_or_else(|| Refusal::new(INVALID_PARAMS, "params.sessionId is missing"))
}

fn open_session(proxy: &Proxy, message: &Envelope<'_>) -> Result<Arc<Session>, Refusal> {
    let raw = find(message, "params.sessionId").last().copied().unwrap_or_default();
    let id = content(raw);
    let session = proxy.table().sessions.get(&*id).cloned();
    session.ok_or_else(|| Refusal::no_session(&id))
}

/// The session with an agent that lives.
fn living(proxy: &Arc<Proxy>, session: Arc<Session>) -> Result<Arc<Session>, Refusal> {
    if !session.connection.is_dead() {
        return Ok(session);
    }
    proxy.note(&format!("{} is started again for {}", proxy.options.agent, session.id));
    let reload = Reload {
        agent_session: session.agent_session.clone(),
        setup: session.setup.clone(),
        known: session.known(),
        death: session.connection.state().epitaph.clone(),
    };
    let connection = start::open(proxy, &session.workspace, Some(reload));
    let session = Arc::new(Session { connection, ..Session::clone(&session) });
    proxy.table().sessions.insert(Arc::clone(&session.id), Arc::clone(&session));
    Ok(session)
}
