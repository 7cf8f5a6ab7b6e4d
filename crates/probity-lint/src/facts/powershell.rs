//! The PowerShell scripts of `RUN`, and the preferences that are set when their commands run.

use probity_dockerfile::{Arguments, Command, ShellSource};
use probity_finding::Edit;
use probity_shell::{Dialect, Invocation, PartKind, Script, Word};

use crate::engine::context::Context;

/// A script and what runs it.
pub(crate) struct PowerShell<'a> {
    pub(crate) script: &'a Script,
    /// Whether it is PowerShell 7, which has preferences that Windows PowerShell does not know.
    pub(crate) is_core: bool,
    /// The text of `SHELL` that runs before it.
    prelude: Option<Script>,
    runner: Runner,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// `SHELL`, by the index of the instruction.
    Shell(usize),
    /// A command of cmd or an array of words, which pass the text on as it is.
    Verbatim,
    /// A shell that reads quotes and variables first, or one that nothing is known about.
    Other,
}

/// The PowerShell scripts of an instruction.
pub(crate) fn scripts<'a>(context: &Context<'a>, index: usize) -> Vec<PowerShell<'a>> {
    let all = context.scripts(index);
    // Nearly no file has one.
    if all.iter().all(|script| script.invocation.dialect != Dialect::PowerShell) {
        return Vec::new();
    }
    let state = context.facts.state(index);
    let argv = state.map(|state| state.shell.argv.as_slice()).unwrap_or_default();
    let dialect = Dialect::of_shell(argv);
    let instruction = context.innermost(index).map(|it| &it.arguments);
    let is_array = matches!(instruction, Some(Arguments::Command(Command::Json { .. })));
    let of_shell = |position: usize| position == 0 && dialect == Dialect::PowerShell && !is_array;
    let found = all
        .iter()
        .enumerate()
        .filter(|(_, script)| script.invocation.dialect == Dialect::PowerShell);
    let found = found.map(|(position, script)| {
        let source = state.map(|state| state.shell.source);
        let runner = match source {
            Some(ShellSource::Instruction(shell)) if of_shell(position) => Runner::Shell(shell),
            _ if is_array || dialect == Dialect::Cmd => Runner::Verbatim,
            _ => Runner::Other,
        };
        let prelude = of_shell(position).then(|| prelude(argv)).flatten();
        let is_core = if of_shell(position) {
            argv.first().is_some_and(|program| is_core(program))
        } else {
            all.iter().any(|outer| starts_core(outer, script))
        };
        PowerShell { script, is_core, prelude, runner }
    });
    found.collect()
}

/// Whether a command of the outer script runs the inner one with PowerShell 7.
fn starts_core(outer: &Script, inner: &Script) -> bool {
    outer.all_commands().iter().any(|command| {
        let is_around = command.span.start < inner.span.start && inner.span.end <= command.span.end;
        is_around && command.effective().name_word().is_some_and(|word| is_core(&word.prefix()))
    })
}

fn is_core(program: &str) -> bool {
    program.to_ascii_lowercase().contains("pwsh")
}

/// The commands that the words of `SHELL` run before every script.
fn prelude(argv: &[String]) -> Option<Script> {
    let flag = flag_of(argv.iter().map(String::as_str))?;
    let text = argv.get(flag + 1..).unwrap_or_default().join(" ");
    Some(probity_shell::parse(&text, 0, Invocation::plain(Dialect::PowerShell)))
}

/// The index of the word that the text of a shell follows.
fn flag_of<'w>(argv: impl Iterator<Item = &'w str>) -> Option<usize> {
    let is_flag = |word: &str| Invocation::of_argv(&["powershell", word]).takes_command;
    argv.enumerate().skip(1).find(|(_, word)| is_flag(word)).map(|(at, _)| at)
}

impl PowerShell<'_> {
    /// The value that a preference has at an offset of the file, if a statement of the script or of
    /// its `SHELL` has set it.
    pub(crate) fn preference(&self, name: &str, before: usize) -> Option<&Word> {
        let own = self.script.all_commands().iter();
        let own = own.filter(|command| command.span.start < before);
        let first = self.prelude.iter().flat_map(|prelude| prelude.all_commands());
        let statements = first.chain(own).filter(|command| command.place.block() == 0);
        let assigned = statements.flat_map(|command| command.assignments());
        let last = assigned.rev().find(|assignment| {
            let bare = assignment.name.rsplit(':').next().unwrap_or_default();
            bare.eq_ignore_ascii_case(name)
        });
        last.and_then(|assignment| assignment.value.as_ref())
    }

    /// Runs statements before the script, or before all scripts of its `SHELL`. They contain no
    /// double quotes and end with a semicolon.
    pub(crate) fn insert_before(&self, context: &Context<'_>, statements: &str) -> Option<Edit> {
        let shell = match self.runner {
            Runner::Shell(shell) => context.file.instructions.get(shell)?,
            Runner::Verbatim => {
                return Some(Edit::insert(self.script.span.start, format!("{statements} ")));
            }
            Runner::Other => return None,
        };
        let Arguments::Command(Command::Json { words, .. }) = &shell.arguments else { return None };
        let flag = flag_of(words.iter().map(|word| word.text.as_str()))?;
        let last = words.last()?;
        if flag + 1 == words.len() {
            return Some(Edit::insert(last.span.end, format!(", \"{statements}\"")));
        }
        let separator = if last.text.trim_end().ends_with(';') { " " } else { "; " };
        Some(Edit::insert(last.span.end - 1, format!("{separator}{statements}")))
    }
}

/// Whether a word has this value, in any case.
pub(crate) fn is_value(word: &Word, value: &str) -> bool {
    word.literal().is_some_and(|literal| literal.eq_ignore_ascii_case(value))
}

/// Whether a word is `$true`.
pub(crate) fn is_true(word: &Word) -> bool {
    match word.parts() {
        [part] => {
            matches!(&part.kind, PartKind::Variable(it) if it.name.eq_ignore_ascii_case("true"))
        }
        _ => false,
    }
}
