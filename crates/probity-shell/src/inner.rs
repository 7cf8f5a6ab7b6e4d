//! Texts within a text: the word behind `bash -c` and `su -c` is shell again.

use std::{borrow::Cow, ops::Range};

use probity_finding::{Span, TextSlice};

use crate::{
    Call, Dialect, Invocation, PartKind, Quote, Script, Word, dialect, parse::parse_nested,
};

/// How deep texts within texts are followed; nobody reads further either.
pub(crate) const MAX_DEPTH: usize = 3;

/// A word that is a text for another shell.
pub(crate) struct Inner {
    /// Where the word stands in the text around it.
    pub(crate) range: Range<usize>,
    pub(crate) invocation: Invocation,
}

/// Which words of a command, with its wrappers taken off, are a text for another shell, and how that
/// shell is started.
pub(crate) fn words_of(call: &Call<'_>) -> Option<(Range<usize>, Invocation)> {
    let name = call.name()?;
    let (at, invocation) = match name.as_ref() {
        "su" | "runuser" => (flag_word(call)?, Invocation::plain(Dialect::Sh)),
        name if Dialect::of_program(name) == Dialect::PowerShell => powershell_word(call)?,
        name if Dialect::of_program(name).is_posix() => shell_word(call)?,
        _ => return None,
    };
    // PowerShell joins everything behind its flag; the others take one word.
    let end = if invocation.dialect == Dialect::PowerShell { call.words.len() } else { at + 1 };
    let words = call.words.get(at..end)?;
    let skipped = call.wrappers.len();
    let all_known = !words.is_empty() && words.iter().all(is_known);
    all_known.then_some((skipped + at..skipped + end, invocation))
}

/// Parses the word; nothing where it is no clean shell, since the shell around it may have had its
/// way with it first.
pub(crate) fn parse(
    text: &str,
    inner: &Inner,
    depth: usize,
    place: &dyn Fn(Range<usize>) -> Span,
) -> Option<Script> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let unquoted = Unquoted::of(text, inner.range.clone())?;
    let within = |range: Range<usize>| place(unquoted.place(range));
    let script =
        parse_nested(&TextSlice::from(&*unquoted.text), inner.invocation, &within, depth + 1);
    script.errors().is_empty().then_some(script)
}

/// `-c text` of a program that takes its flags in any order.
fn flag_word(call: &Call<'_>) -> Option<usize> {
    let flag = call.words.iter().position(|word| word.is("-c") || word.is("--command"))?;
    Some(flag + 1)
}

/// `-Command text` of PowerShell.
fn powershell_word(call: &Call<'_>) -> Option<(usize, Invocation)> {
    let is_flag = |word: &Word| {
        word.literal().is_some_and(|word| dialect::is_command_flag(&word, Dialect::PowerShell))
    };
    let flag = call.words.iter().position(is_flag)?;
    let argv: Vec<String> =
        call.words.get(..=flag)?.iter().filter_map(Word::literal).map(Cow::into_owned).collect();
    Some((flag + 1, Invocation::of_argv(&argv)))
}

/// `-c text`, `-lc text`, `-o pipefail -c text` of a shell: the text is the first word that is no
/// option.
fn shell_word(call: &Call<'_>) -> Option<(usize, Invocation)> {
    let mut at = 1;
    while let Some(option) = call.words.get(at)?.literal() {
        if option == "--" {
            at += 1;
            break;
        }
        if !option.starts_with("--") {
            if dialect::switch(&option).is_none() {
                break;
            }
            at += option.chars().filter(|letter| *letter == 'o').count();
        }
        at += 1;
    }
    let argv: Vec<String> =
        call.words.get(..at)?.iter().filter_map(Word::literal).map(Cow::into_owned).collect();
    let invocation = Invocation::of_argv(&argv);
    invocation.takes_command.then_some((at, invocation))
}

/// Whether what the inner shell gets is what is written, but for variables. Commands in `$(…)` are
/// run by the shell around it and stand in its list.
fn is_known(word: &Word) -> bool {
    let quote = word.parts().first().map(|part| part.quote);
    word.parts().iter().all(|part| {
        let is_plain = matches!(part.kind, PartKind::Text(_))
            || matches!(part.kind, PartKind::Variable(_)) && part.quote == Quote::Double;
        is_plain && Some(part.quote) == quote
    })
}

/// A word without its quotes and escapes, and where each piece of it was.
struct Unquoted {
    text: String,
    /// Where pieces begin: in the text without quotes, and in the text around it.
    pieces: Vec<(usize, usize)>,
    end: usize,
}

impl Unquoted {
    /// Nothing for `$'…'` and for words of several quotes.
    fn of(text: &str, range: Range<usize>) -> Option<Self> {
        let raw = text.get(range.clone())?;
        let (content, start, quote) = match raw.as_bytes().first()? {
            quote @ (b'"' | b'\'') => {
                let content = raw.get(1..raw.len().checked_sub(1)?)?;
                (content, range.start + 1, Some(*quote))
            }
            _ => (raw, range.start, None),
        };
        match quote {
            Some(b'\'') if content.contains('\'') => return None,
            None if raw.contains(['\'', '"', '\\', '$']) => return None,
            _ => {}
        }
        let mut found =
            Self { text: String::new(), pieces: vec![(0, start)], end: start + content.len() };
        let mut rest = content.char_indices().peekable();
        while let Some((at, letter)) = rest.next() {
            if quote == Some(b'"') && letter == '"' {
                return None;
            }
            let escaped = rest.next_if(|(_, next)| {
                letter == '\\' && quote == Some(b'"') && matches!(next, '"' | '\\' | '$' | '`')
            });
            match escaped {
                Some((at, letter)) => {
                    found.pieces.push((found.text.len(), start + at));
                    found.text.push(letter);
                }
                None => {
                    if found
                        .pieces
                        .last()
                        .is_some_and(|(from, to)| found.text.len() - from != start + at - to)
                    {
                        found.pieces.push((found.text.len(), start + at));
                    }
                    found.text.push(letter);
                }
            }
        }
        Some(found)
    }

    fn place(&self, range: Range<usize>) -> Range<usize> {
        let start = self.offset(range.start);
        // The last byte tells where the end is: a piece may begin right behind it.
        let end = match range.end.checked_sub(1) {
            Some(last) if range.end > range.start => self.offset(last) + 1,
            _ => start,
        };
        start..end.clamp(start, self.end.max(start))
    }

    fn offset(&self, at: usize) -> usize {
        let index = self.pieces.partition_point(|(from, _)| *from <= at);
        let piece = index.checked_sub(1).and_then(|index| self.pieces.get(index));
        piece.map_or(self.end, |(from, to)| to + (at - from))
    }
}
