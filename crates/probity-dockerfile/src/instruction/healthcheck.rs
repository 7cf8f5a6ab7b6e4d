//! HEALTHCHECK: `NONE`, or `CMD` with a command and timing.

use super::{Request, checked_flag, command::command, duration};
use crate::{Arguments, Command, ErrorKind, Word, error::Report};

pub(super) fn parse(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    let rest = request.rest.clone();
    let text = request.line.slice(rest.clone());
    let kind_end =
        rest.start + text.find(|c: char| matches!(c, '\t'..='\r' | ' ')).unwrap_or(text.len());
    let behind = request.line.slice(kind_end..rest.end);
    let command_start = kind_end + (behind.len() - behind.trim_start().len());
    let command = command(request, command_start..rest.end, report);
    if rest.is_empty() {
        request.needs_an_argument(report);
        return Arguments::Healthcheck { kind: None, command };
    }
    let kind = Word::of(request.line, rest.start..kind_end);
    if kind.text.eq_ignore_ascii_case("NONE") {
        // `[]` behind NONE has no words in it, and BuildKit counts words.
        if !is_empty(&command) {
            let message = "HEALTHCHECK NONE takes no arguments";
            report.error(ErrorKind::InvalidHealthcheck, request.place(), message);
        }
        return Arguments::Healthcheck { kind: Some(Box::new(kind)), command };
    }
    checked_flag::check(request, report);
    if !kind.text.eq_ignore_ascii_case("CMD") {
        report.error_with_help(
            ErrorKind::InvalidHealthcheck,
            kind.span,
            format!("unknown type {:?} in HEALTHCHECK", kind.text.to_uppercase()),
            "use CMD or NONE".to_owned(),
        );
    } else if is_empty(&command) {
        let message = "missing command after HEALTHCHECK CMD";
        report.error(ErrorKind::InvalidHealthcheck, kind.span, message);
    }
    check_timing(request, report);
    Arguments::Healthcheck { kind: Some(Box::new(kind)), command }
}

fn is_empty(command: &Command) -> bool {
    match command {
        Command::Missing => true,
        Command::Shell(_) => false,
        Command::Json { words, .. } => words.is_empty(),
    }
}

fn check_timing(request: &Request<'_>, report: &mut Report<'_>) {
    for flag in request.flags.iter() {
        let Some(value) = flag.value.as_ref().filter(|value| !value.text.is_empty()) else {
            continue;
        };
        match flag.name.text.as_str() {
            name @ ("interval" | "timeout" | "start-period" | "start-interval") => {
                if let Err(reason) = duration::check(name, &value.text) {
                    report.error(ErrorKind::InvalidDuration, value.span, reason.to_string());
                }
            }
            "retries" => match value.text.parse::<i32>() {
                Err(_) => {
                    let message = format!("--retries is not a number: {:?}", value.text);
                    report.error(ErrorKind::InvalidFlagValue, value.span, message);
                }
                Ok(count) if count < 0 => {
                    let message = format!("--retries cannot be negative ({count})");
                    report.error(ErrorKind::InvalidFlagValue, value.span, message);
                }
                Ok(_) => {}
            },
            _ => {}
        }
    }
}
