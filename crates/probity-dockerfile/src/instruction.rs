//! One logical line to one instruction: keyword, flags, and arguments by the keyword's rules.

mod checked_flag;
mod command;
mod duration;
mod from;
mod healthcheck;
mod mount;
mod onbuild;
mod pairs;
mod port;
mod signal;
mod transfer;
mod words;

pub use self::port::{BadPort, check as check_port};

use std::ops::Range;

use probity_finding::Span;

use crate::{
    Arguments, Command, ErrorKind, Flag, Instruction, Keyword, Logical, SyntaxError, Word,
    error::Report,
    flag,
    nearest::did_you_mean,
    word::{self, BLANKS},
};

/// What the parsers of arguments read.
#[derive(Debug)]
pub(crate) struct Request<'l> {
    line: &'l Logical,
    keyword: Keyword,
    keyword_span: Span,
    flags: &'l mut [Flag],
    /// Behind the flags, trimmed.
    rest: Range<usize>,
    escape: char,
}

/// Whether an instruction stands on a line of its own or behind `ONBUILD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePlace {
    OwnLine,
    Trigger,
}

/// Parses a logical line. Lines of the file, comments and heredocs are for the caller to add.
pub(crate) fn instruction(
    line: Logical,
    place: LinePlace,
    escape: char,
    report: &mut Report<'_>,
) -> Instruction {
    let trimmed = word::trim(&line, 0..line.text.len());
    let text = line.slice(trimmed.clone());
    let keyword_end = trimmed.start + text.find(BLANKS).unwrap_or(text.len());
    let keyword_range = trimmed.start..keyword_end;
    let keyword = Keyword::of(line.slice(keyword_range.clone()));
    let keyword_span = line.span(keyword_range.clone());
    // Before the flags only some spaces are skipped: the body is not trimmed here.
    let (mut flags, flags_end) = flag::flags(&line, keyword_end..trimmed.end, escape);
    let rest = word::trim(&line, flags_end..trimmed.end);
    if keyword == Keyword::Unknown {
        let name = line.slice(keyword_range);
        let known: Vec<&str> = Keyword::names().collect();
        let message = format!("unknown instruction: {name}");
        let help = did_you_mean(name, &known);
        report.error_with_help(ErrorKind::UnknownInstruction, keyword_span, message, help);
    }
    let request = Request {
        line: &line,
        keyword,
        keyword_span,
        flags: &mut flags,
        rest: rest.clone(),
        escape,
    };
    let before = report.errors.len();
    let arguments = arguments(request, place, report);
    keep_causes(report.errors, before);
    Instruction::new(line, keyword, flags, rest.start, arguments)
}

/// What was taken for a flag, or for JSON, is missing as an argument: that is one mistake, and the first
/// error of the instruction names it.
fn keep_causes(errors: &mut Vec<SyntaxError>, before: usize) {
    let consequence = |error: &SyntaxError| {
        matches!(error.code, ErrorKind::MissingArguments | ErrorKind::NotJson)
    };
    let behind = errors.split_off((before + 1).min(errors.len()));
    errors.extend(behind.into_iter().filter(|error| !consequence(error)));
}

fn arguments(request: Request<'_>, place: LinePlace, report: &mut Report<'_>) -> Arguments {
    match request.keyword {
        Keyword::From => from::parse(&request, report),
        Keyword::Arg => pairs::arg(&request, report),
        Keyword::Env | Keyword::Label => pairs::env_or_label(&request, report),
        Keyword::Copy | Keyword::Add => transfer::parse(&request, report),
        Keyword::Run => command::run(&request, report),
        Keyword::Cmd | Keyword::Entrypoint => command::plain(&request, report),
        Keyword::Shell => command::shell(&request, report),
        Keyword::Healthcheck => healthcheck::parse(&request, report),
        Keyword::Expose => words::expose(&request, report),
        Keyword::Volume => words::volume(&request, report),
        Keyword::User | Keyword::Workdir | Keyword::Maintainer | Keyword::Stopsignal => {
            words::single(&request, report)
        }
        Keyword::Onbuild if place == LinePlace::OwnLine => onbuild::parse(&request, report),
        Keyword::Onbuild | Keyword::Unknown => Arguments::Text(request.text()),
    }
}

impl Request<'_> {
    /// Everything behind the flags as one word.
    fn text(&self) -> Option<Word> {
        (!self.rest.is_empty()).then(|| Word::of(self.line, self.rest.clone()))
    }

    /// Where to point when arguments are missing.
    fn place(&self) -> Span {
        if self.rest.is_empty() { self.keyword_span } else { self.line.span(self.rest.clone()) }
    }

    fn needs_an_argument(&self, report: &mut Report<'_>) {
        let message = format!("{} requires at least one argument", self.keyword);
        report.error(ErrorKind::MissingArguments, self.place(), message);
    }
}

impl Instruction {
    /// Whether BuildKit looks for heredocs on the line: RUN, COPY and ADD, not in JSON form, and also
    /// behind ONBUILD.
    pub(crate) fn may_hold_heredocs(&self) -> bool {
        match &self.arguments {
            Arguments::Onbuild(Some(nested)) => nested.may_hold_heredocs(),
            Arguments::Transfer { json, .. } => !json,
            Arguments::Command(command) => {
                self.keyword == Keyword::Run && !matches!(command, Command::Json { .. })
            }
            _ => false,
        }
    }
}
