//! The `SHELL` that a pipe needs: the one that is there with an option more, or a new one.

use probity_dockerfile::{Arguments, Base, Command, Keyword, ShellSource, Stage};
use probity_finding::{Edit, Fix};
use probity_shell::{Dialect, Invocation, Script};

use crate::{
    base_image::{self, BaseShell},
    context::Context,
    lines,
};

pub(super) fn fix(context: &Context<'_>, run: usize, script: &Script) -> Option<Fix> {
    let shell = &context.facts.state(run)?.shell;
    // Another shell does not care for what SHELL says.
    let is_reached = is_first(context, run, script)
        && script.invocation == Invocation::of_argv(&shell.argv)
        && script.opaque.is_none();
    let edit = match shell.source {
        _ if !is_reached => None,
        ShellSource::Instruction(instruction) => with_option(context, instruction),
        ShellSource::Default => new_shell(context, run),
        ShellSource::Pragma(_) => None,
    };
    edit.map(|edit| Fix::suggestion("set pipefail by SHELL", vec![edit]))
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
fn new_shell(context: &Context<'_>, run: usize) -> Option<Edit> {
    let path = match base_image::shell(context, run)? {
        BaseShell::Bash => "/bin/bash",
        BaseShell::Ash => "/bin/ash",
    };
    let first = chain(context, run).into_iter().find_map(|stage| first_pipe(context, stage))?;
    let start = context.file.instructions.get(first)?.span.start;
    let line_end = lines::line_end(context.file.text);
    let shell = format!("SHELL [\"{path}\", \"-o\", \"pipefail\", \"-c\"]{line_end}");
    Some(Edit::insert(start, shell))
}

/// The stages that an instruction's stage is made of, the lowest first.
fn chain<'a>(context: &Context<'a>, instruction: usize) -> Vec<&'a Stage> {
    let below = |stage: &&'a Stage| match stage.base {
        Base::Stage(base) => context.facts.stages().get(base),
        _ => None,
    };
    let mut stages: Vec<&Stage> =
        std::iter::successors(context.facts.stage_of(instruction), below).collect();
    stages.reverse();
    stages
}

/// The first `RUN` of a stage that wants another shell than the default.
fn first_pipe(context: &Context<'_>, stage: &Stage) -> Option<usize> {
    stage.instructions.clone().find(|&index| {
        let is_run =
            context.file.instructions.get(index).is_some_and(|it| it.keyword == Keyword::Run);
        let shell = context.facts.state(index).map(|state| &state.shell);
        let is_default = shell.is_some_and(|shell| shell.source == ShellSource::Default);
        let script = context.scripts(index).first().filter(|_| is_run && is_default);
        script.zip(shell).is_some_and(|(script, shell)| {
            script.invocation == Invocation::of_argv(&shell.argv) && !super::pipes(script).is_empty()
        })
    })
}
