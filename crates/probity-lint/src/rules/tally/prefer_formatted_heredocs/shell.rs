//! The indentation of a shell script, by what opens and closes in it.
//!
//! Outside words and comments, a script consists of operators and keywords, so these can be read
//! without taking an argument for one.

use std::ops::Range;

use probity_dockerfile::{Heredoc, Keyword};
use probity_finding::Span;
use probity_shell::{Command, Invocation, Script, StageKind};

use crate::engine::context::Context;

/// The lines of a heredoc in their layout; nothing if it is not a script that can be indented.
pub(super) fn indented(context: &Context<'_>, index: usize, heredoc: &Heredoc) -> Option<String> {
    let body = heredoc.body.slice(context.file.text)?;
    let copied;
    let is_inside = |script: &&Script| heredoc.body.encloses(script.span);
    let script = match context.scripts(index).iter().find(is_inside) {
        Some(script) => script,
        None if context.innermost(index)?.keyword == Keyword::Run => {
            return None;
        }
        None => {
            copied = copied_script(body, heredoc.body.start)?;
            &copied
        }
    };
    if script.opaque.is_some() || !script.errors().is_empty() || script.commands.is_empty() {
        return None;
    }
    let covered = covered(script, heredoc.body.start, body);
    let mut depth = 0_usize;
    let mut unit: Option<&str> = None;
    let mut out = String::with_capacity(body.len());
    let mut start = 0;
    let mut is_continued = false;
    for line in body.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t']);
        let own = line.get(..line.len() - content.len())?;
        let tokens = tokens(body, start..start + line.len(), &covered);
        if tokens.iter().any(|token| matches!(*token, "case" | "esac" | "select")) {
            return None;
        }
        let is_fixed = is_continued || is_within(&covered, start) || content.trim_end().is_empty();
        let begins = |token: &&&str| content.starts_with(**token);
        let closes = tokens.first().filter(begins).is_some_and(|token| change(token).1);
        let level = depth.saturating_sub(usize::from(closes));
        if is_fixed {
            out.push_str(line);
        } else {
            if level == 1 && unit.is_none() && !own.is_empty() {
                unit = Some(own);
            }
            out.extend(std::iter::repeat_n(unit.unwrap_or("\t"), level));
            out.push_str(content);
        }
        for token in &tokens {
            let (opens, closes) = change(token);
            depth = depth.saturating_sub(usize::from(closes)) + usize::from(opens);
        }
        is_continued = goes_on(content, tokens.last().copied());
        start += line.len();
    }
    Some(out)
}

/// What a keyword or an operator does: whether it opens a level, and whether it closes one.
fn change(token: &str) -> (bool, bool) {
    match token {
        "then" | "do" | "{" | "(" => (true, false),
        "fi" | "done" | "}" | ")" | "elif" => (false, true),
        "else" => (true, true),
        _ => (false, false),
    }
}

/// Whether the next line belongs to the command of this one.
fn goes_on(line: &str, last: Option<&str>) -> bool {
    let line = line.trim_end_matches(['\r', '\n']);
    let is_joined = last.is_some_and(|token| matches!(token, "&&" | "||" | "|" | "|&"));
    line.ends_with('\\') || is_joined && line.trim_end().ends_with(['&', '|'])
}

/// A script that a file is made of.
fn copied_script(body: &str, start: usize) -> Option<Script> {
    let first = body.lines().next().unwrap_or_default();
    let argv: Vec<&str> = match first.strip_prefix("#!") {
        Some(program) => program.split_ascii_whitespace().collect(),
        None => vec!["sh"],
    };
    let invocation = Invocation::of_argv(&argv);
    invocation.dialect.is_posix().then(|| probity_shell::parse(body, start, invocation))
}

/// The ranges of the body that words and here-documents take, in order.
fn covered(script: &Script, start: usize, body: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut add = |span: Span| {
        let end = span.end.saturating_sub(start).min(body.len());
        spans.push(span.start.saturating_sub(start)..end);
    };
    // The line with the delimiter belongs to a here-document, and so does the newline before it.
    let whole = |document: Span| {
        let behind = document.end.saturating_sub(start).min(body.len());
        let rest = body.get(behind..).unwrap_or_default();
        let line = rest.find('\n').unwrap_or(rest.len());
        Span::new(document.start.saturating_sub(1), document.end + line)
    };
    let of_command = |command: &Command, add: &mut dyn FnMut(Span)| {
        command.words.iter().for_each(|word| add(word.span()));
        command.assignments().iter().for_each(|assignment| add(assignment.span));
        for redirection in command.redirections() {
            add(redirection.span);
            if let Some(document) = &redirection.here_document {
                add(whole(document.body));
            }
        }
    };
    script.commands.iter().for_each(|command| of_command(command, &mut add));
    for block in &script.blocks {
        for stage in block.pipelines.iter().flat_map(|pipeline| &pipeline.stages) {
            if let StageKind::Compound(compound) = &stage.kind {
                compound.words.iter().for_each(|word| add(word.span()));
                compound.redirections.iter().for_each(|redirection| add(redirection.span));
            }
        }
    }
    spans.sort_by_key(|range| (range.start, range.end));
    // Words contain the words of their substitutions.
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in spans {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Whether an offset is behind the beginning of a covered range.
fn is_within(covered: &[Range<usize>], offset: usize) -> bool {
    let next = covered.partition_point(|range| range.end <= offset);
    covered.get(next).is_some_and(|range| range.start < offset)
}

/// The keywords and operators of a range.
fn tokens<'b>(body: &'b str, range: Range<usize>, covered: &[Range<usize>]) -> Vec<&'b str> {
    let mut found = Vec::new();
    let mut at = range.start;
    let mut next = covered.partition_point(|it| it.end <= at);
    while at < range.end {
        let end = covered.get(next).map_or(range.end, |it| it.start.min(range.end));
        let gap = body.get(at..end.max(at)).unwrap_or_default();
        let code = gap.split('#').next().unwrap_or_default();
        for word in code.split_ascii_whitespace() {
            split_operators(word, &mut found);
        }
        if code.len() < gap.len() {
            break;
        }
        at = covered.get(next).map_or(range.end, |it| it.end.max(end));
        next += 1;
    }
    found
}

/// `);` is `)` and `;`.
fn split_operators<'b>(word: &'b str, found: &mut Vec<&'b str>) {
    let mut rest = word;
    while !rest.is_empty() {
        let length = match rest.as_bytes() {
            [b'&', b'&', ..] | [b'|', b'|' | b'&', ..] | [b';', b';', ..] => 2,
            [b'(' | b')' | b'{' | b'}' | b';' | b'&' | b'|' | b'<' | b'>', ..] => 1,
            bytes => {
                let is_operator = |byte: &u8| b"(){};&|<>".contains(byte);
                bytes.iter().position(is_operator).unwrap_or(bytes.len())
            }
        };
        let (token, behind) = rest.split_at(length);
        found.push(token);
        rest = behind;
    }
}
