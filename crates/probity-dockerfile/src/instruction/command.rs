//! RUN, CMD, ENTRYPOINT and SHELL: a command line in shell form or as a JSON array.

use std::ops::Range;

use super::{Request, checked_flag, mount};
use crate::{Arguments, Command, ErrorKind, Word, error::Report, json, json::Array};

pub(super) fn run(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    for flag in request.flags.iter() {
        let Some(value) = &flag.value else { continue };
        match flag.name.text.as_str() {
            "mount" => mount::check(flag, report),
            "device" => mount::check_device(flag, report),
            "network" if !matches!(value.text.as_str(), "default" | "none" | "host") => {
                let message = format!("invalid network mode {:?}", value.text);
                let help = "use default, none or host".to_owned();
                report.error_with_help(ErrorKind::InvalidFlagValue, value.span, message, help);
            }
            "security" if !matches!(value.text.as_str(), "insecure" | "sandbox") => {
                let message = format!("security {:?} is not valid", value.text);
                let help = "use sandbox or insecure".to_owned();
                report.error_with_help(ErrorKind::InvalidFlagValue, value.span, message, help);
            }
            _ => {}
        }
    }
    Arguments::Command(command(request, request.rest.clone(), report))
}

pub(super) fn plain(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    Arguments::Command(command(request, request.rest.clone(), report))
}

pub(super) fn shell(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    let command = command(request, request.rest.clone(), report);
    match &command {
        Command::Missing => request.needs_an_argument(report),
        Command::Json { words, .. } if words.is_empty() => request.needs_an_argument(report),
        Command::Json { .. } => {}
        Command::Shell(word) => {
            let message = "SHELL requires the arguments to be in JSON form";
            let help = example(&word.text);
            report.error_with_help(ErrorKind::NotJson, word.span, message, help);
        }
    }
    Arguments::Command(command)
}

/// The JSON form of what was written, unless that would need more than splitting at blanks.
fn example(text: &str) -> Option<String> {
    if text.contains(['"', '\'', '\\', '[']) {
        return None;
    }
    let words: Vec<String> = text.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    Some(format!("write SHELL [{}]", words.join(", ")))
}

/// Reads a range as JSON if it is that, and as shell text otherwise.
pub(super) fn command(
    request: &Request<'_>,
    range: Range<usize>,
    report: &mut Report<'_>,
) -> Command {
    if range.is_empty() {
        return Command::Missing;
    }
    match json_words(request, range.clone(), report) {
        Some(words) => Command::Json { span: request.line.span(range), words: words.into() },
        None => Command::Shell(Word::of(request.line, range)),
    }
}

/// The words of a range that is a JSON array. An array of other things is reported, and read as shell
/// text.
pub(super) fn json_words(
    request: &Request<'_>,
    range: Range<usize>,
    report: &mut Report<'_>,
) -> Option<Vec<Word>> {
    match json::array(request.line.slice(range.clone())) {
        Array::Not => None,
        Array::Mixed(element) => {
            let element = range.start + element.start..range.start + element.end;
            let message = "when using JSON array syntax, arrays must be comprised of strings only";
            report.error(ErrorKind::NonStringJson, request.line.span(element), message);
            None
        }
        Array::Strings(strings) => {
            let word = |(at, text): (Range<usize>, String)| {
                let range = range.start + at.start..range.start + at.end;
                let within = range.start + 1..range.end.saturating_sub(1);
                let text = request.line.same_or_own(&within, text);
                Word::new(request.line, range, text)
            };
            Some(strings.into_iter().map(word).collect())
        }
    }
}
