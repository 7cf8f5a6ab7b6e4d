//! What the server offers, and the files whose changes it wants to hear of.

use gen_lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProvider, CompletionOptions, DiagnosticOptions,
    DiagnosticProvider, ExecuteCommandOptions, Full, InitializeResult, RenameOptions,
    SemanticTokensOptions, SemanticTokensOptionsRange, SemanticTokensProvider, ServerCapabilities,
    ServerInfo, TextDocumentSync, TextDocumentSyncKind, TextDocumentSyncOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};
use serde_json::{Value, json};

use crate::{client::Client, features::tokens};

/// Every safe fix at once; editors run it on save where the user asks for that.
pub(crate) const FIX_ALL: &str = "source.fixAll.probity";

/// Prints the manual page of a rule.
pub(crate) const EXPLAIN: &str = "probity.explain";

/// The kind of the actions that need an agent.
pub(crate) const AI_FIX: &str = "quickfix.ai.probity";

/// The kind of the actions that write a directive.
pub(crate) const SUPPRESS: &str = "quickfix.suppress.probity";

pub(crate) fn introduction(client: &Client, version: &str) -> InitializeResult {
    let capabilities = ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(true.into()),
            ..TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: Some(DiagnosticProvider::DiagnosticOptions(DiagnosticOptions {
            identifier: Some("probity".to_owned()),
            // A configuration or an ignore file changes the findings of a Dockerfile.
            inter_file_dependencies: true,
            workspace_diagnostics: false,
            ..DiagnosticOptions::default()
        })),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QuickFix,
                kind(SUPPRESS),
                kind(AI_FIX),
                kind(FIX_ALL),
            ]),
            resolve_provider: Some(true),
            ..CodeActionOptions::default()
        })),
        document_formatting_provider: Some(true.into()),
        document_range_formatting_provider: Some(true.into()),
        hover_provider: Some(true.into()),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(
                ["-", "=", ",", "$", "{", "/", " ", "[", "."].map(str::to_owned).into(),
            ),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        rename_provider: Some(
            RenameOptions { prepare_provider: Some(true), ..RenameOptions::default() }.into(),
        ),
        document_symbol_provider: Some(true.into()),
        folding_range_provider: Some(true.into()),
        selection_range_provider: Some(true.into()),
        semantic_tokens_provider: Some(SemanticTokensProvider::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: tokens::legend(),
                range: Some(SemanticTokensOptionsRange::Bool(true)),
                full: Some(Full::Bool(true)),
                ..SemanticTokensOptions::default()
            },
        )),
        inlay_hint_provider: Some(true.into()),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![EXPLAIN.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(true.into()),
            }),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    let server_info = ServerInfo { name: "probity".to_owned(), version: Some(version.to_owned()) };
    InitializeResult { capabilities, server_info: Some(server_info) }
}

/// A kind that the protocol does not define.
pub(crate) fn kind(name: &str) -> CodeActionKind {
    CodeActionKind::from(name.to_owned())
}

/// The registration that asks for changes of configuration and ignore files.
pub(crate) fn watchers() -> Value {
    let names = "probity.toml,pyproject.toml,.tally.toml,tally.toml,.hadolint.yaml,.hadolint.yml,\
                 .dockerignore,*.dockerignore";
    json!({ "registrations": [{
        "id": "probity.files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": [{ "globPattern": format!("**/{{{names}}}") }] },
    }] })
}
