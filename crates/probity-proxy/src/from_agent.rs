//! What agents say, on its way to the editor.

mod answers;

use std::sync::{Arc, atomic::Ordering::Relaxed};

use probity_acp::{Broken, Envelope, Id, MessageKind, Places, Splice, find};

use crate::{
    broken::{Remedy, remedy},
    connection::{Connection, Known, Whose},
    literal::{content, quoted},
    message::{INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, Refusal},
    proxy::{LONGEST_ID, MOST_QUESTIONS, Proxy},
    rewrite,
};

/// One message of an agent. Runs on the thread that reads from it, so that its order is kept; that
/// thread flushes what is written here.
pub(crate) fn receive(proxy: &Arc<Proxy>, connection: &Arc<Connection>, message: &Envelope<'_>) {
    match message.kind() {
        MessageKind::Notification { method, .. } if method == "$/cancel_request" => {
            cancel(proxy, connection, message);
        }
        MessageKind::Notification { .. } => notification(proxy, connection, message),
        MessageKind::Request { id, .. } => request(proxy, connection, message, &id),
        MessageKind::Response { id: Some(id), outcome } => {
            answers::receive(proxy, connection, message, &id, &outcome);
        }
        MessageKind::Response { id: None, .. } => {
            proxy.note(&format!("{} sent an answer without an id", proxy.options.agent));
        }
        MessageKind::Batch => proxy.note(&format!("{} wrote a batch", proxy.options.agent)),
    }
}

/// A line that is no message. Whoever waits for something that it might have been is told.
pub(crate) fn receive_broken(proxy: &Arc<Proxy>, connection: &Arc<Connection>, broken: &Broken) {
    match remedy(broken) {
        Remedy::Refuse(id, refusal) => drop(connection.send_urgent(refusal.to(&id))),
        Remedy::Answer(answer) => {
            if let Some(envelope) = Envelope::parse(&answer) {
                receive(proxy, connection, &envelope);
            }
        }
        Remedy::Nothing => {}
    }
}

fn notification(proxy: &Arc<Proxy>, connection: &Arc<Connection>, message: &Envelope<'_>) {
    let mut splice = Splice::new(message);
    // What is no request gets no answer, but an editor may well act on it.
    if let Err(refusal) = permitted(&mut splice, connection, message) {
        return proxy.note(&format!("{}: {}", proxy.options.agent, refusal.message));
    }
    let named = Places::of(message, "params.sessionId");
    let Ok(known) = session(proxy, connection, message, &named) else { return };
    if let Some(known) = &known {
        known.counters.received(message.text().len());
        rename(&mut splice, proxy, connection, message, &named, known);
    }
    rewrite::outward(&mut splice, message.text(), &connection.workspace);
    proxy.write_soon(&splice.finish());
}

fn request(proxy: &Arc<Proxy>, connection: &Arc<Connection>, message: &Envelope<'_>, id: &Id<'_>) {
    let mut splice = Splice::new(message);
    // An agent that does not read its answers has only itself to blame.
    let refuse = |refusal: &Refusal| drop(connection.send_urgent(refusal.to(id)));
    let named = Places::of(message, "params.sessionId");
    let known = match session(proxy, connection, message, &named) {
        Ok(known) => known,
        Err(Unknown::Held) => return,
        Err(Unknown::Dropped(said)) => return refuse(&Refusal::no_session(&said)),
    };
    if let Err(refusal) = permitted(&mut splice, connection, message) {
        proxy.note(&format!("{}: {}", proxy.options.agent, refusal.message));
        return refuse(&refusal);
    }
    if let Some(known) = &known {
        known.counters.received(message.text().len());
        known.counters.asked.fetch_add(1, Relaxed);
        rename(&mut splice, proxy, connection, message, &named, known);
    }
    // A question about one of the editor's own requests, such as a login.
    splice.replace("params.requestId", |raw| {
        let state = connection.state();
        let number: Id<'_> = number(raw)?;
        state.requests.get(&number)?.0.as_ref().map(|id| id.raw().to_owned())
    });
    rewrite::outward(&mut splice, message.text(), &connection.workspace);
    let key = (connection.number, id.clone().into_owned());
    let ours = {
        let mut table = proxy.table();
        if table.asked.len() >= MOST_QUESTIONS || id.raw().len() > LONGEST_ID {
            drop(table);
            return refuse(&Refusal::new(INTERNAL, "too many questions are unanswered"));
        }
        table.asked.issue(key, Arc::clone(connection))
    };
    splice.replace("id", |_| Some(ours.to_string()));
    proxy.write_soon(&splice.finish());
}

