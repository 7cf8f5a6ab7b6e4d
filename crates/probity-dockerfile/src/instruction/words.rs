//! EXPOSE and VOLUME, which take words, and the instructions that take one text.

use super::{Request, checked_flag, command::json_words, port, signal};
use crate::{Arguments, ErrorKind, Keyword, error::Report, word};

pub(super) fn expose(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    let words = word::plain(request.line, request.rest.clone());
    if words.is_empty() {
        request.needs_an_argument(report);
    }
    for word in words.iter().filter(|word| is_literal(&word.text)) {
        if let Err(reason) = port::check(&word.text) {
            report.error(ErrorKind::InvalidPort, word.span, reason.to_string());
        }
    }
    Arguments::Words { json: false, words: words.into() }
}

pub(super) fn volume(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    let strings = json_words(request, request.rest.clone(), report);
    let json = strings.is_some();
    let words = strings.unwrap_or_else(|| word::plain(request.line, request.rest.clone()));
    if words.is_empty() {
        request.needs_an_argument(report);
    }
    for word in words.iter().filter(|word| word.text.trim().is_empty()) {
        report.error(ErrorKind::EmptyVolume, word.span, "VOLUME can not be an empty string");
    }
    Arguments::Words { json, words: words.into() }
}

/// USER, WORKDIR, MAINTAINER and STOPSIGNAL. The last takes any flag without looking at it.
pub(super) fn single(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    if request.keyword != Keyword::Stopsignal {
        checked_flag::check(request, report);
    }
    let word = request.text();
    match &word {
        None => {
            let message = format!("{} requires exactly one argument", request.keyword);
            report.error(ErrorKind::MissingArguments, request.keyword_span, message);
        }
        Some(word) if request.keyword == Keyword::Stopsignal && is_literal(&word.text) => {
            if !signal::is_known(&word.text) {
                let message = format!("invalid signal: {}", word.text);
                let help = signal::nearest(&word.text);
                report.error_with_help(ErrorKind::InvalidSignal, word.span, message, help);
            }
        }
        Some(_) => {}
    }
    Arguments::Text(word)
}

/// Whether a text is what it says: nothing in it is expanded or unquoted before it is used.
pub(super) fn is_literal(text: &str) -> bool {
    !text.contains(['$', '"', '\'', '\\', '`'])
}
