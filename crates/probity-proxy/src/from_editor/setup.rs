//! Requests that bring a session, or look for one: they find their agent by its workspace.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_acp::{Envelope, Id, Splice, find};
use serde_json::{Value, json};

use super::{living, named_session, open_session, send, translate};
use crate::{
    SessionRecord, Sharing, Workspace,
    connection::{Asked, Connection},
    figures::Counters,
    literal::{content, text},
    message::{self, INVALID_PARAMS, Refusal},
    proxy::Proxy,
    start,
    table::{Listing, Session},
};

/// `session/new`.
pub(super) fn create(
    proxy: &Arc<Proxy>,
    message: &Envelope<'_>,
    id: &Id<'_>,
) -> Result<(), Refusal> {
    let cwd = cwd(message).ok_or_else(|| Refusal::new(INVALID_PARAMS, "params.cwd is missing"))?;
    let workspace = workspace(proxy, Path::new(&cwd), &directories(message)?)?;
    let connection = room(proxy, &workspace)?;
    let setup = setup_of(&connection, message);
    let watch = start::watch(proxy, &connection, "did not make a session in time");
    let asked = Asked::Create { workspace, setup, _watch: watch };
    send(proxy, &connection, asked, id, message, None)
}

/// `session/load` and `session/resume`: of a session that is open, or of an earlier run.
pub(super) fn load(proxy: &Arc<Proxy>, message: &Envelope<'_>, id: &Id<'_>) -> Result<(), Refusal> {
    let name = named_session(message)?;
    let open = proxy.table().sessions.get(&*name).cloned();
    if let Some(session) = open.filter(|session| !session.connection.is_dead()) {
        refuse_more(proxy, &session, message)?;
        let asked = Asked::Forward;
        let agent_session = Some(&*session.agent_session);
        return send(proxy, &session.connection, asked, id, message, agent_session);
    }
    let record = record(proxy, &name)?;
    let cwd = cwd(message).map_or_else(|| record.cwd.clone(), Into::into);
    let workspace = workspace(proxy, &cwd, &directories(message)?)?;
    if workspace.root != record.root {
        let belongs = format!("this session belongs to {}", record.root.display());
        return Err(Refusal::new(INVALID_PARAMS, belongs));
    }
    let connection = room(proxy, &workspace)?;
    let session = Arc::new(Session {
        id: name.as_str().into(),
        agent_session: record.agent_session.clone(),
        workspace,
        setup: setup_of(&connection, message),
        connection: Arc::clone(&connection),
        counters: Arc::new(Counters::new()),
    });
    let said = content(&record.agent_session).into_owned();
    // Before the request: the agent repeats what was said before it answers.
    connection.state().sessions.insert(said, session.known());
    proxy.table().sessions.insert(Arc::clone(&session.id), Arc::clone(&session));
    let watch = start::watch(proxy, &connection, "did not load the session in time");
    let asked = Asked::Load { session: Arc::clone(&session.id), _watch: watch };
    send(proxy, &connection, asked, id, message, Some(&record.agent_session))
}

/// `session/fork`: the new session shares the agent of the old.
pub(super) fn fork(proxy: &Arc<Proxy>, message: &Envelope<'_>, id: &Id<'_>) -> Result<(), Refusal> {
    let session = living(proxy, open_session(proxy, message)?)?;
    refuse_more(proxy, &session, message)?;
    let connection = &session.connection;
    let setup = match cwd(message) {
        Some(_) => setup_of(connection, message),
        None => session.setup.clone(),
    };
    let watch = start::watch(proxy, connection, "did not fork the session in time");
    let workspace = Arc::clone(&session.workspace);
    let asked = Asked::Create { workspace, setup, _watch: watch };
    send(proxy, connection, asked, id, message, Some(&session.agent_session))
}

/// `session/list`: asked of an agent in the directory that is named, or of one in each workspace.
pub(super) fn list(proxy: &Arc<Proxy>, message: &Envelope<'_>, id: &Id<'_>) -> Result<(), Refusal> {
    let connections = match cwd(message) {
        Some(cwd) => vec![any_in(proxy, &workspace(proxy, Path::new(&cwd), &[])?)?],
        None => one_in_each(proxy),
    };
    let listing = Arc::new(Listing::new(id.clone().into_owned(), connections.len()));
    if connections.is_empty() {
        proxy.answer(message::result(id, &remembered(proxy)));
        return Ok(());
    }
    for connection in &connections {
        let asked = Asked::List(Arc::clone(&listing));
        send(proxy, connection, asked, id, message, None)?;
    }
    Ok(())
}

/// `session/delete`.
pub(super) fn delete(
    proxy: &Arc<Proxy>,
    message: &Envelope<'_>,
    id: &Id<'_>,
) -> Result<(), Refusal> {
    let name = named_session(message)?;
    let record = record(proxy, &name)?;
    let open = proxy.table().sessions.get(&*name).cloned();
    let connection = match open.filter(|session| !session.connection.is_dead()) {
        Some(session) => Arc::clone(&session.connection),
        None => any_in(proxy, &workspace(proxy, &record.cwd, &[])?)?,
    };
    let asked = Asked::Delete { session: name.as_str().into() };
    send(proxy, &connection, asked, id, message, Some(&record.agent_session))
}

