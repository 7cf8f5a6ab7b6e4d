//! Scripts that a command of PowerShell or cmd passes to another shell.

use std::ops::Range;

use probity_finding::{Span, TextSlice};

use crate::{
    Dialect, Invocation, Script, dialect::is_command_flag, inner::MAX_DEPTH, lexed::builder::Draft,
    parse::parse_nested,
};

/// Parses everything behind `-Command`, `/c` or `-c`; nothing if the command starts no shell.
pub(super) fn parse(
    text: &TextSlice,
    draft: &Draft,
    place: &dyn Fn(Range<usize>) -> Span,
    depth: usize,
) -> Option<Script> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let program = draft.words.first()?.literal()?;
    let dialect = Dialect::of_program(&program);
    let start = match dialect {
        Dialect::Other => return None,
        Dialect::PowerShell => powershell_text(draft, &program)?,
        _ => behind_flag(draft, dialect)?,
    };
    let rest = draft.words.get(start..)?;
    let range = rest.first()?.range.start..rest.last()?.range.end;
    let range = unquoted(text, range);
    let argv: Vec<String> =
        draft.words.iter().take(start).filter_map(|word| word.literal()).collect();
    let within = |inner: Range<usize>| place(range.start + inner.start..range.start + inner.end);
    let inner = text.slice(range.clone());
    let script = parse_nested(&inner, Invocation::of_argv(&argv), &within, depth + 1);
    script.errors().is_empty().then_some(script)
}

/// Flags of PowerShell that take the next word.
const VALUED: &[&str] = &[
    "-configurationname",
    "-ep",
    "-ex",
    "-executionpolicy",
    "-inputformat",
    "-outputformat",
    "-psconsolefile",
    "-version",
    "-windowstyle",
    "-workingdirectory",
];

/// The index of the first word that PowerShell runs. Windows PowerShell needs no flag for it;
/// PowerShell 7 takes the word for a file then.
fn powershell_text(draft: &Draft, program: &str) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = draft.words.get(at)?.literal() {
        if is_command_flag(&word, Dialect::PowerShell) {
            return Some(at + 1);
        }
        let lower = word.to_ascii_lowercase();
        if !lower.starts_with('-') {
            break;
        }
        if ["-f", "-file", "-e", "-ec", "-enc", "-encodedcommand"].contains(&lower.as_str()) {
            return None;
        }
        at += if VALUED.contains(&lower.as_str()) { 2 } else { 1 };
    }
    (!program.to_ascii_lowercase().contains("pwsh")).then_some(at)
}

fn behind_flag(draft: &Draft, dialect: Dialect) -> Option<usize> {
    let flag = draft
        .words
        .iter()
        .skip(1)
        .position(|word| word.literal().is_some_and(|word| is_command_flag(&word, dialect)))?;
    Some(flag + 2)
}

/// A range without the quotes around all of it.
fn unquoted(text: &str, range: Range<usize>) -> Range<usize> {
    let written = text.get(range.clone()).unwrap_or_default().as_bytes();
    match written {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => range.start + 1..range.end - 1,
        _ => range,
    }
}
