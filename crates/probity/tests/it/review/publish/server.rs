//! A forge in memory, which speaks the APIs of GitHub, GitLab and Gitea as far as publishing needs them.
//!
//! It has state, and it checks what it gets: an unknown path, a field that the API does not have, a line
//! that the diff does not show and a missing token are refused. A request that does not fit the published
//! description of the API fails the test.

use std::{
    collections::BTreeSet,
    io::{BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    thread,
};

use serde_json::{Value, json};

use super::{gitea, github, gitlab, openapi};

pub(crate) const BOT: &str = "bot";
pub(crate) const TOKEN: &str = "t0ken-of-the-bot-4711";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Github,
    Gitlab,
    Gitea,
}

pub(crate) const APIS: [Api; 3] = [Api::Github, Api::Gitlab, Api::Gitea];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) id: u64,
    pub(crate) author: String,
    pub(crate) body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForgeThread {
    pub(crate) id: u64,
    pub(crate) file: String,
    pub(crate) start: u64,
    pub(crate) line: u64,
    pub(crate) resolved_by: Option<String>,
    pub(crate) notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForgeStatus {
    pub(crate) id: u64,
    pub(crate) commit: String,
    pub(crate) state: String,
    pub(crate) description: String,
}

/// A pull request. Everything that a publisher could do twice is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) head: String,
    pub(crate) is_open: bool,
    pub(crate) file: String,
    pub(crate) hunks: String,
    pub(crate) comments: Vec<Note>,
    pub(crate) threads: Vec<ForgeThread>,
    pub(crate) statuses: Vec<ForgeStatus>,
    pub(crate) writers: BTreeSet<String>,
    /// Whether the token is that of an app, which alone may make check runs.
    pub(crate) is_app: bool,
    pub(crate) last_id: u64,
}

impl State {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(crate) fn thread(&mut self, file: &str, start: u64, line: u64, body: &str) -> Reply {
        if file != self.file || !self.shows(start) || !self.shows(line) {
            return refused(422, "the line is not part of the diff");
        }
        let (id, note) = (self.next_id(), self.next_id());
        let notes = vec![Note { id: note, author: BOT.to_owned(), body: body.to_owned() }];
        let (file, resolved_by) = (file.to_owned(), None);
        self.threads.push(ForgeThread { id, file, start, line, resolved_by, notes });
        reply(json!({ "id": id }))
    }

    fn shows(&self, line: u64) -> bool {
        let header = self.hunks.lines().next().unwrap();
        let new = header.split('+').nth(1).unwrap().split(' ').next().unwrap();
        let (start, count) = new.split_once(',').unwrap();
        let (start, count): (u64, u64) = (start.parse().unwrap(), count.parse().unwrap());
        (start..start + count).contains(&line)
    }

    pub(crate) fn comment(&mut self, body: &str) -> Reply {
        let id = self.next_id();
        self.comments.push(Note { id, author: BOT.to_owned(), body: body.to_owned() });
        reply(json!({ "id": id }))
    }

    /// Replaces a note, if it is the bot's.
    pub(crate) fn edit(&mut self, id: &str, body: &str) -> Reply {
        let in_threads = self.threads.iter_mut().flat_map(|thread| thread.notes.iter_mut());
        let mut all = in_threads.chain(self.comments.iter_mut());
        match all.find(|note| note.id.to_string() == id) {
            Some(note) if note.author == BOT => {
                body.clone_into(&mut note.body);
                reply(json!({ "id": note.id }))
            }
            Some(_) => refused(403, "that is somebody else's"),
            None => refused(404, "Not Found"),
        }
    }

    pub(crate) fn resolve(&mut self, id: &str, is_resolved: bool) -> Reply {
        match self.threads.iter_mut().find(|thread| thread.id.to_string() == id) {
            Some(thread) => {
                thread.resolved_by = is_resolved.then(|| BOT.to_owned());
                reply(json!({ "id": thread.id }))
            }
            None => refused(404, "Not Found"),
        }
    }

    pub(crate) fn status(&mut self, commit: &str, state: &str, description: &str) -> Reply {
        if commit != self.head {
            return refused(422, "No commit found");
        }
        let id = self.next_id();
        let text = str::to_owned;
        let (commit, state, description) = (text(commit), text(state), text(description));
        self.statuses.push(ForgeStatus { id, commit, state, description });
        reply(json!({ "id": id }))
    }
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: String,
}

pub(crate) fn reply(value: Value) -> Reply {
    Reply { status: 200, body: value.to_string().into_bytes(), headers: String::new() }
}

pub(crate) fn refused(status: u16, message: &str) -> Reply {
    Reply { status, ..reply(json!({ "message": message })) }
}

/// One request, without its query.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: Vec<&'a str>,
    pub(crate) query: &'a str,
    pub(crate) body: &'a Value,
}

impl Asked<'_> {
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap()
    }

    /// Refuses fields that the API does not have.
    #[track_caller]
    pub(crate) fn only(&self, names: &[&str]) {
        for name in self.body.as_object().unwrap().keys() {
            assert!(names.contains(&name.as_str()), "{} {:?}: {name}", self.method, self.path);
        }
    }

    /// The first page of everything.
    pub(crate) fn is_later_page(&self) -> bool {
        self.page() > 1
    }

    pub(crate) fn page(&self) -> usize {
        let page = self.query.split('&').find_map(|part| part.strip_prefix("page="));
        page.map_or(1, |page| page.parse().unwrap())
    }
}