/// An agent for what names no directory.
pub(super) fn anywhere(proxy: &Arc<Proxy>) -> Result<Arc<Connection>, Refusal> {
    let missing = || Refusal::new(INVALID_PARAMS, "no agent is running yet: open a session first");
    let cwd = proxy.options.default_cwd.clone().ok_or_else(missing)?;
    any_in(proxy, &workspace(proxy, &cwd, &[])?)
}

fn cwd(message: &Envelope<'_>) -> Option<String> {
    let raw = find(message, "params.cwd").last().copied()?;
    text(raw).map(std::borrow::Cow::into_owned)
}

/// The directories beside the working directory that a setup names.
fn directories(message: &Envelope<'_>) -> Result<Vec<PathBuf>, Refusal> {
    let named = find(message, "params.additionalDirectories.*").into_iter();
    let paths = named.map(|raw| text(raw).map(|path| PathBuf::from(&*path)));
    let paths = paths.map(|path| path.filter(|path| path.is_absolute()));
    let what = "params.additionalDirectories has something that is not an absolute path";
    paths.collect::<Option<_>>().ok_or_else(|| Refusal::new(INVALID_PARAMS, what))
}

/// What an agent can see is settled when it starts.
fn refuse_more(proxy: &Proxy, session: &Session, message: &Envelope<'_>) -> Result<(), Refusal> {
    let named = directories(message)?;
    if named.is_empty() {
        return Ok(());
    }
    let wanted = workspace(proxy, &session.workspace.cwd, &named)?;
    if session.connection.workspace.covers(&wanted) {
        return Ok(());
    }
    let what = "directories cannot be added to an open session: close it first";
    Err(Refusal::new(INVALID_PARAMS, what))
}

fn workspace(proxy: &Proxy, cwd: &Path, more: &[PathBuf]) -> Result<Arc<Workspace>, Refusal> {
    if !cwd.is_absolute() {
        return Err(Refusal::new(INVALID_PARAMS, "params.cwd is not an absolute path"));
    }
    proxy.launcher.workspace(cwd, more).map(Arc::new).map_err(|error| {
        let what = format!("Failed to create session: {error}");
        Refusal::new(proxy.options.start_failure_code, what)
    })
}

/// An agent that a session can be put to: an idle one, a shared one, or a new one.
fn room(proxy: &Arc<Proxy>, workspace: &Arc<Workspace>) -> Result<Arc<Connection>, Refusal> {
    let shared = proxy.options.sharing == Sharing::Workspace;
    find_or_open(proxy, workspace, |connection| {
        // No session gets directories that only another one asked for.
        connection.takes_sessions(shared)
            && connection.workspace.directories == workspace.directories
    })
}

/// Any agent of the workspace.
fn any_in(proxy: &Arc<Proxy>, workspace: &Arc<Workspace>) -> Result<Arc<Connection>, Refusal> {
    find_or_open(proxy, workspace, |connection| connection.takes_sessions(true))
}

fn find_or_open(
    proxy: &Arc<Proxy>,
    workspace: &Arc<Workspace>,
    fits: impl Fn(&Connection) -> bool,
) -> Result<Arc<Connection>, Refusal> {
    let found = {
        let table = proxy.table();
        if table.closing {
            let what = "Failed to create session: the proxy is ending";
            return Err(Refusal::new(proxy.options.start_failure_code, what));
        }
        let here = |connection: &&Arc<Connection>| {
            connection.workspace.root == workspace.root && fits(connection)
        };
        table.connections.iter().rev().find(here).cloned()
    };
    Ok(found.unwrap_or_else(|| start::open(proxy, workspace, None)))
}

fn one_in_each(proxy: &Arc<Proxy>) -> Vec<Arc<Connection>> {
    let mut found: Vec<Arc<Connection>> = Vec::new();
    for connection in proxy.table().connections.iter().rev() {
        let is_new = || found.iter().all(|other| other.workspace.root != connection.workspace.root);
        if connection.takes_sessions(true) && is_new() {
            found.push(Arc::clone(connection));
        }
    }
    if found.is_empty() {
        // Where nothing runs and nothing can be started, the list is what we remember.
        found.extend(anywhere(proxy).ok());
    }
    found
}

/// The sessions that we know of, the latest first.
fn remembered(proxy: &Proxy) -> String {
    let table = proxy.table();
    let sessions: Vec<Value> = table
        .records()
        .rev()
        .take(100)
        .map(|record| json!({"sessionId": record.id, "cwd": record.cwd}))
        .collect();
    json!({"sessions": sessions}).to_string()
}

/// What is known of a session, from this run or an earlier one.
fn record(proxy: &Proxy, id: &str) -> Result<SessionRecord, Refusal> {
    let known = proxy.table().record(id).cloned();
    let record = known.or_else(|| proxy.store.session(id));
    record.ok_or_else(|| Refusal::no_session(id))
}

/// The parameters of a setup as the agent gets them, without the session's id.
fn setup_of(connection: &Connection, message: &Envelope<'_>) -> String {
    let mut splice = Splice::new(message);
    translate(&mut splice, connection, message, None);
    let translated = splice.finish();
    let params = Envelope::parse(&translated).and_then(|envelope| {
        let params: Value = serde_json::from_str(envelope.params()?).ok()?;
        Some(params)
    });
    let mut params = params.unwrap_or_else(|| json!({}));
    if let Some(members) = params.as_object_mut() {
        members.remove("sessionId");
    }
    params.to_string()
}
