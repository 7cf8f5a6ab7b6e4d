//! Whether something behind a `RUN` would mean another path if the working directory were another.

use probity_dockerfile::{Arguments, Base, Command, Keyword};
use probity_shell::Word;

use crate::context::Context;

/// Whether a relative path is written behind an instruction, in its stage or in those made from it,
/// before an absolute `WORKDIR` settles what it means.
pub(super) fn is_relied_on(context: &Context<'_>, index: usize) -> bool {
    let Some(own) = context.facts.stage_of(index) else { return true };
    let mut open = vec![(own.index, index + 1)];
    let mut seen = vec![own.index];
    while let Some((at, start)) = open.pop() {
        let Some(stage) = context.facts.stages().get(at) else { continue };
        match in_range(context, start, stage.instructions.end) {
            Use::Relative => return true,
            Use::Settled => {}
            Use::None => {
                for next in context.facts.stages() {
                    if next.base == Base::Stage(at) && !seen.contains(&next.index) {
                        seen.push(next.index);
                        open.push((next.index, next.instructions.start));
                    }
                }
            }
        }
    }
    false
}

/// What the instructions of a range do with the directory.
enum Use {
    None,
    Relative,
    /// An absolute `WORKDIR` comes first.
    Settled,
}

fn in_range(context: &Context<'_>, start: usize, end: usize) -> Use {
    for index in start..end {
        let Some(instruction) = context.file.instructions.get(index) else { break };
        let is_relative = match &instruction.arguments {
            Arguments::Text(Some(path)) if instruction.keyword == Keyword::Workdir => {
                if path.text.trim_matches(['"', '\'']).starts_with('/') {
                    return Use::Settled;
                }
                true
            }
            Arguments::Transfer { destination, .. } => destination
                .as_ref()
                .is_none_or(|path| !path.text.trim_matches(['"', '\'']).starts_with('/')),
            // What a trigger does happens behind all of this.
            Arguments::Onbuild(_) => true,
            Arguments::Command(Command::Json { words, .. })
                if instruction.keyword != Keyword::Shell =>
            {
                let mut words = words.iter().map(|word| word.text.as_str());
                words.next().is_some_and(is_path) || words.any(may_be_file)
            }
            Arguments::Command(Command::Shell(_)) => {
                is_in_scripts(context, index, instruction.keyword == Keyword::Run)
            }
            _ => false,
        };
        if is_relative {
            return Use::Relative;
        }
    }
    Use::None
}

/// The arguments of a build's commands are mostly no files; those of the program that a container
/// starts mostly are.
fn is_in_scripts(context: &Context<'_>, index: usize, is_run: bool) -> bool {
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    commands.into_iter().any(|command| {
        let call = command.effective();
        let is_relative = |word: &Word| {
            let text = word.prefix();
            is_path(&text) || (!is_run || call.is_any(&["cd"])) && may_be_file(&text)
        };
        call.name_word().is_some_and(|name| is_path(&name.prefix()))
            || call.args().iter().any(is_relative)
    })
}

/// Whether the value of a word can only be a relative path.
fn is_path(value: &str) -> bool {
    let is_dots = matches!(value, "." | "..");
    let has_directory =
        value.contains('/') && !value.starts_with(['/', '-', '@']) && !value.contains("://");
    is_dots || has_directory
}

/// Whether the value of a word may be the name of a file in the working directory.
fn may_be_file(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['/', '-'])
}
