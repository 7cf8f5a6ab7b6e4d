//! Requests about documents: who answers, and what happens when nobody can.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gen_lsp_types::Uri;
use lsp_server::{ErrorCode, Request, RequestId};
use serde_json::Value;

use super::{Parked, Server};
use crate::{
    capabilities::EXPLAIN,
    features::{self, Needs, Refused, View},
    host::DocumentKind,
};

impl Server {
    pub(super) fn document_request(&mut self, request: Request) {
        match request.method.as_str() {
            "probity/viewFileText" => {
                let text = self.view_text(&request.params);
                self.respond(request.id, &text);
            }
            "workspace/executeCommand" => self.command(request.id, &request.params),
            "codeAction/resolve" => self.resolve(request.id, request.params),
            _ => self.feature(request),
        }
    }

    fn feature(&mut self, request: Request) {
        let Some(feature) = features::named(&request.method) else {
            let what = format!("`{}` is not known here", request.method);
            return self.respond_error(request.id, ErrorCode::MethodNotFound, &what);
        };
        let uri = request.params.pointer("/textDocument/uri").and_then(Value::as_str);
        let Some(document) = uri.and_then(|uri| self.documents.get(uri)) else {
            let what = "the request names no open document";
            return self.respond_error(request.id, ErrorCode::InvalidParams, what);
        };
        let is_waiting = feature.needs == Needs::Report
            && document.kind == DocumentKind::Dockerfile
            && document.current_report().is_none();
        if is_waiting {
            let uri: Uri = document.uri.clone();
            return self.parked.push(Parked { uri, request });
        }
        let Request { id, params, .. } = request;
        let view = View::new(document, &*self.host, &self.client, &self.open_texts);
        let answer = guarded(|| (feature.answer)(&view, params));
        self.answer(id, answer);
    }

    pub(super) fn answer(&self, id: RequestId, answer: Result<Value, Refused>) {
        match answer {
            Ok(value) => self.respond(id, &value),
            Err(Refused::Parameters(error)) => {
                self.respond_error(id, ErrorCode::InvalidParams, &error.to_string());
            }
            Err(Refused::Failed(what)) => {
                self.respond_error(id, ErrorCode::RequestFailed, &what);
            }
            Err(Refused::Outdated) => {
                let what = "the document has changed since the action was offered";
                self.respond_error(id, ErrorCode::ContentModified, what);
            }
            Err(Refused::Broken) => {
                let what = "the server failed at this request; its log has the place";
                self.respond_error(id, ErrorCode::InternalError, what);
            }
        }
    }

    /// `probity.explain`: the manual page of a rule, for editors that open it as a document.
    fn command(&self, id: RequestId, params: &Value) {
        let command = params.get("command").and_then(Value::as_str).unwrap_or_default();
        if command != EXPLAIN {
            let what = format!("`{command}` is not a command of this server");
            return self.respond_error(id, ErrorCode::InvalidParams, &what);
        }
        let rule = params.pointer("/arguments/0").and_then(Value::as_str).unwrap_or_default();
        match self.host.explain(rule) {
            Some(page) => self.respond(id, &page),
            None => {
                let what = format!("unknown rule `{rule}`; `probity rules` lists them all");
                self.respond_error(id, ErrorCode::RequestFailed, &what);
            }
        }
    }
}

/// A mistake of ours ends one request, not the session of whoever edits.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Refused>) -> Result<T, Refused> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Refused::Broken))
}
