//! COPY and ADD: sources and a destination.

use super::{Request, checked_flag, command::json_words};
use crate::{Arguments, ErrorKind, error::Report, heredoc, word};

pub(super) fn parse(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    let strings = json_words(request, request.rest.clone(), report);
    let json = strings.is_some();
    let mut words = strings.unwrap_or_else(|| word::plain(request.line, request.rest.clone()));
    if words.len() < 2 {
        report.error(
            ErrorKind::WrongArgumentCount,
            request.place(),
            format!(
                "{} requires at least two arguments: sources and a destination",
                request.keyword
            ),
        );
        return Arguments::Transfer { json, sources: words.into(), destination: None };
    }
    let destination = words.pop().map(Box::new);
    if let Some(word) = &destination
        && matches!(heredoc::marker(&word.text), Ok(Some(_)))
    {
        let message = format!("{} cannot accept a heredoc as a destination", request.keyword);
        report.error(ErrorKind::HeredocDestination, word.span, message);
    }
    Arguments::Transfer { json, sources: words.into(), destination }
}
