//! Applying a group of fixes, and taking back those that break what they must not.

use probity_finding::{Applicability, Fix, Skipped, apply};

use super::{SkipReason, verify::Snapshot};

/// How many texts are tried in one round. Only fixes that break their promise cost more than one,
/// and a file full of them must not cost a minute.
const MAX_TRIALS: usize = 128;

/// What became of a group of fixes, by their indices.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) text: String,
    pub(super) applied: Vec<usize>,
    pub(super) skipped: Vec<(usize, SkipReason, String)>,
}

pub(super) fn settle(text: &str, before: &Snapshot, fixes: &[&Fix]) -> Settled {
    let mut trials = Trials { text, before, fixes, left: MAX_TRIALS };
    let mut refused: Vec<(usize, String)> = Vec::new();
    loop {
        let is_refused = |index: &usize| refused.iter().any(|(other, _)| other == index);
        let live: Vec<usize> = (0..fixes.len()).filter(|index| !is_refused(index)).collect();
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
            return Settled { text: outcome.text, applied: chosen, skipped };
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
}

impl<'a> Trials<'a> {
    /// Sorts fixes that do not overlap into those that may stay and those that may not, by halves.
    fn accept(
        &mut self,
        chosen: &[usize],
        accepted: &mut Vec<usize>,
        refused: &mut Vec<(usize, String)>,
    ) {
        if chosen.is_empty() {
            return;
        }
        match self.objection(accepted, chosen) {
            None => accepted.extend(chosen),
            Some(why) => match chosen {
                [one] => refused.push((*one, why)),
                _ => {
                    let (left, right) = chosen.split_at(chosen.len() / 2);
                    self.accept(left, accepted, refused);
                    self.accept(right, accepted, refused);
                }
            },
        }
    }

    fn objection(&mut self, accepted: &[usize], chosen: &[usize]) -> Option<String> {
        if self.left == 0 {
            return Some("too many fixes of this file had to be taken back".to_owned());
        }
        self.left -= 1;
        let together: Vec<usize> = accepted.iter().chain(chosen).copied().collect();
        let fixes = self.fixes_at(&together);
        let must_be_safe = fixes.iter().all(|fix| fix.applicability == Applicability::Safe);
        self.before.objection(&apply(self.text, &fixes).text, must_be_safe)
    }

    fn fixes_at(&self, indices: &[usize]) -> Vec<&'a Fix> {
        indices.iter().filter_map(|&index| self.fixes.get(index).copied()).collect()
    }
}