struct Shared {
    state: State,
    /// Refuses what writes to such paths, with this status.
    refusal: Option<(&'static str, u16)>,
    /// How many requests are refused for now, and for how many seconds.
    limited: (u32, u64),
    writes: usize,
    /// Requests that the published description of the API does not allow.
    faults: Vec<String>,
    /// Bodies of GraphQL requests.
    queries: Vec<Value>,
}

pub(crate) struct Forge {
    pub(crate) api: Api,
    port: u16,
    shared: Arc<Mutex<Shared>>,
}

impl Forge {
    /// The thread ends with the test's process.
    pub(crate) fn start(api: Api, head: &str, file: &str, hunks: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State {
            head: head.to_owned(),
            is_open: true,
            file: file.to_owned(),
            hunks: hunks.to_owned(),
            comments: Vec::new(),
            threads: Vec::new(),
            statuses: Vec::new(),
            writers: BTreeSet::from([BOT.to_owned(), "maintainer".to_owned()]),
            is_app: true,
            last_id: 100,
        };
        let shared = Shared {
            state,
            refusal: None,
            limited: (0, 0),
            writes: 0,
            faults: Vec::new(),
            queries: Vec::new(),
        };
        let shared = Arc::new(Mutex::new(shared));
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = Arc::clone(&served);
                thread::spawn(move || serve(stream, api, &served));
            }
        });
        Self { api, port, shared }
    }

    pub(crate) fn address(&self) -> String {
        let path = match self.api {
            Api::Github => "",
            Api::Gitlab => "/api/v4",
            Api::Gitea => "/api/v1",
        };
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    pub(crate) fn state(&self) -> State {
        self.lock().state.clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock().state);
    }

    pub(crate) fn refuse_writes(&self, status: u16) {
        self.refuse_writes_to("", status);
    }

    /// Refuses only what writes to paths with this part.
    pub(crate) fn refuse_writes_to(&self, part: &'static str, status: u16) {
        self.lock().refusal = Some((part, status));
    }

    pub(crate) fn limit(&self, requests: u32, seconds: u64) {
        self.lock().limited = (requests, seconds);
    }

    pub(crate) fn writes(&self) -> usize {
        self.lock().writes
    }

    /// What was wrong with the requests until now, which then no longer fails the test.
    pub(crate) fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().faults)
    }

    pub(crate) fn queries(&self) -> Vec<Value> {
        self.lock().queries.clone()
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        if !thread::panicking() {
            let faults = self.take_faults();
            assert!(faults.is_empty(), "{faults:#?}");
        }
    }
}

fn serve(mut stream: TcpStream, api: Api, shared: &Mutex<Shared>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some((first, headers, body)) = request(&mut reader) {
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let reply = answer(api, method, target, &headers, &body, &mut shared.lock().unwrap());
        let head = format!(
            "HTTP/1.1 {} Status\r\nContent-Length: {}\r\n{}\r\n",
            reply.status,
            reply.body.len(),
            reply.headers
        );
        if stream.write_all(&[head.as_bytes(), &reply.body].concat()).is_err() {
            return;
        }
    }
}

/// The first line, the other lines in lower case, and the body.
fn request(reader: &mut impl std::io::BufRead) -> Option<(String, String, Value)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
    let mut headers = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Some((first.trim().to_owned(), headers, body))
}

fn answer(
    api: Api,
    method: &str,
    target: &str,
    headers: &str,
    body: &Value,
    shared: &mut Shared,
) -> Reply {
    let expected = match api {
        Api::Github => format!("authorization: Bearer {TOKEN}"),
        Api::Gitlab => format!("private-token: {TOKEN}"),
        Api::Gitea => format!("authorization: token {TOKEN}"),
    };
    if !headers.lines().any(|line| line == expected) {
        return refused(401, "Bad credentials");
    }
    if shared.limited.0 > 0 {
        shared.limited.0 -= 1;
        let headers = format!("Retry-After: {}\r\n", shared.limited.1);
        return Reply { headers, ..refused(429, "Too many requests") };
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let prefix = ["/api/v4/", "/api/v1/", "/"];
    let path = prefix.iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap();
    if let Some(fault) = openapi::fault(api, method, path, query, body) {
        shared.faults.push(fault);
        return refused(422, "the description of the API does not allow this");
    }
    if path == "graphql" {
        shared.queries.push(body.clone());
    }
    let asked = Asked { method, path: path.split('/').collect(), query, body };
    let is_query = path == "graphql" && body["query"].as_str().unwrap().starts_with("query");
    if method != "GET" && !is_query {
        if let Some((part, status)) = shared.refusal
            && path.contains(part)
        {
            return refused(status, "Resource not accessible by integration");
        }
        shared.writes += 1;
    }
    match api {
        Api::Github => github::answer(&asked, &mut shared.state),
        Api::Gitlab => gitlab::answer(&asked, &mut shared.state),
        Api::Gitea => gitea::answer(&asked, &mut shared.state),
    }
}
