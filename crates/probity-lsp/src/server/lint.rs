//! The lint thread, and what becomes of its reports.

use std::{io, path::PathBuf, sync::Arc};

use crossbeam_channel::{Sender, unbounded};
use gen_lsp_types::{Diagnostic, Uri};
use lsp_server::{ErrorCode, Message};
use probity_check::OpenTexts;
use serde_json::{Value, json};

use super::{Event, Server, requests::guarded, spawn};
use crate::{
    document::Document,
    features::diagnostics,
    frame::Incoming,
    host::{ConfigFile, DocumentKind, Host, Report, Subject},
    lines::Lines,
    uri,
};

/// One text to check.
pub(super) struct Job {
    uri: Uri,
    path: PathBuf,
    revision: u64,
    text: String,
    folder: Option<PathBuf>,
    open_texts: OpenTexts,
}

/// What was found about it.
#[derive(Debug)]
pub(super) struct Linted {
    uri: Uri,
    revision: u64,
    report: Report,
}

pub(super) fn start(host: Arc<dyn Host>, events: Sender<Event>) -> io::Result<Sender<Job>> {
    let (jobs, waiting) = unbounded::<Job>();
    spawn("lint", move || {
        for job in waiting {
            let Job { uri, path, revision, text, folder, open_texts } = job;
            let (folder, open_texts) = (folder.as_deref(), &open_texts);
            let subject = Subject { path: &path, text: &text, folder, open_texts };
            // A document that no rule was prepared for must not end the checks of all others.
            let report = guarded(|| Ok(host.check(&subject))).unwrap_or_default();
            if events.send(Event::Linted(Linted { uri, revision, report })).is_err() {
                return;
            }
        }
    })?;
    Ok(jobs)
}

impl Server {
    /// Gives the lint thread the next document whose report is out of date: first one that a request
    /// waits for, then the one that was changed last, where somebody is at work.
    pub(super) fn start_lint(&mut self) {
        if self.is_linting {
            return;
        }
        let stale = self.documents.values().filter(|document| {
            document.kind == DocumentKind::Dockerfile && document.current_report().is_none()
        });
        let is_awaited =
            |document: &Document| self.parked.iter().any(|parked| parked.uri == document.uri);
        let next = stale.max_by_key(|document| (is_awaited(document), document.touched));
        let Some(document) = next else { return };
        let job = Job {
            uri: document.uri.clone(),
            path: document.path.clone(),
            revision: document.revision,
            text: document.text.clone(),
            folder: self.client.folder_of(&document.path).map(PathBuf::from),
            open_texts: self.open_texts.clone(),
        };
        self.is_linting = self.lint.send(job).is_ok();
    }

    pub(super) fn take_lint(&mut self, linted: Linted) {
        self.is_linting = false;
        let Linted { uri, revision, report } = linted;
        // A change that has arrived and is not applied yet makes the report as old as one that is.
        let is_about = |incoming: &Incoming| {
            let Incoming::Message(Message::Notification(change)) = incoming else { return false };
            change.method == "textDocument/didChange"
                && change.params.pointer("/textDocument/uri").and_then(Value::as_str)
                    == Some(uri.0.as_str())
        };
        if self.queue.iter().any(is_about) {
            return;
        }
        let Some(document) = self.documents.get_mut(&uri.0) else { return };
        if document.revision != revision {
            return;
        }
        let files = report.config_files.clone();
        document.report = Some((revision, report));
        self.publish_configs(&files);
        self.publish_report(&uri);
        self.answer_parked(&uri);
    }

    fn publish_report(&self, uri: &Uri) {
        let Some(document) = self.documents.get(&uri.0) else { return };
        let Some(report) = document.current_report() else { return };
        if !self.client.pulls_diagnostics {
            let lines = document.lines(self.client.encoding);
            let found = diagnostics::of_report(uri, &lines, report);
            self.publish(uri, Some(document.version), &found);
        }
    }

    /// Problems of configuration files are pushed in any case: nobody pulls a file that is not open.
    fn publish_configs(&mut self, files: &[ConfigFile]) {
        for ConfigFile { path, problems } in files {
            let uri = uri::of_path(path);
            // What is open is looked at as it is in the editor.
            if self.documents.contains_key(&uri.0) {
                continue;
            }
            let found: Vec<Diagnostic> = problems.iter().map(diagnostics::of_unopened).collect();
            let shown = json!(found);
            let is_known =
                self.published.get(&uri.0).unwrap_or(&Value::Array(Vec::new())) == &shown;
            if !is_known {
                self.publish(&uri, None, &found);
                self.published.insert(uri.0, shown);
            }
        }
    }

    pub(super) fn publish_open_config(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get(&uri.0) else { return };
        let problems = self.host.config_problems(&document.path, &document.text);
        let lines = Lines::new(&document.text, self.client.encoding);
        let found: Vec<Diagnostic> =
            problems.iter().map(|problem| diagnostics::of_config(&lines, problem)).collect();
        self.publish(uri, Some(document.version), &found);
        self.published.remove(&uri.0);
    }

    pub(super) fn publish(&self, uri: &Uri, version: Option<i32>, found: &[Diagnostic]) {
        let mut params = json!({ "uri": uri, "diagnostics": found });
        if let (Some(version), Value::Object(members)) = (version, &mut params) {
            members.insert("version".to_owned(), json!(version));
        }
        self.notify("textDocument/publishDiagnostics", params);
    }

    fn answer_parked(&mut self, uri: &Uri) {
        let (ready, waiting) =
            std::mem::take(&mut self.parked).into_iter().partition(|parked| parked.uri == *uri);
        self.parked = waiting;
        let ready: Vec<super::Parked> = ready;
        for parked in ready {
            self.document_request(parked.request);
        }
    }

    /// The document that a request waits for was closed.
    pub(super) fn parked_is_gone(&mut self, uri: &Uri) {
        let (gone, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.parked).into_iter().partition(|parked| parked.uri == *uri);
        self.parked = waiting;
        for parked in gone {
            let what = "the document was closed";
            self.respond_error(parked.request.id, ErrorCode::ContentModified, what);
        }
    }
}
