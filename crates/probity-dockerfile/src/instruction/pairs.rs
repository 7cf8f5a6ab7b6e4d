//! ARG, ENV and LABEL: names with values.

use std::ops::Range;

use super::{Request, checked_flag};
use crate::{
    Arguments, ErrorKind, Keyword, Pair, Word,
    error::Report,
    word::{self, BLANKS},
};

/// ARG takes any flag without looking at it, as BuildKit does.
pub(super) fn arg(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    let words = word::quoted(request.line, request.rest.clone(), request.escape);
    if words.is_empty() {
        request.needs_an_argument(report);
    }
    let pairs: Box<[Pair]> = words.iter().map(|word| pair(request, word)).collect();
    check_names(request.keyword, &pairs, report);
    Arguments::Pairs { legacy: false, pairs }
}

pub(super) fn env_or_label(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    let words = word::quoted(request.line, request.rest.clone(), request.escape);
    let Some(first) = words.first() else {
        request.needs_an_argument(report);
        return Arguments::Pairs { legacy: false, pairs: Box::default() };
    };
    if !first.text.contains('=') {
        return Arguments::Pairs { legacy: true, pairs: Box::new([legacy(request, report)]) };
    }
    let pairs: Box<[Pair]> = words.iter().map(|word| pair(request, word)).collect();
    check_names(request.keyword, &pairs, report);
    for pair in pairs.iter().filter(|pair| pair.value.is_none()) {
        let message =
            format!("cannot find = in {:?}, must be of the form name=value", pair.key.text);
        report.error_with_help(
            ErrorKind::MissingEquals,
            pair.span,
            message,
            "quote a value that contains spaces".to_owned(),
        );
    }
    Arguments::Pairs { legacy: false, pairs }
}

/// `KEY value`: the value is everything behind the first blanks.
fn legacy(request: &Request<'_>, report: &mut Report<'_>) -> Pair {
    let Range { start, end } = request.rest.clone();
    let text = request.line.slice(start..end);
    let key_end = text.find(BLANKS).unwrap_or(text.len());
    let behind = text.get(key_end..).unwrap_or_default();
    let key = Word::of(request.line, start..start + key_end);
    let value = (!behind.is_empty()).then(|| {
        let value = end - behind.trim_start_matches(BLANKS).len();
        Word::of(request.line, value..end)
    });
    if value.is_none() {
        let message = format!("{} must have two arguments", request.keyword);
        let help = format!("write {} {}=value", request.keyword, key.text);
        report.error_with_help(ErrorKind::MissingValue, key.span, message, help);
    }
    Pair { span: request.line.span(start..end), key, value }
}

/// Cuts a word at its first `=`.
fn pair(request: &Request<'_>, word: &Word) -> Pair {
    let Some(equals) = word.text.find('=') else {
        return Pair { span: word.span, key: word.clone(), value: None };
    };
    let key = word.part(request.line, 0..equals);
    let value = word.part(request.line, equals + 1..word.text.len());
    Pair { span: word.span, key, value: Some(value) }
}

fn check_names(keyword: Keyword, pairs: &[Pair], report: &mut Report<'_>) {
    for pair in pairs.iter().filter(|pair| pair.key.text.is_empty()) {
        let message = format!("{keyword} names can not be blank");
        report.error(ErrorKind::BlankName, pair.span, message);
    }
}
