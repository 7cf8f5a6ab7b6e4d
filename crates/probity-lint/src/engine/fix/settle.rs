//! Applying a group of fixes, and taking back those that break what they must not.

use std::collections::BTreeMap;

use probity_finding::{Applicability, Fix, Skipped, apply};

use super::{
    SkipReason,
    verify::{Objection, Snapshot},
};
use crate::engine::parsed::Detached;

/// How many texts are tried in one round. Only fixes that break their promise cost more than one,
/// and a file full of them must not cost a minute.
const MAX_TRIALS: usize = 128;

/// What became of a group of fixes, by their indices.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) text: String,
    pub(super) applied: Vec<usize>,
    pub(super) skipped: Vec<(usize, SkipReason, String)>,
    /// What was parsed of the text, where something was applied.
    pub(super) parsed: Option<Detached>,
}

pub(super) fn settle(text: &str, before: &Snapshot, fixes: &[&Fix]) -> Settled {
    let mut trials = Trials { text, before, fixes, left: MAX_TRIALS, accepted: None };
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    loop {
        let is_live = |index: &usize| !refused.contains_key(index);
        let live: Vec<usize> = (0..fixes.len()).filter(is_live).collect();
        let outcome = apply(text, &trials.fixes_at(&live));
        let original = |index: usize| live.get(index).copied().unwrap_or_default();
        let chosen: Vec<usize> = outcome.applied.iter().map(|&index| original(index)).collect();
        let count = refused.len();
        trials.accept(&chosen, &mut Vec::new(), &mut refused);
        // What was refused may have been in the way of others, which now get their turn.
        if refused.len() == count {
            let mut skipped: Vec<_> = refused
                .into_iter()
                .map(|(index, why)| (index, SkipReason::ValidationFailed, why))
                .collect();
            skipped.extend(outcome.skipped.iter().map(|&(index, reason)| {
                let (reason, detail) = in_words(reason);
                (original(index), reason, detail.to_owned())
            }));
            skipped.sort_by_key(|(index, ..)| *index);
            let accepted = trials.accepted.filter(|accepted| accepted.fixes == chosen);
            let parsed = accepted.map(|accepted| accepted.parsed);
            return Settled { text: outcome.text, applied: chosen, skipped, parsed };
        }
    }
}

fn in_words(reason: Skipped) -> (SkipReason, &'static str) {
    match reason {
        Skipped::Conflict { .. } => (SkipReason::Conflict, "another fix changes the same place"),
        Skipped::NoEdits => (SkipReason::NoEdits, "it changes nothing"),
        Skipped::Malformed => (SkipReason::Malformed, "its edits do not fit the text"),
    }
}

struct Trials<'a> {
    text: &'a str,
    before: &'a Snapshot,
    fixes: &'a [&'a Fix],
    left: usize,
    /// The last fixes that there was no objection to. After a refusal they are tried once more.
    accepted: Option<Accepted>,
}

struct Accepted {
    fixes: Vec<usize>,
    parsed: Detached,
}

impl<'a> Trials<'a> {
    /// Sorts fixes that do not overlap into those that may stay and those that may not, by halves.
    fn accept(
        &mut self,
        chosen: &[usize],
        accepted: &mut Vec<usize>,
        refused: &mut BTreeMap<usize, String>,
    ) {
        if chosen.is_empty() {
            return;
        }
        match self.objection(accepted, chosen) {
            None => accepted.extend(chosen),
            Some(Objection(why)) => match chosen {
                [one] => {
                    refused.insert(*one, why);
                }
                _ => {
                    let (left, right) = chosen.split_at(chosen.len() / 2);
                    self.accept(left, accepted, refused);
                    self.accept(right, accepted, refused);
                }
            },
        }
    }

    fn objection(&mut self, accepted: &[usize], chosen: &[usize]) -> Option<Objection> {
        let is_known = |known: &Accepted| known.fixes == chosen;
        if accepted.is_empty() && self.accepted.as_ref().is_some_and(is_known) {
            return None;
        }
        if self.left == 0 {
            let why = "too many fixes of this file had to be reverted";
            return Some(Objection(why.to_owned()));
        }
        self.left -= 1;
        let together: Vec<usize> = accepted.iter().chain(chosen).copied().collect();
        let fixes = self.fixes_at(&together);
        let must_be_safe = fixes.iter().all(|fix| fix.applicability == Applicability::Safe);
        let text = apply(self.text, &fixes).text;
        match self.before.judge(&text, must_be_safe) {
            Ok(parsed) => {
                self.accepted = Some(Accepted { fixes: together, parsed });
                None
            }
            Err(objection) => Some(objection),
        }
    }

    fn fixes_at(&self, indices: &[usize]) -> Vec<&'a Fix> {
        indices.iter().filter_map(|&index| self.fixes.get(index).copied()).collect()
    }
}
