//! The front door: from a text to a script.

use std::ops::Range;

use probity_finding::{Span, TextSlice};
use shuck_parser::{
    ShellDialect, ShellProfile,
    parser::{ParseResult, ParseStatus, Parser},
};

use crate::{
    BlockKind, Dialect, Invocation, Opaque, Script, ShellError, breaks, flat, inner,
    lexed::{self, Lexed},
    limits,
    lower::Lower,
    script::Extras,
};

/// How deep commands may be nested by keywords, counted by the parser.
const MAX_DEPTH: usize = 64;

/// Steps of the parser for each byte of the text.
const STEPS_PER_BYTE: usize = 16;

/// Parses a text that stands at `offset` in a file; every span is one of the file.
#[must_use]
pub fn parse(text: &str, offset: usize, invocation: Invocation) -> Script {
    parse_mapped(text, invocation, &|range| Span::from(range).shifted(offset))
}

/// Parses a text that was put together from pieces of a file; `place` tells where in the file a
/// range of the text stands.
#[must_use]
pub fn parse_mapped(
    text: &str,
    invocation: Invocation,
    place: &dyn Fn(Range<usize>) -> Span,
) -> Script {
    parse_shared(&TextSlice::from(text), invocation, place)
}

/// The same for a text that is shared already: words are pieces of it.
#[must_use]
pub fn parse_shared(
    text: &TextSlice,
    invocation: Invocation,
    place: &dyn Fn(Range<usize>) -> Span,
) -> Script {
    parse_nested(text, invocation, place, 0)
}

/// Parses a text that stands in so many others.
pub(crate) fn parse_nested(
    text: &TextSlice,
    invocation: Invocation,
    place: &dyn Fn(Range<usize>) -> Span,
    depth: usize,
) -> Script {
    let mut script = Script {
        span: place(0..text.len()),
        invocation,
        commands: Box::default(),
        blocks: Box::default(),
        opaque: None,
        extras: None,
    };
    if !invocation.dialect.is_posix() {
        script.opaque = Some(Opaque::Dialect);
        if let Some(Lexed { commands, inner }) = lexed::lex(text, invocation.dialect, place, depth)
        {
            let lexed = commands.into();
            script.extras = Some(Box::new(Extras { inner, lexed, ..Extras::default() }));
        }
        return script;
    }
    let broken = breaks::with_line_ends(text);
    let source = broken.as_deref().unwrap_or(text);
    let parsed = match parse_within_limits(source, invocation.dialect) {
        Ok(parsed) => parsed,
        Err(why) => {
            script.opaque = Some(why);
            let flat = flat::flattened(text);
            let Ok(mut parsed) = parse_within_limits(&flat, invocation.dialect) else {
                return script;
            };
            // What the copy has of errors is not in the text.
            parsed.diagnostics.clear();
            parsed
        }
    };
    let mut lower = Lower::new(text, invocation.dialect, place);
    lower.block(BlockKind::Script, None, &parsed.file.body, 0..text.len());
    let errors = parsed.diagnostics.iter().map(|diagnostic| ShellError {
        span: lower.span(lower.range(diagnostic.span)),
        message: diagnostic.message.clone(),
    });
    let mut errors: Vec<ShellError> = errors.collect();
    errors.sort_by_key(|error| error.span);
    let inner = lower.inner.iter();
    let inner: Vec<Script> = inner.filter_map(|it| inner::parse(text, it, depth, place)).collect();
    script.commands = lower.commands.into();
    script.blocks = lower.blocks.into();
    if !errors.is_empty() || !inner.is_empty() {
        script.extras = Some(Box::new(Extras { errors, inner, ..Extras::default() }));
    }
    script.find_setters();
    script
}

fn parse_within_limits(text: &str, dialect: Dialect) -> Result<ParseResult, Opaque> {
    if let Some(why) = limits::check(text, dialect) {
        return Err(why);
    }
    let parsed = best(text, dialect);
    match exceeded(&parsed) {
        Some(why) => Err(why),
        None => Ok(parsed),
    }
}

/// What `sh` is differs between images, so what is valid for bash is no error of it.
fn best(text: &str, dialect: Dialect) -> ParseResult {
    let first = run(text, shuck_dialect(dialect));
    let lenient = matches!(dialect, Dialect::Sh | Dialect::Ash | Dialect::Ksh | Dialect::Mksh);
    if first.status == ParseStatus::Clean || !lenient {
        return first;
    }
    let second = run(text, ShellDialect::Bash);
    if second.status == ParseStatus::Clean { second } else { first }
}

fn run(text: &str, dialect: ShellDialect) -> ParseResult {
    let steps = (text.len() + 1).saturating_mul(STEPS_PER_BYTE);
    let profile = ShellProfile::native(dialect);
    Parser::with_limits_and_profile(text, MAX_DEPTH, steps, profile).parse()
}

fn shuck_dialect(dialect: Dialect) -> ShellDialect {
    match dialect {
        Dialect::Bash => ShellDialect::Bash,
        Dialect::Zsh => ShellDialect::Zsh,
        Dialect::Ksh | Dialect::Mksh => ShellDialect::Mksh,
        _ => ShellDialect::Posix,
    }
}

/// The parser tells that a limit was reached by the text of its error alone.
fn exceeded(parsed: &ParseResult) -> Option<Opaque> {
    let message = parsed.terminal_error.as_ref()?.to_string();
    if message.contains("too deep") {
        return Some(Opaque::TooDeep);
    }
    let long = message.contains("fuel exhausted") || message.contains("chained operators");
    long.then_some(Opaque::TooManyCommands)
}
