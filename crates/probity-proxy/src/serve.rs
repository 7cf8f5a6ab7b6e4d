//! The proxy from its first line to its last.

use std::{
    io::{Read, Write},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use probity_acp::{Frame, FrameReader};

use crate::{
    Launcher, Observer, Options, SessionFigures, Side, Store, close,
    connection::Connection,
    editor::Editor,
    from_editor,
    proxy::{Proxy, ProxyEnd, spawn},
};

/// What is left when the editor is gone and all agents have ended.
#[derive(Debug)]
pub struct Finished {
    /// One for each session, in the order in which they ended.
    pub sessions: Vec<SessionFigures>,
}

/// Ends a proxy from outside, as the end of the editor's input would.
#[derive(Clone, Debug)]
pub struct Stopper(Sender<ProxyEnd>);

impl Stopper {
    pub fn stop(&self) {
        // A proxy that has ended needs no stopping.
        drop(self.0.send(ProxyEnd::Stopped));
    }
}

/// Serves one editor until its input ends. No agent is left then.
///
/// `ready` is called once with the handle that ends it from outside.
pub fn serve(
    input: impl Read + Send + 'static,
    output: Box<dyn Write + Send>,
    options: Options,
    launcher: Box<dyn Launcher>,
    store: Box<dyn Store>,
    observer: Box<dyn Observer>,
    ready: impl FnOnce(Stopper),
) -> Finished {
    let (ended, ending) = channel();
    ready(Stopper(ended.clone()));
    let editor = Editor::new(output);
    let proxy = Arc::new(Proxy::new(options, launcher, store, observer, editor, ended));
    let answering = Arc::clone(&proxy);
    spawn(&proxy, "answers", move || {
        answering.editor.write_answers(|message| answering.write(message));
    });
    let reading = Arc::clone(&proxy);
    // Not waited for: a read that nobody ends cannot be called off.
    spawn(&proxy, "editor", move || {
        read(&reading, input);
        drop(reading.ended.send(ProxyEnd::Input));
    });
    let why = await_end(&ending);
    finish(&proxy, &why);
    let mut table = proxy.table();
    let open: Vec<_> = table.sessions.keys().cloned().collect();
    for session in open {
        table.close(&session);
    }
    Finished { sessions: std::mem::take(&mut table.finished) }
}

fn await_end(ending: &Receiver<ProxyEnd>) -> ProxyEnd {
    // The sender lives as long as the proxy.
    ending.recv().unwrap_or(ProxyEnd::Stopped)
}

fn read(proxy: &Arc<Proxy>, input: impl Read) {
    let mut reader = FrameReader::new(input);
    let mut skipped = (0, 0);
    loop {
        let more = match reader.read_frame() {
            Ok(Some(Frame::Message(envelope))) => {
                proxy.observer.message(Side::Client, envelope.text());
                from_editor::receive(proxy, &envelope);
                true
            }
            Ok(Some(Frame::Broken(broken))) => {
                from_editor::receive_broken(proxy, &broken);
                true
            }
            Ok(None) => false,
            Err(error) => {
                proxy.note(&format!("the editor cannot be read: {error}"));
                false
            }
        };
        skipped = proxy.tell_skipped("the editor", reader.skipped(), skipped);
        if !more {
            return;
        }
    }
}

/// How long sessions that are being made may take when the editor sends no more.
const DRAIN: Duration = Duration::from_secs(5);

/// What comes on top of an agent's farewell: its last words still have to be written.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

fn finish(proxy: &Arc<Proxy>, why: &ProxyEnd) {
    let connections = |proxy: &Proxy| proxy.table().connections.clone();
    if *why == ProxyEnd::Input {
        let busy = |connection: &Arc<Connection>| connection.state().setups > 0;
        let limit = proxy.options.limits.introduction;
        wait_while(limit, || proxy.introductions.are_awaited());
        wait_while(DRAIN, || connections(proxy).iter().any(busy));
    }
    proxy.table().closing = true;
    proxy.introductions.end();
    let ending: Vec<_> = connections(proxy)
        .into_iter()
        .filter_map(|connection| {
            let ours = Arc::clone(proxy);
            let work = move || close::end(&ours, &connection);
            thread::Builder::new().name("end".to_owned()).spawn(work).ok()
        })
        .collect();
    for end in ending {
        // None of them panics, and each is bounded.
        drop(end.join());
    }
    let start = proxy.options.limits.farewell + LAST_WORDS;
    wait_while(start, || {
        !connections(proxy).is_empty()
            || proxy.introductions.are_running()
            || proxy.introductions.are_awaited()
    });
    proxy.editor.finish(LAST_WORDS);
}

/// Looks again and again, since what is waited for happens on many threads.
pub(crate) fn wait_while(limit: Duration, still: impl Fn() -> bool) {
    let until = Instant::now() + limit;
    while still() && Instant::now() < until {
        thread::sleep(Duration::from_millis(2));
    }
}
