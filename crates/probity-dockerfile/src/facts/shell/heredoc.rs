//! RUN with heredocs: the body as the script, or as the input of a shell in the line.

use std::borrow::Cow;

use probity_shell::{Call, Command, Dialect, Invocation, RedirectionKind, Script};

use super::parse;
use crate::{Dockerfile, Heredoc, Instruction, Logical, logical::LogicalBuilder};

/// The text of a RUN with everything that belongs to it.
pub(super) fn text(
    dockerfile: &Dockerfile<'_>,
    instruction: &Instruction,
    line: Logical,
    invocation: Invocation,
) -> (Logical, Invocation) {
    // A line that is one marker and nothing else stands for its body.
    if let [heredoc] = instruction.heredocs()
        && heredoc.marker == line.span(0..line.text.len())
    {
        let body = body(dockerfile, heredoc);
        let invocation = shebang(&body.text).unwrap_or(invocation);
        return (body, invocation);
    }
    if instruction.heredocs().is_empty() {
        return (line, invocation);
    }
    let mut whole = LogicalBuilder::from(line);
    for heredoc in instruction.heredocs() {
        // The shell sees the lines as they are, and takes the tabs off by itself.
        whole.push("\n", heredoc.body.start.saturating_sub(1));
        push_lines(&mut whole, dockerfile, heredoc, false);
        if let Some(end) = heredoc.terminator {
            whole.push(end.slice(dockerfile.text).unwrap_or_default(), end.start);
        }
    }
    (whole.finish(), invocation)
}

pub(super) fn scripts(
    dockerfile: &Dockerfile<'_>,
    instruction: &Instruction,
    line: Logical,
    invocation: Invocation,
) -> Vec<Script> {
    let (whole, invocation) = text(dockerfile, instruction, line, invocation);
    let script = parse(&whole, invocation);
    let fed = script.commands.iter().filter_map(|command| {
        let (invocation, heredoc) = fed(command, instruction)?;
        Some(parse(&body(dockerfile, heredoc), invocation))
    });
    let fed: Vec<Script> = fed.collect();
    std::iter::once(script).chain(fed).collect()
}

/// The shell that a command is and the heredoc that it reads its script from.
fn fed<'i>(command: &Command, instruction: &'i Instruction) -> Option<(Invocation, &'i Heredoc)> {
    let call = command.effective();
    let argv = literals(call)?;
    let invocation = Invocation::of_argv(&argv);
    let reads_input = !invocation.takes_command
        && (call.positional(&["-o", "-O"]).is_empty() || call.has_flag(&["-s"]));
    if invocation.dialect == Dialect::Other || !reads_input {
        return None;
    }
    let mut inputs = command.redirections().iter().rev();
    let input = inputs.find(|input| match input.kind {
        RedirectionKind::HereDocument | RedirectionKind::HereString | RedirectionKind::Input => {
            input.fd.unwrap_or(0) == 0
        }
        _ => false,
    })?;
    let marker = input.here_document.as_ref()?.body;
    let heredoc = instruction
        .heredocs()
        .iter()
        .find(|heredoc| heredoc.body.encloses(marker) && marker.start == heredoc.body.start)?;
    Some((invocation, heredoc))
}

fn literals(call: Call<'_>) -> Option<Vec<String>> {
    call.words.iter().map(|word| word.literal().map(Cow::into_owned)).collect()
}

/// The body as the build uses it.
fn body(dockerfile: &Dockerfile<'_>, heredoc: &Heredoc) -> Logical {
    let mut body = LogicalBuilder::default();
    push_lines(&mut body, dockerfile, heredoc, heredoc.strip_tabs);
    body.finish()
}

/// Line by line. A carriage return at the end would be part of the last word of every line, which
/// nobody who writes one has in mind.
fn push_lines(
    logical: &mut LogicalBuilder,
    dockerfile: &Dockerfile<'_>,
    heredoc: &Heredoc,
    strip_tabs: bool,
) {
    let mut at = heredoc.body.start;
    // An empty body has a place too.
    logical.push("", at);
    let body = heredoc.body.slice(dockerfile.text).unwrap_or_default();
    for line in body.split_inclusive('\n') {
        let kept = if strip_tabs { line.trim_start_matches('\t') } else { line };
        let start = at + (line.len() - kept.len());
        match kept.strip_suffix("\r\n") {
            Some(content) => {
                logical.push(content, start);
                logical.push("\n", start + content.len() + 1);
            }
            None => logical.push(kept, start),
        }
        at += line.len();
    }
}

/// What the first line says.
fn shebang(text: &str) -> Option<Invocation> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    Some(Invocation::of_argv(&words))
}
