//! How often the steps of a proposal run, and in which order the commands of each do.

use probity_dockerfile::{Instruction, Keyword};

use super::{
    super::{Change, View, commands::parts},
    written,
};

/// A RUN whose commands are those of one RUN of the original, in another order.
pub(super) fn swapped<'a>(change: &'a Change<'_>) -> Option<&'a Instruction> {
    let texts = |view: &View<'_>, index: usize| -> Vec<String> {
        let parts = parts(view, index).unwrap_or_default();
        parts.into_iter().map(|part| part.text).collect()
    };
    let olds: Vec<Vec<String>> =
        (0..change.before.file.instructions.len()).map(|it| texts(change.before, it)).collect();
    let is_swapped = |index: usize| {
        let now = texts(change.after, index);
        olds.iter().any(|old| {
            // A command that is there twice has no place of its own.
            let place = |text: &String| {
                let mut places = old.iter().enumerate().filter(|(_, it)| *it == text);
                places.next().filter(|_| places.next().is_none()).map(|(place, _)| place)
            };
            let places: Vec<usize> = now.iter().filter_map(place).collect();
            !places.is_sorted()
        })
    };
    let mut all = change.after.file.instructions.iter().enumerate();
    all.find(|(index, _)| is_swapped(*index)).map(|(_, it)| it)
}

/// Another stage may need the same once more; in its own, a command is not made to be run twice.
pub(super) fn repeated<'a>(change: &'a Change<'_>) -> Option<&'a Instruction> {
    let after = &change.after.file.instructions;
    let runs = |view: &View<'_>, text: &str, range: std::ops::Range<usize>| {
        let all = view.file.instructions.get(range).unwrap_or_default().iter();
        all.filter(|it| it.keyword == Keyword::Run && written(view, it) == text).count()
    };
    let before = change.before.file.instructions.len();
    change.after.facts.stages().iter().find_map(|stage| {
        stage.instructions.clone().find_map(|index| {
            let instruction = after.get(index).filter(|it| it.keyword == Keyword::Run)?;
            let text = written(change.after, instruction);
            let now = runs(change.after, &text, stage.instructions.clone());
            (now > 1 && now > runs(change.before, &text, 0..before)).then_some(instruction)
        })
    })
}
