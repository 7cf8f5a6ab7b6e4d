//! From `initialize` to `exit`, and which messages are heard in between.

use lsp_server::{ErrorCode, Notification, Request};
use serde_json::Value;

use super::{Phase, Server, ServerEnd};
use crate::{capabilities, client::Client};

impl Server {
    pub(super) fn request(&mut self, request: Request) {
        let Request { id, method, params } = &request;
        match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => {
                self.client = Client::of(params);
                self.phase = Phase::Running;
                let answer = capabilities::introduction(&self.client, self.host.version());
                self.respond(id.clone(), &answer);
            }
            (Phase::New, _) => {
                let what = "the first request has to be `initialize`";
                self.respond_error(id.clone(), ErrorCode::ServerNotInitialized, what);
            }
            (Phase::ShutDown | Phase::Over(_), _) => {
                let what = "the server is shut down; only `exit` is left";
                self.respond_error(id.clone(), ErrorCode::InvalidRequest, what);
            }
            (Phase::Running, "initialize") => {
                let what = "`initialize` was sent before";
                self.respond_error(id.clone(), ErrorCode::InvalidRequest, what);
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.cancel_all();
                self.respond(id.clone(), &Value::Null);
            }
            (Phase::Running, _) => self.document_request(request),
        }
    }

    pub(super) fn notification(&mut self, notification: Notification) {
        match (self.phase, notification.method.as_str()) {
            (phase, "exit") => {
                let is_orderly = phase == Phase::ShutDown;
                self.phase =
                    Phase::Over(if is_orderly { ServerEnd::Orderly } else { ServerEnd::Abrupt });
            }
            (Phase::Running, "initialized") if self.client.registers_watchers => {
                self.ask_client("client/registerCapability", capabilities::watchers());
            }
            (Phase::Running, _) => self.document_notification(notification),
            // The protocol drops what comes before `initialize` and after `shutdown`.
            _ => {}
        }
    }
}
