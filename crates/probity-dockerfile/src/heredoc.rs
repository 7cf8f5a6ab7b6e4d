//! Heredocs: their markers on the logical line, and the lines that belong to them.

mod lexer;

use std::ops::Range;

use probity_finding::Span;

use self::lexer::{Lexer, Quotes};
use crate::{
    ErrorKind, Heredoc, Logical, TokenKind, Tokens,
    error::Report,
    lines::{Line, Lines},
};

/// A heredoc marker: `<<EOF`, `3<<-'EOF'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) name: String,
    fd: Option<u64>,
    expand: bool,
    strip_tabs: bool,
}

/// The markers on a logical line, each with its range. The word that looks like a marker and whose
/// name cannot be read is reported.
pub(crate) fn markers(line: &Logical, report: &mut Report<'_>) -> Vec<(Range<usize>, Marker)> {
    if !line.text.contains("<<") {
        return Vec::new();
    }
    // A line that the shell lexer cannot read has no heredocs at all for BuildKit.
    let words = Lexer::new(&line.text, Quotes::Kept).words().unwrap_or_default();
    let mut found = Vec::new();
    // A name with an operator in a substitution is no name to BuildKit.
    for word in words.into_iter().filter(|word| !word.substitutes) {
        match marker(&word.text) {
            Ok(Some(marker)) => found.push((word.range, marker)),
            Ok(None) => {}
            Err(Unreadable) => {
                let message = format!("heredoc name cannot be read: {}", word.text);
                report.error(ErrorKind::InvalidHeredoc, line.span(word.range), message);
            }
        }
    }
    found
}

/// The name of a heredoc has quotes or substitutions that do not end.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// Reads one word as a heredoc marker.
pub(crate) fn marker(word: &str) -> Result<Option<Marker>, Unreadable> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (fd, rest) = word.split_at(digits);
    let Some(rest) = rest.strip_prefix("<<") else { return Ok(None) };
    let (strip_tabs, rest) = rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest));
    let rest = rest.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
    if rest.is_empty() || rest.contains('<') {
        return Ok(None);
    }
    let bare = Lexer::new(rest, Quotes::Removed).words().ok_or(Unreadable)?;
    let [name] = bare.as_slice() else { return Ok(None) };
    let raw = Lexer::new(rest, Quotes::Shown).words().ok_or(Unreadable)?;
    let [raw] = raw.as_slice() else { return Err(Unreadable) };
    // An escaped quote is in both readings, a quote that quotes only in the raw one.
    let quotes = |text: &str| text.chars().filter(|&c| matches!(c, '\'' | '"')).count();
    Ok(Some(Marker {
        name: name.text.clone(),
        fd: fd.parse().ok(),
        expand: quotes(&name.text) == quotes(&raw.text),
        strip_tabs,
    }))
}

/// Reads the bodies that belong to the markers. Where the file ends first, the body is the rest of
/// the file, as it is for a shell.
pub(crate) fn bodies(
    text: &str,
    lines: &mut Lines<'_>,
    markers: Vec<(Span, Marker)>,
    tokens: &mut Tokens,
    mut seen: impl FnMut(Line),
) -> Vec<Heredoc> {
    let mut heredocs = Vec::new();
    for (span, marker) in markers {
        let mut body: Option<Span> = None;
        let mut terminator = None;
        for line in lines.by_ref() {
            seen(line);
            let content = line.content.slice(text).unwrap_or_default();
            let kept = if marker.strip_tabs { content.trim_start_matches('\t') } else { content };
            let here = line.content.to(line.ending);
            if kept == marker.name {
                let start = line.content.end - kept.len();
                terminator = Some((Span::new(start, line.content.end), line));
                break;
            }
            body = Some(body.map_or(here, |body| body.to(here)));
        }
        let end = terminator.map_or(text.len(), |(_, line)| line.content.start);
        let body = body.unwrap_or(Span::at(end));
        tokens.push(TokenKind::HeredocBody, body);
        if let Some((_, line)) = terminator {
            tokens.push(TokenKind::HeredocEnd, line.content);
            tokens.push(TokenKind::LineEnd, line.ending);
        }
        heredocs.push(Heredoc {
            marker: span,
            name: marker.name,
            fd: marker.fd,
            expand: marker.expand,
            strip_tabs: marker.strip_tabs,
            body,
            terminator: terminator.map(|(span, _)| span),
        });
    }
    heredocs
}
