//! Changes to whole instructions and to the pairs of `ENV` and `LABEL`.

use probity_dockerfile::{Arguments, Instruction, Pair, Stage};
use probity_finding::{Edit, Span};

use crate::{
    engine::context::Context,
    text::{
        lines::{line_end, whole_lines},
        shell_edits::has_comment,
    },
};

/// Puts instructions on the lines after an instruction.
pub(crate) fn insert_after(
    context: &Context<'_>,
    instruction: &Instruction,
    written: &str,
) -> Edit {
    let text = context.file.text;
    let newline = line_end(text);
    let end = whole_lines(text, instruction.span).end;
    let is_last = text.get(..end).is_some_and(|before| !before.ends_with('\n'));
    if is_last {
        Edit::insert(end, format!("{newline}{written}"))
    } else {
        Edit::insert(end, format!("{written}{newline}"))
    }
}

/// Puts instructions on the lines after the `FROM` of a stage.
pub(crate) fn insert_at_top(context: &Context<'_>, stage: &Stage, written: &str) -> Option<Edit> {
    let from = context.file.instructions.get(stage.instruction)?;
    Some(insert_after(context, from, written))
}

/// Removes the lines of an instruction; none where comments would go with it.
pub(crate) fn remove(context: &Context<'_>, instruction: &Instruction) -> Option<Edit> {
    let lines = whole_lines(context.file.text, instruction.span);
    instruction.inner_comments().is_empty().then(|| Edit::delete(lines))
}

/// Removes one pair, or the whole instruction where it has no other; none where comments would go with
/// it.
pub(crate) fn remove_pair(
    context: &Context<'_>,
    instruction: &Instruction,
    pair: &Pair,
) -> Option<Edit> {
    let Arguments::Pairs { pairs, legacy } = &instruction.arguments else { return None };
    if *legacy || pairs.len() == 1 {
        return remove(context, instruction);
    }
    let at = pairs.iter().position(|other| other.span == pair.span)?;
    let span = match at.checked_sub(1).and_then(|before| pairs.get(before)) {
        Some(before) => Span::new(before.span.end, pair.span.end),
        None => Span::new(pair.span.start, pairs.get(1)?.span.start),
    };
    (!has_comment(context, span)).then(|| Edit::delete(span))
}
