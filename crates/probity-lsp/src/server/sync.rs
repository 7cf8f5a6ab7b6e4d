//! Open, changed, saved and closed documents; files and folders that change beside them.

use gen_lsp_types::{
    DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, Uri,
};
use lsp_server::Notification;
use probity_check::OpenTexts;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Server;
use crate::{document::Document, host::DocumentKind, uri};

impl Server {
    pub(super) fn document_notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => with(&method, params, |params| self.open(params)),
            "textDocument/didChange" => with(&method, params, |params| self.change(params)),
            "textDocument/didClose" => with(&method, params, |params| self.close(&params)),
            "textDocument/didSave"
            | "workspace/didChangeWatchedFiles"
            | "workspace/didChangeConfiguration" => self.files_changed(),
            "workspace/didChangeWorkspaceFolders" => {
                with(&method, params, |params| self.folders_changed(params));
            }
            // Other notifications need no answer, whoever sent them.
            _ => tracing::debug!("`{method}` is not known here"),
        }
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let path = uri::to_path(&item.uri).unwrap_or_else(|| {
            let folder = self.client.folders.first().cloned().unwrap_or_default();
            folder.join("Dockerfile")
        });
        let language = String::from(item.language_id);
        let kind = self.host.kind(&path, &language);
        self.opened += 1;
        let document = Document {
            uri: item.uri.clone(),
            path,
            kind,
            version: item.version,
            text: item.text,
            revision: self.opened << 32,
            touched: self.touch(),
            report: None,
        };
        self.documents.insert(item.uri.0.clone(), document);
        self.text_changed(&item.uri, kind);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.text_document_identifier.uri;
        let touched = self.touch();
        let Some(document) = self.documents.get_mut(&uri.0) else {
            tracing::warn!("a change of {uri}, which is not open");
            return;
        };
        document.change(params.content_changes, self.client.encoding);
        document.version = params.text_document.version;
        document.revision += 1;
        document.touched = touched;
        let kind = document.kind;
        self.text_changed(&uri, kind);
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) {
        let uri = &params.text_document.uri;
        let Some(document) = self.documents.remove(&uri.0) else { return };
        self.parked_is_gone(uri);
        if document.kind != DocumentKind::Other {
            // Whoever closes a document wants to see nothing of it.
            self.publish(uri, None, &[]);
        }
        if document.kind != DocumentKind::Dockerfile {
            self.collect_open_texts();
            self.files_changed();
        }
    }

    /// A number that is larger than every one before.
    fn touch(&mut self) -> u64 {
        self.touches += 1;
        self.touches
    }

    /// A configuration that is open counts before it is saved, and so does every other file that a
    /// check reads.
    fn text_changed(&mut self, uri: &Uri, kind: DocumentKind) {
        if kind == DocumentKind::Dockerfile {
            return;
        }
        self.collect_open_texts();
        if kind == DocumentKind::Config {
            self.publish_open_config(uri);
        }
        self.files_changed();
    }

    /// What is known about Dockerfiles may have changed with a file beside them.
    fn files_changed(&mut self) {
        self.host.reload();
        let mut is_stale = false;
        for document in self.dockerfiles() {
            document.revision += 1;
            is_stale = true;
        }
        if is_stale && self.client.pulls_diagnostics && self.client.refreshes_diagnostics {
            self.ask_client("workspace/diagnostic/refresh", Value::Null);
        }
    }

    fn folders_changed(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let paths = |folders: Vec<gen_lsp_types::WorkspaceFolder>| {
            folders.into_iter().filter_map(|folder| uri::to_path(&folder.uri)).collect::<Vec<_>>()
        };
        let (added, removed) = (paths(params.event.added), paths(params.event.removed));
        self.client.folders.retain(|folder| !removed.contains(folder));
        self.client.folders.extend(added);
        self.files_changed();
    }

    /// Collects the texts that count instead of files. Checks do not read other Dockerfiles, so a
    /// keystroke in one copies no text of another document.
    fn collect_open_texts(&mut self) {
        let others =
            self.documents.values().filter(|document| document.kind != DocumentKind::Dockerfile);
        let text = |document: &Document| (document.path.clone(), document.text.as_str().into());
        self.open_texts = OpenTexts::new(others.map(text).collect());
    }

    /// What the server believes a document to be, for whoever doubts it.
    pub(super) fn view_text(&self, params: &Value) -> Value {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
        self.documents.get(uri).map_or(
            Value::Null,
            |document| json!({ "text": document.text, "version": document.version }),
        )
    }
}

/// Hands the parameters on, if they are what the protocol says.
fn with<P: DeserializeOwned>(method: &str, params: Value, work: impl FnOnce(P)) {
    match serde_json::from_value(params) {
        Ok(params) => work(params),
        Err(error) => tracing::warn!("`{method}` with parameters that cannot be read: {error}"),
    }
}
