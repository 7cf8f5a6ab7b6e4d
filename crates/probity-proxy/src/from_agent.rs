//! What agents say, on its way to the editor.

mod answers;

use std::sync::{Arc, atomic::Ordering::Relaxed};

use probity_acp::{Envelope, Id, Kind, Splice, find};

use crate::{
    connection::{Connection, Known, Whose},
    literal::{content, quoted},
    message::{INVALID_PARAMS, METHOD_NOT_FOUND, Refusal},
    proxy::Proxy,
    rewrite,
};

/// One message of an agent. Runs on the thread that reads from it, so that its order is kept.
pub(crate) fn receive(proxy: &Arc<Proxy>, connection: &Arc<Connection>, message: &Envelope<'_>) {
    match message.kind() {
        Kind::Notification { method, .. } if method == "$/cancel_request" => {
            cancel(proxy, connection, message);
        }
        Kind::Notification { .. } => notification(proxy, connection, message),
        Kind::Request { id, method, .. } => request(proxy, connection, message, &id, &method),
        Kind::Response { id: Some(id), outcome } => {
            answers::receive(proxy, connection, message, &id, &outcome);
        }
        Kind::Response { id: None, .. } => {
            proxy.note(&format!("{} answered nobody in particular", proxy.options.agent));
        }
        Kind::Batch => proxy.note(&format!("{} wrote a batch", proxy.options.agent)),
    }
}

fn notification(proxy: &Arc<Proxy>, connection: &Arc<Connection>, message: &Envelope<'_>) {
    let mut splice = Splice::new(message);
    let known = match session(proxy, connection, message) {
        Ok(known) => known,
        Err(Unknown) => return,
    };
    if let Some(known) = &known {
        known.counters.received(message.text().len());
        rename(&mut splice, proxy, connection, message, known);
    }
    rewrite::outward(&mut splice, message.text(), &connection.workspace);
    proxy.write(&splice.finish());
}

fn request(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    message: &Envelope<'_>,
    id: &Id<'_>,
    method: &str,
) {
    let known = match session(proxy, connection, message) {
        Ok(known) => known,
        Err(Unknown) => return,
    };
    let mut splice = Splice::new(message);
    if let Err(refusal) = permitted(&mut splice, connection, message, method) {
        proxy.note(&format!("{}: {}", proxy.options.agent, refusal.message));
        // An agent that does not read its answers has only itself to blame.
        drop(connection.send_urgent(refusal.to(id)));
        return;
    }
    if let Some(known) = &known {
        known.counters.received(message.text().len());
        known.counters.asked.fetch_add(1, Relaxed);
        rename(&mut splice, proxy, connection, message, known);
    }
    // A question about one of the editor's own requests, such as a login.
    splice.replace("params.requestId", |raw| {
        let state = connection.state();
        let number: Id<'_> = number(raw)?;
        state.requests.get(&number)?.0.as_ref().map(|id| id.raw().to_owned())
    });
    rewrite::outward(&mut splice, message.text(), &connection.workspace);
    let key = (connection.number, id.clone().into_owned());
    let ours = proxy.table().asked.issue(key, Arc::clone(connection));
    splice.replace("id", |_| Some(ours.to_string()));
    proxy.write(&splice.finish());
}

/// Whether the editor may be asked this. What it does, it does outside any containment.
fn permitted(
    splice: &mut Splice<'_>,
    connection: &Connection,
    message: &Envelope<'_>,
    method: &str,
) -> Result<(), Refusal> {
    let workspace = &connection.workspace;
    if method.starts_with("terminal/") && !workspace.terminals {
        let what = format!("{method}: commands run inside, not in the editor's terminal");
        return Err(Refusal::new(METHOD_NOT_FOUND, what));
    }
    rewrite::confine(splice, message, method, workspace).map_err(|path| {
        Refusal::new(INVALID_PARAMS, format!("{method}: {path} is not in the workspace"))
    })
}

/// A request that the agent withdraws.
fn cancel(proxy: &Arc<Proxy>, connection: &Arc<Connection>, message: &Envelope<'_>) {
    let mut splice = Splice::new(message);
    let renamed = splice.replace("params.requestId", |raw| {
        let key = (connection.number, raw_id(raw)?);
        proxy.table().asked.number_of(&key).map(|number| number.to_string())
    });
    // What has been answered already cannot be withdrawn.
    if renamed > 0 {
        proxy.write(&splice.finish());
    }
}

/// The message is not the editor's to see now, or ever.
struct Unknown;

/// The session that a message is about, if it is about one.
fn session(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    message: &Envelope<'_>,
) -> Result<Option<Known>, Unknown> {
    let Some(raw) = find(message, "params.sessionId").last().copied() else { return Ok(None) };
    if raw == "null" {
        return Ok(None);
    }
    let said = content(raw);
    match connection.whose(&said, message.text()) {
        Whose::Known(known) => Ok(Some(known)),
        Whose::Held | Whose::Nobodys => Err(Unknown),
        Whose::New => match proxy.adopt(connection, &said) {
            Some(known) => Ok(Some(known)),
            None => Err(dropped(proxy)),
        },
        Whose::Dropped => Err(dropped(proxy)),
    }
}

fn dropped(proxy: &Proxy) -> Unknown {
    proxy.note(&format!("{} says too much about sessions nobody knows", proxy.options.agent));
    Unknown
}

/// Puts the editor's ids of sessions in the place of the agent's.
fn rename(
    splice: &mut Splice<'_>,
    proxy: &Proxy,
    connection: &Connection,
    message: &Envelope<'_>,
    known: &Known,
) {
    splice.replace("params.sessionId", |_| Some(quoted(&known.id)));
    // Updates about other sessions, such as a subagent's, name them too.
    if message.text().matches("essionId").nth(1).is_some() {
        for path in [
            "params.update.sessionId",
            "params.update.senderSessionId",
            "params.update.recipientSessionId",
        ] {
            splice.replace(path, |raw| {
                let other = proxy.adopt(connection, &content(raw))?;
                Some(quoted(&other.id))
            });
        }
    }
}

/// An id that stands in a payload.
pub(crate) fn raw_id(raw: &str) -> Option<Id<'static>> {
    let line = format!(r#"{{"id":{raw}}}"#);
    Envelope::parse(&line)?.id().map(Id::into_owned)
}

fn number(raw: &str) -> Option<Id<'static>> {
    raw_id(raw).filter(|id| id.number().is_some())
}
