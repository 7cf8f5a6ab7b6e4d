//! The life of one agent: started, introduced, read from, and mourned.

use std::{
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use probity_acp::{Envelope, Frame, FrameReader};
use serde_json::json;

use crate::{
    Started, Workspace,
    connection::{Asked, Connection, Epitaph, Reload},
    from_agent, handshake, introduction,
    message::{self, INTERNAL, Refusal},
    proxy::{LAST_BREATH, Proxy, read_stderr, spawn},
};

/// A new agent in this workspace. It is there at once, and ready when it is.
pub(crate) fn open(
    proxy: &Arc<Proxy>,
    workspace: &Arc<Workspace>,
    reload: Option<Reload>,
) -> Arc<Connection> {
    let connection = {
        let mut table = proxy.table();
        let number = table.next_connection();
        let connection =
            Arc::new(Connection::new(number, Arc::clone(workspace), &proxy.options.limits));
        connection.state().reload = reload;
        table.connections.push(Arc::clone(&connection));
        connection
    };
    let (ours, theirs) = (Arc::clone(proxy), Arc::clone(&connection));
    if !spawn(proxy, "agent", move || live(&ours, &theirs)) {
        bury(proxy, &connection, "no thread could be started for it");
    }
    connection
}

fn live(proxy: &Arc<Proxy>, connection: &Arc<Connection>) {
    let too_late = connection.state().ending || proxy.table().closing;
    if too_late {
        return bury(proxy, connection, "it was ended before it was started");
    }
    match proxy.launcher.start(&connection.workspace) {
        Ok(started) => {
            let why = follow(proxy, connection, started);
            bury(proxy, connection, &why);
        }
        Err(error) => {
            let why = proxy.masked(&error.to_string());
            proxy.note(&format!("{}: {why}", proxy.options.agent));
            bury(proxy, connection, &format!("cannot be started: {why}"));
        }
    }
}

/// Reads from the agent until its end. Gives what can be said about that.
fn follow(proxy: &Arc<Proxy>, connection: &Arc<Connection>, started: Started) -> String {
    let Started { stdin, stdout, stderr, process } = started;
    let process = connection.process.get_or_init(|| process);
    let other = match connection.outgoing.attach(stdin) {
        Ok(Some(other)) => other,
        Ok(None) => {
            process.kill();
            return "was ended while it started".to_owned();
        }
        Err(error) => {
            process.kill();
            return format!("its input cannot be used: {error}");
        }
    };
    let carrier = Arc::clone(connection);
    spawn(proxy, "to-agent", move || carrier.outgoing.carry_on(other));
    let (mourner, teller) = (Arc::clone(connection), Arc::clone(proxy));
    let is_read = read_stderr(proxy, stderr, move |stderr| {
        mourner.tail.follow(stderr, |line| {
            teller.observer.stderr(&teller.options.agent, &teller.masked(line));
        });
    });
    introduce(proxy, connection);
    let mut reader = FrameReader::new(stdout);
    let mut skipped = (0, 0);
    loop {
        let more = match reader.read_frame() {
            Ok(Some(Frame::Message(envelope))) => {
                from_agent::receive(proxy, connection, &envelope);
                true
            }
            Ok(Some(Frame::Broken(broken))) => {
                from_agent::receive_broken(proxy, connection, &broken);
                true
            }
            _ => false,
        };
        // What the agent has said so far leaves in one write, once the next line has to be waited
        // for.
        if !more || !reader.has_line() {
            proxy.flush();
        }
        skipped = proxy.tell_skipped(&proxy.options.agent, reader.skipped(), skipped);
        if !more {
            break;
        }
    }
    let exit = process.wait(LAST_BREATH);
    // What closes its output and lives on is of no use any more.
    process.kill();
    let exit = exit.or_else(|| process.wait(LAST_BREATH));
    // What it said last may still be on its way; the channel only ever ends.
    is_read.recv_timeout(LAST_BREATH).ok();
    match exit {
        Some(code) => format!("ended with exit code {code}"),
        None => "closed its output".to_owned(),
    }
}

/// The first message to an agent.
fn introduce(proxy: &Arc<Proxy>, connection: &Arc<Connection>) {
    let editor = proxy.handshake();
    let watch = watch(proxy, connection, "did not answer initialize in time");
    let asked = Asked::Initialize { _watch: watch };
    let make = |number| handshake::request(number, editor.as_deref(), &connection.workspace);
    // A pipe that is closed already is an output that ends now.
    drop(connection.request_first(asked, make));
}

/// The answer to the first message: the agent is ready, or has to take up a session first.
pub(crate) fn introduced(proxy: &Arc<Proxy>, connection: &Arc<Connection>, result: &str) {
    let abilities = match handshake::abilities(result) {
        Ok(abilities) => abilities,
        Err(why) => return give_up(connection, &why.to_string()),
    };
    let editor = proxy.handshake();
    let client =
        editor.as_deref().and_then(Envelope::parse).map(|asked| introduction::client(&asked));
    proxy.learn(client.as_deref().unwrap_or("{}"), result);
    let reload = {
        let mut state = connection.state();
        state.abilities = abilities;
        state.reload.take()
    };
    let Some(reload) = reload else { return connection.ready() };
    let method = match (abilities.resume, abilities.load) {
        // Without a replay where that is possible: the editor has seen it all.
        (true, _) => "session/resume",
        (false, true) => "session/load",
        (false, false) => return lose(connection, reload.death),
    };
    let params = with_session(&reload);
    let watch = watch(proxy, connection, "did not take up its session in time");
    let asked = Asked::Reload { reload, _watch: watch };
    drop(connection.request_first(asked, |number| message::request(number, method, &params)));
}

/// Ends an agent that cannot go on where the one before it ended: that end is what is told, since
/// this one did nothing wrong.
fn lose(connection: &Connection, death: Option<Epitaph>) {
    let lost = "and cannot take up its session again";
    let Some(Epitaph { how, data }) = death else {
        return give_up(connection, &format!("has ended, {lost}"));
    };
    // Asked once more, it has the same to say.
    let how = if how.ends_with(lost) { how } else { format!("{how} {lost}") };
    connection.state().epitaph = Some(Epitaph { how: how.clone(), data });
    give_up(connection, &how);
}

/// The parameters of the setup with the session's id in front.
fn with_session(reload: &Reload) -> String {
    let rest = reload.setup.trim_start().strip_prefix('{').unwrap_or("}").trim_start();
    let comma = if rest.starts_with('}') { "" } else { "," };
    format!(r#"{{"sessionId":{}{comma}{rest}"#, reload.agent_session)
}

/// Ends an agent that is of no use, for a reason that those who wait for it are told.
pub(crate) fn give_up(connection: &Connection, why: &str) {
    {
        let mut state = connection.state();
        state.ending = true;
        state.reason.get_or_insert_with(|| why.to_owned());
    }
    connection.outgoing.abandon();
    if let Some(process) = connection.process.get() {
        process.kill();
    }
}

/// Ends the agent if the returned sender is not dropped in time.
pub(crate) fn watch(
    proxy: &Arc<Proxy>,
    connection: &Arc<Connection>,
    why: &'static str,
) -> Sender<()> {
    let (watched, watching) = channel::<()>();
    let (watcher, limit) = (Arc::clone(connection), proxy.options.limits.setup);
    spawn(proxy, "watch", move || {
        if watching.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            give_up(&watcher, why);
        }
    });
    watched
}

/// The end of an agent: everybody who still waits for it is told.
fn bury(proxy: &Arc<Proxy>, connection: &Arc<Connection>, how: &str) {
    let tail = proxy.masked(&connection.tail.text());
    let code = connection.process.get().and_then(|process| process.wait(Duration::ZERO));
    let data = json!({"agent": proxy.options.agent, "exitCode": code, "stderr": tail});
    {
        let mut state = connection.state();
        let how = state.reason.clone().unwrap_or_else(|| how.to_owned());
        if !state.ending || state.reason.is_some() {
            proxy.note(&format!("{} {how}", proxy.options.agent));
        }
        state.epitaph.get_or_insert(Epitaph { how, data });
    }
    let unanswered = connection.died();
    {
        let mut table = proxy.table();
        table.connections.retain(|other| !Arc::ptr_eq(other, connection));
        // What it had asked nobody needs to know any more.
        drop(table.asked.take_all(|(number, _), _| *number == connection.number));
    }
    for (id, asked) in unanswered {
        let Some(id) = id else { continue };
        let answer = match asked {
            // An agent that is gone has closed all its sessions.
            Asked::Close { .. } => message::result(&id, "{}"),
            asked => obituary(proxy, connection, asked.is_setup()).to(&id),
        };
        proxy.write(&answer);
    }
}

/// What is said to who asked an agent that is gone.
pub(crate) fn obituary(proxy: &Proxy, connection: &Connection, is_setup: bool) -> Refusal {
    let (code, what) = if is_setup {
        (proxy.options.start_failure_code, "Failed to create session: ")
    } else {
        (INTERNAL, "")
    };
    let agent = &proxy.options.agent;
    match connection.state().epitaph.clone() {
        Some(Epitaph { how, data }) => {
            Refusal::new(code, format!("{what}the agent {agent} {how}")).with_data(data)
        }
        None => Refusal::new(code, format!("{what}the agent {agent} has ended")),
    }
}
