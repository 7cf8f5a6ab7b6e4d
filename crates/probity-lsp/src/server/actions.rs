//! Actions that are worked out when somebody chooses them; those that ask an agent have a thread.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender};
use gen_lsp_types::CodeAction;
use lsp_server::{ErrorCode, RequestId};
use serde_json::{Value, json};

use super::{Event, Server, requests::guarded, spawn};
use crate::{
    features::{Refused, View, code_actions::Promise, edits},
    host::{AiAnswer, AiRequest, AiWatch, Subject},
};

/// How long the end waits for agents to end, which are told to at once.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// An agent at work.
#[derive(Debug)]
pub(super) struct Asking {
    is_cancelled: Arc<AtomicBool>,
    token: Option<String>,
    action: CodeAction,
    promise: Promise,
}

impl Asking {
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }
}

/// What a thread that asks an agent has to say.
#[derive(Debug)]
pub(super) enum Asked {
    Progress(RequestId, String),
    Done(RequestId, AiAnswer),
}

struct Watch {
    id: RequestId,
    is_cancelled: Arc<AtomicBool>,
    events: Sender<Event>,
}

impl AiWatch for Watch {
    fn progress(&self, message: &str) {
        let progress = Asked::Progress(self.id.clone(), message.to_owned());
        // Without a loop nobody waits for the answer either; the flag says so.
        if self.events.send(Event::Asked(progress)).is_err() {
            self.is_cancelled.store(true, Ordering::SeqCst);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }
}

impl Server {
    /// `codeAction/resolve`: fills in the edit that was left out.
    pub(super) fn resolve(&mut self, id: RequestId, params: Value) {
        let action: CodeAction = match serde_json::from_value(params) {
            Ok(action) => action,
            Err(error) => return self.answer(id, Err(Refused::Parameters(error))),
        };
        let promise = action.data.clone().and_then(|data| serde_json::from_value(data).ok());
        let Some(promise): Option<Promise> = promise else { return self.respond(id, &action) };
        let Some(document) = self.documents.get(&promise.uri) else {
            return self.answer(id, Err(Refused::Outdated));
        };
        if document.revision != promise.revision {
            return self.answer(id, Err(Refused::Outdated));
        }
        if promise.is_for_agent() {
            return self.ask_agent(id, action, promise);
        }
        let view = View::new(document, &*self.host, &self.client, &self.open_texts);
        let answer = guarded(|| Ok(json!(promise.kept(&view, action))));
        self.answer(id, answer);
    }

    fn ask_agent(&mut self, id: RequestId, action: CodeAction, promise: Promise) {
        let Some(document) = self.documents.get(&promise.uri) else { return };
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let watch = Watch {
            id: id.clone(),
            is_cancelled: Arc::clone(&is_cancelled),
            events: self.events.clone(),
        };
        let (host, events) = (Arc::clone(&self.host), self.events.clone());
        let (path, text) = (document.path.clone(), document.text.clone());
        let folder = self.client.folder_of(&path).map(PathBuf::from);
        let open_texts = self.open_texts.clone();
        let (rule, asked_by) = (promise.rule.clone(), id.clone());
        let work = move || {
            let (folder, open_texts) = (folder.as_deref(), &open_texts);
            let subject = Subject { path: &path, text: &text, folder, open_texts };
            let answer = guarded(|| Ok(host.ai_fix(&subject, AiRequest { rule: &rule }, &watch)));
            let answer = answer.unwrap_or_else(|_| AiAnswer::Unchanged {
                reason: "asking the agent failed; the server's log has the place".to_owned(),
            });
            // If the loop is over, nobody waits for the answer.
            drop(events.send(Event::Asked(Asked::Done(asked_by, answer))));
        };
        if let Err(error) = spawn("agent", work) {
            return self.respond_error(id, ErrorCode::InternalError, &error.to_string());
        }
        let token = self.client.shows_progress.then(|| format!("probity/ai/{id}"));
        if let Some(token) = &token {
            self.ask_client("window/workDoneProgress/create", json!({ "token": token }));
            let title = format!("probity: {}", action.title);
            let begin = json!({ "kind": "begin", "title": title, "cancellable": true });
            self.notify("$/progress", json!({ "token": token, "value": begin }));
        }
        self.asking.insert(id, Asking { is_cancelled, token, action, promise });
    }

    pub(super) fn take_answer(&mut self, asked: Asked) {
        let (id, answer) = match asked {
            Asked::Progress(id, message) => {
                let token = self.asking.get(&id).and_then(|asking| asking.token.as_ref());
                if let Some(token) = token {
                    let report = json!({ "kind": "report", "message": message });
                    self.notify("$/progress", json!({ "token": token, "value": report }));
                }
                return;
            }
            Asked::Done(id, answer) => (id, answer),
        };
        let Some(Asking { is_cancelled, token, mut action, promise }) = self.asking.remove(&id)
        else {
            return;
        };
        if let Some(token) = token {
            self.notify("$/progress", json!({ "token": token, "value": { "kind": "end" } }));
        }
        if is_cancelled.load(Ordering::SeqCst) || answer == AiAnswer::Cancelled {
            return self.respond_error(id, ErrorCode::RequestCanceled, "the agent was cancelled");
        }
        let document = self.documents.get(&promise.uri);
        let Some(document) = document.filter(|found| found.revision == promise.revision) else {
            return self.answer(id, Err(Refused::Outdated));
        };
        match answer {
            AiAnswer::Fixed { text, level, reason } => {
                let changes = edits::between(&document.text, &text);
                let lines = document.lines(self.client.encoding);
                let note = edits::Note { label: action.title.clone(), description: reason.clone() };
                let edit = edits::confirmed(document, &lines, &self.client, &changes, note);
                action.edit = Some(edit);
                self.respond(id, &action);
                self.say(3, &format!("{}: {level}. {reason}", promise.rule));
            }
            AiAnswer::Unchanged { reason } => {
                let what = format!("{}: nothing was changed: {reason}", promise.rule);
                self.respond_error(id, ErrorCode::RequestFailed, &what);
                self.say(2, &what);
            }
            AiAnswer::Cancelled => {}
        }
    }

    /// A message that the editor shows: 1 is an error, 2 a warning, 3 information.
    fn say(&self, kind: u32, message: &str) {
        self.notify("window/showMessage", json!({ "type": kind, "message": message }));
    }

    /// The cancel button of a progress display.
    pub(super) fn cancel_progress(&self, params: &Value) {
        let token = params.get("token").and_then(Value::as_str);
        let mut all = self.asking.values();
        if let Some(asking) = all.find(|asking| asking.token.as_deref() == token) {
            asking.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        self.asking.values().for_each(Asking::cancel);
    }

    /// No agent outlives the server.
    pub(super) fn end_asking(&mut self, incoming: &Receiver<Event>) {
        self.cancel_all();
        let until = Instant::now() + LAST_WAIT;
        while !self.asking.is_empty() {
            match incoming.recv_deadline(until) {
                Ok(Event::Asked(asked)) => self.take_answer(asked),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}
