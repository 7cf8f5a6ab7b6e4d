//! Commands that never run, input that nobody reads, and aliases that come too late.

use probity_finding::Span;

use super::Findings;
use crate::{
    Block, BlockKind, Command, Joiner, PartKind, Pipeline, Redirection, RedirectionKind, Script,
    Stage, StageKind,
};

pub(super) fn check(script: &Script, findings: &mut Findings) {
    for block in &script.blocks {
        for pipeline in &block.pipelines {
            overridden(script, pipeline, findings);
        }
        never_reached(script, block, findings);
    }
    aliases(script, findings);
}

fn redirections<'s>(script: &'s Script, stage: &'s Stage) -> &'s [Redirection] {
    match &stage.kind {
        StageKind::Command(index) => {
            script.commands.get(*index).map(|command| command.redirections()).unwrap_or_default()
        }
        StageKind::Compound(compound) => &compound.redirections,
    }
}

/// `a | b < file`
fn overridden(script: &Script, pipeline: &Pipeline, findings: &mut Findings) {
    for stage in pipeline.stages.iter().skip(1) {
        let input = redirections(script, stage).iter().find(|redirection| {
            let is_input = matches!(
                redirection.kind,
                RedirectionKind::Input
                    | RedirectionKind::HereDocument
                    | RedirectionKind::HereString
            );
            let parts = redirection.target.iter().flat_map(|target| target.parts());
            let mut programs =
                parts.filter(|part| matches!(part.kind, PartKind::ProcessSubstitution { .. }));
            is_input && redirection.fd.is_none_or(|fd| fd == 0) && programs.next().is_none()
        });
        if let Some(input) = input {
            let message = "this takes the place of what comes out of the pipe";
            findings.error(2259, input.span, message);
        }
    }
}

/// `exec a; b`
fn never_reached(script: &Script, block: &Block, findings: &mut Findings) {
    let is_loop = block.kind == BlockKind::LoopBody;
    let has_end = matches!(
        block.kind,
        BlockKind::Script | BlockKind::Group | BlockKind::Branch | BlockKind::Function
    );
    if !is_loop && !has_end {
        return;
    }
    let last = (0..block.pipelines.len())
        .rev()
        .find(|&at| !alone(script, block, at).is_some_and(is_farewell));
    let Some(last) = last else { return };
    // The last one of a loop has the first one behind it.
    let end = if is_loop { last + 1 } else { last };
    for at in 0..end {
        let Some(command) = alone(script, block, at) else { continue };
        let is_exec = command.words.first().is_some_and(|word| word.text() == "exec");
        if is_exec && command.words.len() > 1 && !comes_back(script) {
            let message = "`exec` does not return, so nothing after it runs";
            findings.warning(2093, command.span, message);
        }
    }
}

/// Whether the shell is told to go on where `exec` fails.
fn comes_back(script: &Script) -> bool {
    let mut words = script.commands.iter().flat_map(|command| &command.words);
    words.any(|word| word.text() == "execfail")
}

/// The command of a pipeline that is nothing else and not joined to others.
fn alone<'s>(script: &'s Script, block: &Block, at: usize) -> Option<&'s Command> {
    let is_joined = |pipeline: &Pipeline| matches!(pipeline.joiner, Joiner::And | Joiner::Or);
    let own = block.pipelines.get(at)?;
    let next = block.pipelines.get(at + 1);
    let is_plain = !own.negated && !own.timed && !own.background;
    if is_joined(own) || next.is_some_and(is_joined) || !is_plain {
        return None;
    }
    match &*own.stages {
        [Stage { kind: StageKind::Command(index), .. }] => script.commands.get(*index),
        _ => None,
    }
}

/// What one writes behind an `exec` for the case that it fails.
fn is_farewell(command: &Command) -> bool {
    let is_exec = command.words.first().is_some_and(|word| word.text() == "exec");
    let name = command.words.get(usize::from(is_exec));
    name.is_none_or(|name| matches!(name.text(), "echo" | "exit" | "printf"))
}

/// `alias a=b; a`: a line is read as a whole before any of it is run.
fn aliases(script: &Script, findings: &mut Findings) {
    let is_alias =
        |command: &Command| command.words.first().is_some_and(|name| name.text() == "alias");
    if !script.commands.iter().any(is_alias) {
        return;
    }
    let Some(block) = script.blocks.first() else { return };
    let mut rest = &*script.commands;
    let mut pipelines = block.pipelines.iter().peekable();
    while let Some(first) = pipelines.next() {
        let mut end = first.span.end;
        while let Some(next) = pipelines.next_if(|pipeline| pipeline.joiner != Joiner::Newline) {
            end = next.span.end;
        }
        let (unit, behind) =
            rest.split_at(rest.partition_point(|command| command.span.start < end));
        in_unit(unit, findings);
        rest = behind;
    }
}

fn in_unit(commands: &[Command], findings: &mut Findings) {
    let mut known: Vec<(String, Option<Span>)> = Vec::new();
    for command in commands {
        let [name, arguments @ ..] = &*command.words else { continue };
        let used = known.iter_mut().find(|(alias, _)| *alias == name.text());
        if let Some((_, definition)) = used {
            if let Some(span) = definition.take() {
                let message =
                    "the shell reads this line before it defines the alias; use a function";
                findings.warning(2262, span, message);
            }
            findings.info(2263, command.span, "this is not the alias that the line defines");
        }
        if name.text() == "alias" {
            let defined = arguments.iter().filter_map(|word| {
                Some((word.prefix().split_once('=')?.0.to_owned(), Some(word.span())))
            });
            known.extend(defined);
        }
    }
}
