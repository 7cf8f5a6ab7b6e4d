//! An open document: its text as the client has it, and what is known about that text.

use std::path::PathBuf;

use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::{
    host::{DocumentKind, Report},
    lines::{Encoding, Lines},
};

/// One open document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    /// The path of the file. A document without a file gets a path in its workspace.
    pub(crate) path: PathBuf,
    pub(crate) kind: DocumentKind,
    /// The client's number, given back with what is about this text.
    pub(crate) version: i32,
    pub(crate) text: String,
    /// Counts changes of the text and of whatever else a report depends on.
    pub(crate) revision: u64,
    /// Larger than that of every document that was opened or changed before.
    pub(crate) touched: u64,
    /// The last report, and the revision that it is about.
    pub(crate) report: Option<(u64, Report)>,
}

impl Document {
    /// Applies changes in their order.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, by: Encoding) {
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let span = Lines::new(&self.text, by).span(part.range);
                    self.text.replace_range(span.start..span.end, &part.text);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    self.text = whole.text;
                }
            }
        }
    }

    pub(crate) fn lines(&self, encoding: Encoding) -> Lines<'_> {
        Lines::new(&self.text, encoding)
    }

    /// The report about the text as it is now.
    pub(crate) fn current_report(&self) -> Option<&Report> {
        let (revision, report) = self.report.as_ref()?;
        (*revision == self.revision).then_some(report)
    }
}
