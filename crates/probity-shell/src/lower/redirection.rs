//! Redirections and here-documents.

use std::ops::Range;

use shuck_ast::{Redirect, RedirectKind, RedirectTarget};

use crate::{CommandPlace, HereDocument, Redirection, RedirectionKind, Word, lower::Lower};

impl Lower<'_> {
    pub(super) fn redirection(
        &mut self,
        place: CommandPlace,
        redirect: &Redirect,
    ) -> (Redirection, Range<usize>) {
        let at = self.range(redirect.span);
        let (target, here_document) = match &redirect.target {
            RedirectTarget::Word(word) => {
                (Some(self.within(&at, |lower| lower.target(place, word, &at))), None)
            }
            RedirectTarget::Heredoc(heredoc) => (None, Some(self.heredoc(place, heredoc))),
        };
        let redirection = Redirection {
            span: self.span(at.clone()),
            fd: redirect.fd,
            kind: kind(redirect.kind),
            target,
            here_document,
        };
        (redirection, at)
    }

    /// The parser reads `2>&1` as a whole and gives the number behind no place.
    fn target(&mut self, place: CommandPlace, word: &shuck_ast::Word, at: &Range<usize>) -> Word {
        match self.slice(at).find('&') {
            Some(operator) if word.span.to_range().is_empty() => {
                self.plain(self.clamp(at.start + operator + 1..at.end))
            }
            _ => self.word(place, word),
        }
    }

    fn heredoc(&mut self, place: CommandPlace, heredoc: &shuck_ast::Heredoc) -> HereDocument {
        let delimiter = self.range(heredoc.delimiter.span);
        // The body stands behind the line, and so behind whatever the list around it ends with.
        let whole = 0..self.text.len();
        let outer = std::mem::replace(&mut self.bounds, whole);
        let body = self.range(heredoc.body.span);
        let word = heredoc.delimiter.expands_body.then(|| self.body(place, &heredoc.body));
        self.bounds = outer;
        // The parser takes the second one of a line for quoted.
        let quoted = self.slice(&delimiter).contains(['\'', '"', '\\']);
        HereDocument {
            delimiter: heredoc.delimiter.cooked.to_string(),
            delimiter_span: self.span(delimiter),
            body: self.span(body),
            expand: !quoted,
            strip_tabs: heredoc.delimiter.strip_tabs,
            word,
        }
    }
}

fn kind(kind: RedirectKind) -> RedirectionKind {
    match kind {
        RedirectKind::Output => RedirectionKind::Output,
        RedirectKind::Clobber => RedirectionKind::Clobber,
        RedirectKind::Append => RedirectionKind::Append,
        RedirectKind::Input => RedirectionKind::Input,
        RedirectKind::ReadWrite => RedirectionKind::ReadWrite,
        RedirectKind::HereDoc | RedirectKind::HereDocStrip => RedirectionKind::HereDocument,
        RedirectKind::HereString => RedirectionKind::HereString,
        RedirectKind::DupOutput => RedirectionKind::DuplicateOutput,
        RedirectKind::DupInput => RedirectionKind::DuplicateInput,
        RedirectKind::OutputBoth => RedirectionKind::OutputAndError,
    }
}
