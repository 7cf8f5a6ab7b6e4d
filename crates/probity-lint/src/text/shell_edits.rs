//! Changes to shell text that leave everything else in it as it is: a word more, a command more, a
//! wrapper less.
//!
//! What a text is written in decides how: a program without a shell is an array of strings, and a
//! chain of commands goes on in the way in which its author has laid it out.

use probity_finding::{Edit, Span};
use probity_shell::{Dialect, Pipeline, Script, StageKind, Word};

use crate::engine::context::Context;

/// Whether the script is a program that is run without a shell: `RUN ["program", "argument"]`.
pub(crate) fn is_exec_form(script: &Script) -> bool {
    script.invocation.dialect == Dialect::Other && script.opaque.is_none()
}

/// Puts arguments behind a word. They must mean nothing to a shell, so that quotes around the text
/// do not matter.
pub(crate) fn insert_behind(
    context: &Context<'_>,
    script: &Script,
    word: Span,
    arguments: &str,
) -> Edit {
    if !is_exec_form(script) {
        return Edit::insert(word.end, format!(" {arguments}"));
    }
    let strings = arguments.split(' ').map(|argument| format!(", \"{argument}\""));
    Edit::insert(with_quotes(context, word).end, strings.collect::<String>())
}

/// Takes words off the beginning of a command, with the blanks and continuations behind them; none
/// where a comment would go with them.
pub(crate) fn remove_before(
    context: &Context<'_>,
    script: &Script,
    words: &[Word],
    next: &Word,
) -> Option<Edit> {
    let first = words.first()?;
    let span = if is_exec_form(script) {
        Span::new(with_quotes(context, first.span()).start, with_quotes(context, next.span()).start)
    } else {
        Span::new(first.span().start, next.span().start)
    };
    (!has_comment(context, span)).then(|| Edit::delete(span))
}

/// Adds a command at the very end of an instruction's text. It runs where everything before it went
/// well, and the status stays what it was where not. None where the end of the text is not the end
/// of what runs.
pub(crate) fn append_command(context: &Context<'_>, index: usize, command: &str) -> Option<Edit> {
    let script = context.scripts(index).first()?;
    let feeds_another = |script: &Script| {
        let mut redirections = script.commands.iter().flat_map(|it| it.redirections());
        redirections.any(|redirection| redirection.here_document.is_some())
    };
    if is_exec_form(script) || !script.errors().is_empty() || feeds_another(script) {
        return None;
    }
    let pipelines = &script.blocks.first()?.pipelines;
    let last = pipelines.last().filter(|last| !last.background && !ends_the_shell(script, last))?;
    let separator = separator(context, pipelines).unwrap_or(" && ");
    Some(Edit::insert(last.span.end, format!("{separator}{command}")))
}

/// How the last `&&` of the text is laid out, where nothing but it, blanks and continuations stands
/// between two commands.
fn separator<'a>(context: &Context<'a>, pipelines: &[Pipeline]) -> Option<&'a str> {
    let between = pipelines.windows(2).rev().filter_map(|pair| {
        let [left, right] = pair else { return None };
        Span::new(left.span.end, right.span.start).slice(context.file.text)
    });
    let escape = context.file.escape;
    let mut plain = between.filter(|text| {
        let rest: String = text
            .chars()
            .filter(|&character| !character.is_whitespace() && character != escape)
            .collect();
        rest == "&&"
    });
    plain.next()
}

/// Whether nothing behind this pipeline would run.
fn ends_the_shell(script: &Script, pipeline: &Pipeline) -> bool {
    pipeline.stages.iter().any(|stage| match stage.kind {
        StageKind::Command(index) => script
            .commands
            .get(index)
            .is_some_and(|command| command.call().is_any(&["exec", "exit", "return"])),
        StageKind::Compound(_) => false,
    })
}

/// Whether the first failure ends the script: the shell was told so, or the first command tells it.
pub(crate) fn stops_at_failure(script: &Script) -> bool {
    let first = script.blocks.first().and_then(|block| block.pipelines.first()?.stages.first());
    let command = match first.map(|stage| &stage.kind) {
        Some(StageKind::Command(command)) => script.commands.get(*command),
        _ => None,
    };
    // `-e`, `-ex`, `-euo`
    let is_errexit = |word: &Word| {
        let letters = word.text().strip_prefix('-').unwrap_or_default();
        !letters.starts_with('-') && letters.contains('e')
    };
    script.invocation.errexit
        || command.is_some_and(|command| {
            let call = command.call();
            call.is_any(&["set"]) && call.args().first().is_some_and(is_errexit)
        })
}

/// Whether a comment line of the Dockerfile lies within a span.
pub(crate) fn has_comment(context: &Context<'_>, span: Span) -> bool {
    // Only the instructions around it are asked: a file of many commands would cost their square.
    let all = &context.file.instructions;
    let first = all.partition_point(|instruction| instruction.span.end <= span.start);
    let behind = first
        + all
            .iter()
            .skip(first)
            .take_while(|instruction| instruction.span.start < span.end)
            .count();
    // The comments before an instruction are its own, so that one more may have some here.
    let near = all.iter().take(behind + 1).skip(first);
    near.flat_map(|instruction| instruction.inner_comments().iter().chain(instruction.comments()))
        .any(|comment| span.start < comment.span.end && comment.span.start < span.end)
}

/// A string of an array with its quotes, which the place of a word leaves out.
fn with_quotes(context: &Context<'_>, word: Span) -> Span {
    let text = context.file.text;
    let is_within = word.start > 0
        && text.get(word.start - 1..word.start) == Some("\"")
        && text.get(word.end..word.end + 1) == Some("\"");
    if is_within { Span::new(word.start - 1, word.end + 1) } else { word }
}
