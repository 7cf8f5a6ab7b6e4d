//! Programs that download, and where stages configure them.

use probity_dockerfile::{Action, Arguments, Base, Keyword, PackageKind};
use probity_finding::Span;
use probity_shell::{Call, Dialect, Script};

use crate::{engine::context::Context, facts::environment};

/// How a program that downloads is configured.
pub(crate) struct Downloader {
    pub(crate) program: &'static str,
    /// The variable that names its configuration.
    pub(crate) variable: &'static str,
    /// The ends of the paths of its configuration files.
    pub(crate) files: &'static [&'static str],
    /// Flags of a call that make a configuration needless.
    pub(crate) flags: &'static [&'static str],
}

/// The place in each stage where a program is first installed or called without a configuration.
/// A stage that is based on a reported stage is not reported again.
pub(crate) fn unconfigured(context: &Context<'_>, downloader: &Downloader) -> Vec<(usize, Span)> {
    // Most files that call neither need not be looked through.
    if !context.file.text.contains(downloader.program) {
        return Vec::new();
    }
    let mut is_settled: Vec<bool> = Vec::new();
    let mut found = Vec::new();
    for stage in context.facts.stages() {
        let below = match stage.base {
            Base::Stage(base) => is_settled.get(base).copied().unwrap_or_default(),
            _ => false,
        };
        let sets = |(name, _): (&str, &str)| name == downloader.variable;
        let is_configured = environment::of_stage(context, stage.index).any(sets)
            || stage.instructions.clone().any(|index| writes(context, index, downloader));
        let mut uses = stage
            .instructions
            .clone()
            .filter_map(|index| Some((index, used(context, index, downloader)?)));
        let first = if below || is_configured { None } else { uses.next() };
        is_settled.push(below || is_configured || first.is_some());
        found.extend(first);
    }
    found
}

/// Where an instruction installs or calls the program.
fn used(context: &Context<'_>, index: usize, downloader: &Downloader) -> Option<Span> {
    if context.file.instructions.get(index)?.keyword != Keyword::Run {
        return None;
    }
    let installs = context.all_package_calls(index);
    let installed = installs
        .iter()
        .filter(|call| call.action == Action::Install)
        .flat_map(|call| &call.packages)
        .find(|package| match &package.kind {
            PackageKind::Named { name, .. } => name == downloader.program,
            _ => false,
        });
    let called = context.scripts(index).iter().flat_map(|script| {
        let commands = script.all_commands().iter().map(|command| command.effective());
        commands.filter(move |call| is_call(script, call, downloader.program))
    });
    let mut called = called.filter(|call| {
        !call.has_flag(downloader.flags) && !call.has_flag(&["--version", "--help"])
    });
    let called = called.next().and_then(|call| call.name_word()).map(|word| word.span());
    [installed.map(|package| package.span), called].into_iter().flatten().min()
}

/// Whether a call runs the program. Windows PowerShell has aliases of its own for both names, so
/// there a program needs its ending.
fn is_call(script: &Script, call: &Call<'_>, program: &str) -> bool {
    match script.invocation.dialect {
        Dialect::PowerShell => {
            let has_ending = call.name_word().is_some_and(|word| word.prefix().contains('.'));
            has_ending && call.windows_name().as_deref() == Some(program)
        }
        Dialect::Cmd => call.windows_name().as_deref() == Some(program),
        _ => call.is_any(&[program]),
    }
}

/// Whether an instruction writes the configuration.
fn writes(context: &Context<'_>, index: usize, downloader: &Downloader) -> bool {
    let Some(instruction) = context.file.instructions.get(index) else { return false };
    let is_config = |text: &str| {
        let text = text.trim_matches(['"', '\'']);
        downloader.files.iter().any(|file| text.ends_with(file))
    };
    match &instruction.arguments {
        Arguments::Transfer { sources, destination, .. } => {
            sources.iter().chain(destination.as_deref()).any(|word| is_config(&word.text))
        }
        _ if instruction.keyword == Keyword::Run => {
            let commands = context.scripts(index).iter().flat_map(|script| script.all_commands());
            let mut words = commands.flat_map(|command| {
                let targets = command
                    .redirections()
                    .iter()
                    .filter_map(|redirection| redirection.target.as_ref());
                command.words.iter().chain(targets)
            });
            words.any(|word| is_config(word.text()))
        }
        _ => false,
    }
}
