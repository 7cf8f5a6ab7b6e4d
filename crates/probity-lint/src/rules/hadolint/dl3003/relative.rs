//! Whether something behind a `RUN` would mean another path if the working directory were another.

use probity_dockerfile::{Arguments, Base, Command, Keyword};
use probity_shell::Word;

use crate::engine::context::Context;

/// For each instruction, whether a relative path is written behind it, in its stage or in those made
/// from it, before an absolute `WORKDIR` settles what it means. One pass from the end of the file
/// tells it for all.
pub(super) fn relied_on(context: &Context<'_>) -> Vec<bool> {
    let stages = context.facts.stages();
    let mut relied = vec![true; context.file.instructions.len()];
    let mut by_those_made_from = vec![false; stages.len()];
    for stage in stages.iter().rev() {
        let mut relies = by_those_made_from.get(stage.index).copied().unwrap_or_default();
        for index in stage.instructions.clone().rev() {
            if let Some(own) = relied.get_mut(index) {
                *own = relies;
            }
            match use_of(context, index) {
                Use::None => {}
                Use::Relative => relies = true,
                Use::Settled => relies = false,
            }
        }
        if let Base::Stage(base) = stage.base
            && let Some(base) = by_those_made_from.get_mut(base)
        {
            *base |= relies;
        }
    }
    relied
}

/// What an instruction does with the directory.
enum Use {
    None,
    Relative,
    /// It is an absolute `WORKDIR`.
    Settled,
}

fn use_of(context: &Context<'_>, index: usize) -> Use {
    let Some(instruction) = context.file.instructions.get(index) else { return Use::None };
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
    if is_relative { Use::Relative } else { Use::None }
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
