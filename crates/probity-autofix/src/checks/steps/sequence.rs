//! How often the steps of a proposal run, and in which order the commands of each do.

use std::{collections::BTreeMap, ops::Range};

use probity_dockerfile::{Instruction, Keyword};

use super::super::{Change, View};

/// A RUN whose commands are those of one RUN of the original, in another order.
pub(super) fn swapped<'a>(change: &'a Change<'_>) -> Option<&'a Instruction> {
    let texts = |view: &View<'_>, index: usize| -> Vec<String> {
        let parts = view.parts(index).unwrap_or_default();
        parts.iter().map(|part| part.text.clone()).collect()
    };
    let olds: Vec<Vec<String>> = (0..change.before.file.instructions.len())
        .map(|index| texts(change.before, index))
        .collect();
    let is_swapped = |index: usize| {
        let now = texts(change.after, index);
        olds.iter().any(|old| {
            // A command that is there twice has no place of its own.
            let place = |text: &String| {
                let mut places = old.iter().enumerate().filter(|(_, other)| *other == text);
                places.next().filter(|_| places.next().is_none()).map(|(place, _)| place)
            };
            let places: Vec<usize> = now.iter().filter_map(place).collect();
            !places.is_sorted()
        })
    };
    let mut all = change.after.file.instructions.iter().enumerate();
    all.find(|(index, _)| is_swapped(*index)).map(|(_, instruction)| instruction)
}

/// Another stage may need the same once more; in its own, a command is not made to be run twice.
pub(super) fn repeated<'a>(change: &'a Change<'_>) -> Option<&'a Instruction> {
    let before = counts(change.before, 0..change.before.file.instructions.len());
    change.after.facts.stages().iter().find_map(|stage| {
        let now = counts(change.after, stage.instructions.clone());
        let mut own = change.after.file.instructions.get(stage.instructions.clone())?.iter();
        own.find(|instruction| {
            let text = change.after.written_as(instruction);
            let count = now.get(text).copied().unwrap_or_default();
            instruction.keyword == Keyword::Run && count > 1 && Some(&count) > before.get(text)
        })
    })
}

/// How often each RUN is there.
fn counts<'v>(view: &'v View<'_>, range: Range<usize>) -> BTreeMap<&'v str, usize> {
    let mut found = BTreeMap::new();
    let all = view.file.instructions.get(range).unwrap_or_default().iter();
    for run in all.filter(|instruction| instruction.keyword == Keyword::Run) {
        *found.entry(view.written_as(run)).or_default() += 1;
    }
    found
}
