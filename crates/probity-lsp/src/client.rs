//! What the client can do, as far as the server asks.
//!
//! Read from the JSON itself: a client that sends a capability in a shape that the protocol does not
//! know must not lose its connection over it.

use std::path::PathBuf;

use gen_lsp_types::Uri;
use serde_json::Value;

use crate::{lines::Encoding, uri};

/// The client, as it introduced itself.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    /// It asks for diagnostics, so that pushing them too would show each twice.
    pub(crate) pulls_diagnostics: bool,
    pub(crate) refreshes_diagnostics: bool,
    pub(crate) registers_watchers: bool,
    pub(crate) shows_progress: bool,
    /// It understands versioned edits, and edits that a person confirms.
    pub(crate) takes_document_changes: bool,
    pub(crate) takes_annotations: bool,
    pub(crate) resolves_edits: bool,
    /// The process whose end is ours too.
    pub(crate) process: Option<i32>,
    pub(crate) folders: Vec<PathBuf>,
}

impl Client {
    pub(crate) fn of(params: &Value) -> Self {
        let at = |path: &str| params.pointer(&format!("/capabilities{path}"));
        let is = |path: &str| at(path).and_then(Value::as_bool).unwrap_or(false);
        let words = |path: &str| -> Vec<&str> {
            let list = at(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(Value::as_str).collect()
        };
        Self {
            encoding: Encoding::negotiated(words("/general/positionEncodings").into_iter()),
            pulls_diagnostics: at("/textDocument/diagnostic").is_some_and(Value::is_object),
            refreshes_diagnostics: is("/workspace/diagnostics/refreshSupport")
                || is("/workspace/diagnostic/refreshSupport"),
            registers_watchers: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            shows_progress: is("/window/workDoneProgress"),
            takes_document_changes: is("/workspace/workspaceEdit/documentChanges"),
            takes_annotations: at("/workspace/workspaceEdit/changeAnnotationSupport").is_some(),
            resolves_edits: words("/textDocument/codeAction/resolveSupport/properties")
                .contains(&"edit"),
            process: params
                .get("processId")
                .and_then(Value::as_i64)
                .and_then(|number| i32::try_from(number).ok()),
            folders: folders(params),
        }
    }

    /// The innermost workspace folder that holds a path.
    pub(crate) fn folder_of(&self, path: &std::path::Path) -> Option<&std::path::Path> {
        let holding = self.folders.iter().filter(|folder| path.starts_with(folder));
        holding.max_by_key(|folder| folder.components().count()).map(PathBuf::as_path)
    }
}

fn folders(params: &Value) -> Vec<PathBuf> {
    let path_of = |value: &Value| uri::to_path(&Uri::from(value.as_str()?));
    if let Some(folders) = params.get("workspaceFolders").and_then(Value::as_array) {
        return folders.iter().filter_map(|folder| path_of(folder.get("uri")?)).collect();
    }
    if let Some(root) = params.get("rootUri").and_then(path_of) {
        return vec![root];
    }
    params.get("rootPath").and_then(Value::as_str).map(PathBuf::from).into_iter().collect()
}
