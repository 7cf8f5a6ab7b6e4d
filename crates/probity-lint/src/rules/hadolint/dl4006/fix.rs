//! The `SHELL` that a pipe needs: the one that is there with an option more, or a new one.

use std::{cell::OnceCell, collections::HashSet};

use probity_dockerfile::{Arguments, Base, Command, Keyword, ShellSource, Stage};
use probity_finding::{Edit, Fix};
use probity_shell::{Call, Dialect, Invocation, Pipeline, Script, StageKind};

use crate::{
    engine::context::Context,
    facts::base_image::{self, BaseShell},
    text::lines,
};

/// What the fixes of one file have in common, found when the first of them is asked for.
#[derive(Default)]
pub(super) struct Fixes {
    known: OnceCell<Known>,
}

struct Known {
    /// The shells that also run a pipe whose reader goes away before its writer is done. The writer
    /// fails by that, which only the option makes a failure of.
    breaking: HashSet<ShellKey>,
    /// For each stage, the first pipe in it and in the stages that it is made of, the lowest first.
    first_pipes: Vec<Option<usize>>,
}

/// A shell of the file: who sets it, and in which chain of stages.
type ShellKey = (Option<ShellSource>, Option<usize>);

impl Fixes {
    pub(super) fn of(&self, context: &Context<'_>, run: usize, script: &Script) -> Option<Fix> {
        let shell = &context.facts.state(run)?.shell;
        // Another shell does not care for what SHELL says.
        let is_reached = is_first(context, run, script)
            && script.invocation == Invocation::of_argv(&shell.argv)
            && script.opaque.is_none();
        if !is_reached {
            return None;
        }
        let known = self.known.get_or_init(|| Known::of(context));
        let edit = match shell.source {
            _ if known.breaking.contains(&shell_key(context, run)) => None,
            ShellSource::Instruction(instruction) => with_option(context, instruction),
            ShellSource::Default => new_shell(context, run, known),
            ShellSource::Pragma(_) => None,
        };
        edit.map(|edit| Fix::suggestion("set pipefail by SHELL", vec![edit]))
    }
}

impl Known {
    fn of(context: &Context<'_>) -> Self {
        let breaking = (0..context.file.instructions.len()).filter(|&at| {
            context.scripts(at).first().is_some_and(|script| {
                let mut pipelines = script.blocks.iter().flat_map(|block| &block.pipelines);
                pipelines.any(|pipeline| closes_early(script, pipeline))
            })
        });
        let breaking = breaking.map(|at| shell_key(context, at)).collect();
        let mut first_pipes: Vec<Option<usize>> = Vec::new();
        for stage in context.facts.stages() {
            let below = match stage.base {
                Base::Stage(base) => first_pipes.get(base).copied().flatten(),
                _ => None,
            };
            first_pipes.push(below.or_else(|| first_pipe(context, stage)));
        }
        Self { breaking, first_pipes }
    }
}

fn shell_key(context: &Context<'_>, at: usize) -> ShellKey {
    let source = context.facts.state(at).map(|state| state.shell.source);
    (source, context.facts.stage_of(at).map(|stage| stage.root))
}

fn closes_early(script: &Script, pipeline: &Pipeline) -> bool {
    let calls: Vec<Option<Call<'_>>> = pipeline
        .stages
        .iter()
        .map(|stage| match stage.kind {
            StageKind::Command(index) => {
                script.commands.get(index).map(|command| command.effective())
            }
            StageKind::Compound(_) => None,
        })
        .collect();
    let readers = calls.iter().skip(1).flatten();
    let mut writers = calls.iter().rev().skip(1).flatten();
    writers.any(|writer| writer.is_any(&["yes"])) || readers.into_iter().any(stops_reading)
}

/// Whether a command may end before it has read everything.
fn stops_reading(call: &Call<'_>) -> bool {
    let has_text =
        |test: fn(&str) -> bool| call.args().iter().any(|argument| test(argument.text()));
    match call.name().unwrap_or_default().as_ref() {
        "head" | "read" | "true" | "false" | ":" | "less" | "more" => true,
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" => {
            call.has_flag(&["-q", "--quiet", "--silent", "-m", "--max-count", "-l"])
        }
        "sed" => has_text(|word| word.contains(['q', 'Q'])),
        "awk" | "gawk" | "mawk" => has_text(|word| word.contains("exit")),
        _ => false,
    }
}

fn is_first(context: &Context<'_>, run: usize, script: &Script) -> bool {
    context.scripts(run).first().is_some_and(|first| first.span == script.span)
}

/// `SHELL ["/bin/bash", "-c"]` becomes `SHELL ["/bin/bash", "-o", "pipefail", "-c"]`.
fn with_option(context: &Context<'_>, instruction: usize) -> Option<Edit> {
    let shell = context.file.instructions.get(instruction)?;
    let Arguments::Command(Command::Json { words, .. }) = &shell.arguments else { return None };
    let has_option = Dialect::of_program(&words.first()?.text).has_pipefail();
    let last = words.last().filter(|last| last.text == "-c" && has_option)?;
    Some(Edit::insert(last.span.start, "\"-o\", \"pipefail\", "))
}

/// A new one before the first pipe of the stage, or of the stage that it is based on.
fn new_shell(context: &Context<'_>, run: usize, known: &Known) -> Option<Edit> {
    let path = match base_image::shell(context, run)? {
        BaseShell::Bash => "/bin/bash",
        BaseShell::Ash => "/bin/ash",
    };
    let stage = context.facts.stage_of(run)?;
    let first = known.first_pipes.get(stage.index).copied().flatten()?;
    let shell = format!("SHELL [\"{path}\", \"-o\", \"pipefail\", \"-c\"]");
    Some(lines::instruction_before(context.file, context.file.instructions.get(first)?, &shell))
}

/// The first `RUN` of a stage that wants another shell than the default.
fn first_pipe(context: &Context<'_>, stage: &Stage) -> Option<usize> {
    stage.instructions.clone().find(|&index| {
        let is_run = context
            .file
            .instructions
            .get(index)
            .is_some_and(|instruction| instruction.keyword == Keyword::Run);
        let shell = context.facts.state(index).map(|state| &state.shell);
        let is_default = shell.is_some_and(|shell| shell.source == ShellSource::Default);
        let script = context.scripts(index).first().filter(|_| is_run && is_default);
        script.zip(shell).is_some_and(|(script, shell)| {
            script.invocation == Invocation::of_argv(&shell.argv)
                && !super::pipes(script).is_empty()
        })
    })
}
