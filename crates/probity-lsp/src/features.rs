//! What the server answers: one file a feature, and the table that finds it.

pub(crate) mod code_actions;
mod completion;
pub(crate) mod diagnostics;
pub(crate) mod edits;
mod formatting;
mod hints;
mod hover;
mod manual;
mod navigation;
mod places;
mod ranges;
mod stage_page;
mod suppress;
mod symbols;
pub(crate) mod tokens;

use gen_lsp_types::Range;
use probity_check::OpenTexts;
use probity_dockerfile::{Dockerfile, Facts, parse};
use probity_finding::Span;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    client::Client,
    document::Document,
    host::{Host, Report, Subject},
    lines::Lines,
};

/// One request that a document can answer.
pub(crate) struct Feature {
    method: &'static str,
    pub(crate) needs: Needs,
    pub(crate) answer: fn(&View<'_>, Value) -> Answer,
}

/// What has to be known before a request can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Text,
    /// The findings about the text as it is now.
    Report,
}

pub(crate) type Answer = Result<Value, Refused>;

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum Refused {
    Parameters(serde_json::Error),
    /// What was asked for cannot be done, in words for the person who asked.
    Failed(String),
    /// The document is another by now.
    Outdated,
    /// A mistake of ours.
    Broken,
}

const FEATURES: &[Feature] = &[
    feature("textDocument/diagnostic", Needs::Report, diagnostics::pull),
    feature("textDocument/codeAction", Needs::Report, code_actions::answer),
    feature("textDocument/formatting", Needs::Text, formatting::whole),
    feature("textDocument/rangeFormatting", Needs::Text, formatting::range),
    feature("textDocument/hover", Needs::Report, hover::answer),
    feature("textDocument/completion", Needs::Text, completion::answer),
    feature("textDocument/definition", Needs::Text, navigation::definition),
    feature("textDocument/references", Needs::Text, navigation::references),
    feature("textDocument/documentHighlight", Needs::Text, navigation::highlight),
    feature("textDocument/prepareRename", Needs::Text, navigation::prepare_rename),
    feature("textDocument/rename", Needs::Text, navigation::rename),
    feature("textDocument/documentSymbol", Needs::Text, symbols::answer),
    feature("textDocument/foldingRange", Needs::Text, ranges::folding),
    feature("textDocument/selectionRange", Needs::Text, ranges::selection),
    feature("textDocument/semanticTokens/full", Needs::Text, tokens::full),
    feature("textDocument/semanticTokens/range", Needs::Text, tokens::range),
    feature("textDocument/inlayHint", Needs::Text, hints::answer),
];

const fn feature(
    method: &'static str,
    needs: Needs,
    answer: fn(&View<'_>, Value) -> Answer,
) -> Feature {
    Feature { method, needs, answer }
}

pub(crate) fn named(method: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.method == method)
}

/// A document as a feature sees it.
pub(crate) struct View<'a> {
    pub(crate) document: &'a Document,
    pub(crate) lines: Lines<'a>,
    pub(crate) host: &'a dyn Host,
    pub(crate) client: &'a Client,
    open_texts: &'a OpenTexts,
}

impl<'a> View<'a> {
    pub(crate) fn new(
        document: &'a Document,
        host: &'a dyn Host,
        client: &'a Client,
        open_texts: &'a OpenTexts,
    ) -> Self {
        let lines = document.lines(client.encoding);
        Self { document, lines, host, client, open_texts }
    }

    pub(crate) fn text(&self) -> &'a str {
        &self.document.text
    }

    /// Empty for documents that are not checked.
    pub(crate) fn report(&self) -> Option<&'a Report> {
        self.document.current_report()
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            path: &self.document.path,
            text: &self.document.text,
            folder: self.client.folder_of(&self.document.path),
            open_texts: self.open_texts,
        }
    }

    pub(crate) fn parsed(&self) -> (Dockerfile<'a>, Facts) {
        let file = parse(self.text());
        let facts = Facts::of(&file);
        (file, facts)
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        self.lines.range(span)
    }
}

/// Reads the parameters, and writes down what comes of them.
fn typed<P: DeserializeOwned, R: Serialize>(
    params: Value,
    work: impl FnOnce(P) -> Result<R, Refused>,
) -> Answer {
    let params = serde_json::from_value(params).map_err(Refused::Parameters)?;
    serde_json::to_value(work(params)?).map_err(|_| Refused::Broken)
}
