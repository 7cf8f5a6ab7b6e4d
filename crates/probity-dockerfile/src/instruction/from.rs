//! FROM: an image, and a name for the stage.

use super::{Request, checked_flag};
use crate::{Alias, Arguments, ErrorKind, Word, error::Report, word};

pub(super) fn parse(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    let mut words = word::plain(request.line, request.rest.clone());
    let has_alias = words.get(1).is_some_and(|word| word.text.eq_ignore_ascii_case("as"));
    if words.len() != 1 && !(words.len() == 3 && has_alias) {
        report.error_with_help(
            ErrorKind::WrongArgumentCount,
            request.place(),
            "FROM requires either one or three arguments",
            "write FROM image, or FROM image AS name".to_owned(),
        );
    }
    let mut rest = words.split_off(words.len().min(1)).into_iter();
    let image = words.pop().map(Box::new);
    let alias = match (has_alias, rest.len()) {
        (true, 2..) => rest.next().zip(rest.next()),
        _ => None,
    };
    let alias = alias.map(|(keyword, name)| Box::new(Alias { keyword, name }));
    if let Some(alias) = &alias {
        check_name(&alias.name, report);
    }
    Arguments::From { image, alias, surplus: rest.collect() }
}

fn check_name(name: &Word, report: &mut Report<'_>) {
    let lower = name.text.to_lowercase();
    let begins_well = lower.starts_with(|c: char| c.is_ascii_lowercase());
    let fits =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if !begins_well || !lower.chars().all(fits) {
        report.error_with_help(
            ErrorKind::InvalidStageName,
            name.span,
            format!("invalid name for build stage: {:?}", name.text),
            "begin with a letter and use letters, digits, '-', '_' and '.' only".to_owned(),
        );
    }
}