/// Whether the editor may be asked this. What it does, it does outside any containment.
///
/// A method that comes twice must be harmless both times: nobody knows which the editor takes.
fn permitted(
    splice: &mut Splice<'_>,
    connection: &Connection,
    message: &Envelope<'_>,
) -> Result<(), Refusal> {
    let is_harmless = |method: &str| !method.starts_with("fs/") && !method.starts_with("terminal/");
    if !message.has_part_twice() && message.method().is_none_or(|method| is_harmless(&method)) {
        return Ok(());
    }
    let workspace = &connection.workspace;
    for raw in find(message, "method") {
        let method = content(raw);
        if method.starts_with("terminal/") && !workspace.terminals {
            let what = format!("{method}: commands run inside, not in the editor's terminal");
            return Err(Refusal::new(METHOD_NOT_FOUND, what));
        }
        if method.starts_with("fs/") && !workspace.files {
            let what = format!(
                "{method}: sandboxed agents read and write the workspace themselves \
                 (`acp.fs = \"editor\"` in your own configuration allows this)"
            );
            return Err(Refusal::new(METHOD_NOT_FOUND, what));
        }
        rewrite::confine(splice, message, &method, workspace)
            .map_err(|outside| Refusal::new(INVALID_PARAMS, format!("{method}: {outside}")))?;
    }
    Ok(())
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
        proxy.write_soon(&splice.finish());
    }
}

/// The message is not the editor's to see.
enum Unknown {
    /// Not yet.
    Held,
    /// Never; with what the agent calls the session.
    Dropped(String),
}

/// The session that a message is about, if it is about one.
fn session(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    message: &Envelope<'_>,
    named: &Places,
) -> Result<Option<Known>, Unknown> {
    let raw = named.last().and_then(|place| message.text().get(place));
    let Some(raw) = raw else { return Ok(None) };
    if raw == "null" {
        return Ok(None);
    }
    let said = content(raw);
    match connection.whose(&said, message.text()) {
        Whose::Known(known) => Ok(Some(known)),
        Whose::Held => Err(Unknown::Held),
        Whose::Repeated => Err(Unknown::Dropped(said.into_owned())),
        Whose::Strangers { count } => {
            // A flood of them is told in few lines.
            if count.is_power_of_two() {
                let agent = &proxy.options.agent;
                let id = proxy.masked(&said.chars().take(100).collect::<String>());
                let what = format!("{agent} speaks of a session that it never announced: {id}");
                proxy.observer.warning(&format!("{what} (message {count} of this kind, dropped)"));
            }
            Err(Unknown::Dropped(said.into_owned()))
        }
    }
}

/// Puts the editor's ids of sessions in the place of the agent's.
fn rename(
    splice: &mut Splice<'_>,
    proxy: &Proxy,
    connection: &Connection,
    message: &Envelope<'_>,
    named: &Places,
    known: &Known,
) {
    splice.replace_at(named, |_| Some(quoted(&known.id)));
    // Updates about other sessions, such as a subagent's, name them too.
    if names_others(message.text(), named) {
        let others = [
            "params.update.sessionId",
            "params.update.senderSessionId",
            "params.update.recipientSessionId",
        ];
        splice.replace_any(&others, |raw| {
            let other = proxy.adopt(connection, &content(raw))?;
            Some(quoted(&other.id))
        });
    }
}

/// Whether a message may name sessions beside the one that it is about.
fn names_others(text: &str, named: &Places) -> bool {
    if named.len() != 1 {
        return true;
    }
    let Some(place) = named.last() else { return true };
    let (before, after) = (text.get(..place.start), text.get(place.end..));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let key = before.trim_end().strip_suffix(':').map(str::trim_end);
    match key.and_then(|key| key.strip_suffix("sessionId\"")) {
        Some(before) => before.contains("essionId") || after.contains("essionId"),
        None => true,
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
