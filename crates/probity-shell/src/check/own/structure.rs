//! Assignments that are none, tests that are none, and commands that do nothing.

use probity_finding::Span;

use super::{Findings, portability};
use crate::{
    BlockKind, Command, CompoundKind, Joiner, Operation, PartKind, Pipeline, Quote, Script,
    StageKind, Word,
};

/// Pipelines.
pub(super) fn check(script: &Script, findings: &mut Findings) {
    let setters = script.setters().iter();
    let mut errexit = setters.filter_map(|setter| script.commands.get(setter.command));
    let has_errexit = script.invocation.errexit || errexit.any(sets_errexit);
    for (index, block) in script.blocks.iter().enumerate() {
        for (at, pipeline) in block.pipelines.iter().enumerate() {
            let next = block.pipelines.get(at + 1);
            let is_checked =
                next.is_some_and(|next| matches!(next.joiner, Joiner::And | Joiner::Or));
            // The last one is what the text comes to.
            let is_last = index == 0 && next.is_none();
            let may_be = !matches!(block.kind, BlockKind::Condition | BlockKind::Function);
            if has_errexit && pipeline.negated && may_be && !is_checked && !is_last {
                let message = "errexit ignores the result of a command after `!`; state what should happen, for example `&& exit 1`";
                findings.info(2251, pipeline.span, message);
            }
            let is_alone = !is_checked && !matches!(pipeline.joiner, Joiner::And | Joiner::Or);
            if pipeline.background && is_alone && is_test(script, pipeline) {
                let end = Span::at(pipeline.span.end);
                let message = "the result of a test in the background is lost; did you mean `&&`?";
                findings.error(2265, end, message);
            }
            redirections_alone(script, pipeline, findings);
            for stage in &pipeline.stages {
                let StageKind::Compound(compound) = &stage.kind else { continue };
                portability::redirections(&compound.redirections, findings);
                if let (CompoundKind::Test, [word]) = (compound.kind, compound.words.as_slice()) {
                    glued(word, findings);
                }
            }
        }
    }
}

/// Simple commands.
pub(super) fn command(command: &Command, findings: &mut Findings) {
    let [first, rest @ ..] = &*command.words else { return };
    if let [variable, equals, ..] = first.parts()
        && let PartKind::Variable(it) = &variable.kind
        && it.operation == Operation::Value
        && is_name(&it.name)
        && variable.quote == Quote::None
        && matches!(&equals.kind, PartKind::Text(text) if text.starts_with('='))
    {
        let message = "an assignment has the name without `$` on its left side";
        findings.error(2281, first.span(), message);
    }
    if let Some(second) = rest.first().filter(|word| !word.is_quoted()) {
        if second.is("==") {
            findings.error(2284, first.span(), "values are compared within `[ … ]`");
        } else if second.prefix().starts_with('=') && !first.is_quoted() && is_name(first.text()) {
            let message = "with spaces around `=`, the shell runs this assignment as a command; remove the spaces";
            findings.error(2283, second.span(), message);
        }
    }
    if first.is("[")
        && let [operand, end] = rest
        && end.is("]")
    {
        glued(operand, findings);
    }
}

/// `"$x"=a` as the only operand of a test.
fn glued(word: &Word, findings: &mut Findings) {
    let has_operator = word.parts().iter().any(|part| {
        part.quote == Quote::None
            && matches!(&part.kind, PartKind::Text(text) if text.contains('='))
    });
    if has_operator && word.literal().is_none() {
        findings.error(
            2077,
            word.span(),
            "without spaces around the operator, this is always true",
        );
    }
}

fn redirections_alone(script: &Script, pipeline: &Pipeline, findings: &mut Findings) {
    for stage in &pipeline.stages {
        let StageKind::Command(index) = stage.kind else { continue };
        let Some(command) = script.commands.get(index) else { continue };
        let Some(redirection) = command.redirections().first() else { continue };
        // A here-document alone is found by the linter crate.
        if !command.words.is_empty()
            || !command.assignments().is_empty()
            || redirection.here_document.is_some()
        {
            continue;
        }
        match pipeline.stages.len() {
            1 => {
                let message = "this redirection has no command; `true` or `:` would be one";
                findings.warning(2188, redirection.span, message);
            }
            _ => {
                let message = "a redirection without a command reads and writes nothing in a pipe";
                findings.error(2189, redirection.span, message);
            }
        }
    }
}

fn sets_errexit(command: &Command) -> bool {
    let words = command.call().args();
    let mut options = words.iter().filter_map(Word::literal);
    options.any(|option| {
        option == "errexit" || option.strip_prefix('-').is_some_and(|letters| letters.contains('e'))
    })
}

fn is_test(script: &Script, pipeline: &Pipeline) -> bool {
    let [stage] = &*pipeline.stages else { return false };
    match &stage.kind {
        StageKind::Command(index) => script
            .commands
            .get(*index)
            .and_then(|command| command.words.first())
            .is_some_and(|name| name.is("[") || name.is("test")),
        StageKind::Compound(compound) => compound.kind == CompoundKind::Test,
    }
}

pub(super) fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}
