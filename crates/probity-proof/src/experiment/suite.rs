//! Whether a fix breaks an existing test: all that touch its files, before and after.
//!
//! What counts are sets of tests on both sides, never how a process ended. A fix is guarded by tests
//! that ran on both; whatever did not is a gap, and a fix whose nearest tests are gaps is unguarded.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    path::PathBuf,
};

use super::staged::Version;
use crate::{
    BrokenTest, FixResult, Gap, Outcome, ProofOptions, RunDetail, Trouble,
    places::Vault,
    runner::{
        Once, Runner,
        existing::{Existing, Side, Suite},
    },
};

/// More tests than this are not run again at a time, to refuse a fix.
const MOST_SUSPECTS: usize = 20;

/// Pairs of runs of all tests that touch a fix's files, for the tests that passed alone. Each has
/// failed in such a run before.
const PAIRS_IN_COMPANY: u32 = 2;

/// What the existing tests did on the code as it is, by runner and files.
pub(crate) type Baselines = Once<(&'static str, Vec<String>), Suite>;

/// What all comparisons of one fix share.
pub(super) struct Suites<'a> {
    pub(super) options: &'a ProofOptions,
    pub(super) baselines: &'a Baselines,
    /// This claim's own.
    pub(super) vault: &'a Vault,
    /// Of this fix's vault there.
    pub(super) name: String,
}

impl Suites<'_> {
    /// Runs the existing tests that touch a fix's files, and says what becomes of the fix, which
    /// makes the claim's own test pass.
    pub(super) fn judge(&self, original: Version<'_>, fixed: Version<'_>) -> FixResult {
        let files: Vec<String> = fixed.changes.iter().map(|(path, _)| path.clone()).collect();
        let touching = Existing::Touching(&files);
        let before = self.baselines.get((original.runner.name(), files.clone()), || {
            Ok::<_, Infallible>(self.run(original, "before", touching, Side::Original))
        });
        let Ok(before) = before;
        if before.passed().next().is_none() {
            return without_passing(before);
        }
        let mut seen = Seen { gaps: before.gaps.clone(), lacks_nearest: before.lacks_nearest };
        let mut innocent = BTreeSet::new();
        let mut side = Side::Changed(&before);
        loop {
            let after = self.run(fixed, "after", touching, side);
            let is_built = |directory: &PathBuf| before.builds.get(directory) == Some(&true);
            let unbuilt = after.builds.iter().filter(|(_, built)| !**built);
            // They build without the fix, so it is the fix.
            if unbuilt.map(|(directory, _)| directory).any(is_built) {
                return FixResult::Breaks(vec![BrokenTest::Build]);
            }
            let sides = Sides::of(original.runner, &before, &after);
            let mut suspects = sides.suspects(after.is_cut || after.is_stopped);
            suspects.retain(|test| !innocent.contains(test));
            if !after.is_stopped {
                seen.add(after.gaps.clone(), after.lacks_nearest);
            }
            let broken = self.broken(original, fixed, &suspects, touching, &mut seen);
            if !broken.is_empty() {
                // The package at the root of a repository has no name.
                let named = |test: String| BrokenTest::Named(test.trim().to_owned());
                return FixResult::Breaks(broken.into_iter().map(named).collect());
            }
            if !after.is_stopped {
                return seen.judge(sides.passed());
            }
            // It was chance, so the others have to run as well.
            innocent.extend(suspects);
            side = Side::Whole;
        }
    }

    /// Of these tests the ones that the fix breaks: alone, or if they pass alone, among those that
    /// they failed with. Some need what an earlier test has left.
    fn broken(
        &self,
        original: Version<'_>,
        fixed: Version<'_>,
        suspects: &[String],
        company: Existing<'_>,
        seen: &mut Seen,
    ) -> Vec<String> {
        let mut acquitted = Vec::new();
        let alone = self.options.pairs.max(ProofOptions::LEAST_PAIRS);
        for suspects in suspects.chunks(MOST_SUSPECTS) {
            let named = Existing::Named(suspects);
            let mut tried = self.again((original, fixed), suspects, (named, alone), seen);
            if !tried.broken.is_empty() {
                return tried.broken;
            }
            acquitted.append(&mut tried.acquitted);
        }
        self.again((original, fixed), &acquitted, (company, PAIRS_IN_COMPANY), seen).broken
    }

    /// Runs tests in so many pairs. Broken are the ones that pass on every run of the original and on
    /// no run of the fixed code.
    fn again(
        &self,
        (original, fixed): (Version<'_>, Version<'_>),
        suspects: &[String],
        (wanted, pairs): (Existing<'_>, u32),
        seen: &mut Seen,
    ) -> Tried {
        let mut tried = Tried { broken: suspects.to_vec(), acquitted: Vec::new() };
        for _ in 0..pairs {
            if tried.broken.is_empty() {
                break;
            }
            let wanted = match wanted {
                Existing::Named(_) => Existing::Named(&tried.broken),
                Existing::Touching(_) => wanted,
            };
            let (before, after) = (
                self.run(original, "before", wanted, Side::Whole),
                self.run(fixed, "after", wanted, Side::Whole),
            );
            let sides = Sides::of(original.runner, &before, &after);
            let mut still = Vec::new();
            for name in tried.broken {
                match sides.of_test(original.runner, &name) {
                    (Some(Outcome::Passed), Some(Outcome::Passed)) => tried.acquitted.push(name),
                    (Some(Outcome::Passed), None) if after.is_cut || is_troubled(&after) => {
                        seen.add(after.gaps.clone(), true);
                    }
                    (Some(Outcome::Passed), _) => still.push(name),
                    // It fails without the fix as well.
                    (Some(_), _) => {}
                    (None, _) if before.gaps.is_empty() => {
                        seen.add(vec![Gap::Renamed(name)], false)
                    }
                    (None, _) => seen.add(before.gaps.clone(), true),
                }
            }
            tried.broken = still;
        }
        tried
    }

    fn run(&self, version: Version<'_>, name: &str, wanted: Existing<'_>, side: Side<'_>) -> Suite {
        let vault = self.vault.vault(&self.name).and_then(|vault| vault.vault(name));
        let suite = vault
            .map_err(|error| Trouble::at(self.vault.path(), &error))
            .and_then(|vault| version.run_existing(&vault, wanted, side));
        suite.unwrap_or_else(|trouble| {
            let (place, detail) = (String::new(), RunDetail::Trouble(trouble));
            Suite::without(Gap::NotRun { place, detail })
        })
    }
}

/// Without any test that passes there is nothing that a fix could break. It is guarded only if it is
/// certain that no test touches its files.
fn without_passing(before: Suite) -> FixResult {
    let mut seen = Seen { gaps: before.gaps, lacks_nearest: before.lacks_nearest };
    if !before.outcomes.is_empty() {
        seen.add(vec![Gap::NonePasses], true);
    }
    if seen.gaps.is_empty() && !before.is_cut {
        return FixResult::Guarded { passed: 0 };
    }
    FixResult::Unguarded { gaps: seen.gaps }
}

/// Whether a run was kept from showing anything by the machine.
fn is_troubled(suite: &Suite) -> bool {
    let is_trouble = |gap: &Gap| matches!(gap, Gap::NotRun { detail: RunDetail::Trouble(_), .. });
    suite.gaps.iter().any(is_trouble)
}

/// What became of tests that seemed to be broken.
struct Tried {
    broken: Vec<String>,
    /// They passed on both sides in one of the pairs.
    acquitted: Vec<String>,
}

/// What the runs of both sides did not show.
struct Seen {
    gaps: Vec<Gap>,
    lacks_nearest: bool,
}

impl Seen {
    fn add(&mut self, gaps: Vec<Gap>, lacks_nearest: bool) {
        self.lacks_nearest |= lacks_nearest;
        for gap in gaps {
            if !self.gaps.contains(&gap) {
                self.gaps.push(gap);
            }
        }
    }

    fn judge(mut self, passed: usize) -> FixResult {
        if passed == 0 {
            self.add(vec![Gap::NonePasses], true);
        }
        match self {
            Self { gaps, lacks_nearest: true } => FixResult::Unguarded { gaps },
            Self { gaps, .. } if gaps.is_empty() => FixResult::Guarded { passed },
            Self { gaps, .. } => FixResult::PartlyGuarded { passed, gaps },
        }
    }
}

/// What each existing test did before and after. One whose name only one side knows stands for its
/// function: its parameters may be others in each run.
struct Sides<'a> {
    tests: BTreeMap<&'a str, (Option<Outcome>, Option<Outcome>)>,
}

impl<'a> Sides<'a> {
    fn of(runner: &dyn Runner, before: &'a Suite, after: &'a Suite) -> Self {
        let mut tests: BTreeMap<&str, (Option<Outcome>, Option<Outcome>)> = BTreeMap::new();
        let names: BTreeSet<&String> =
            before.outcomes.keys().chain(after.outcomes.keys()).collect();
        for name in names {
            let both = (before.outcomes.get(name).copied(), after.outcomes.get(name).copied());
            let is_known = both.0.is_some() && both.1.is_some();
            let key = if is_known { name.as_str() } else { runner.function(name) };
            let known = tests.entry(key).or_default();
            *known = (worst(known.0, both.0), worst(known.1, both.1));
        }
        Self { tests }
    }

    /// The tests that pass before and not after. One that is not there any more has been taken away,
    /// but not if it had no time left.
    fn suspects(&self, is_cut: bool) -> Vec<String> {
        let is_suspect = |after: &Option<Outcome>| match after {
            Some(Outcome::Passed) => false,
            Some(_) => true,
            None => !is_cut,
        };
        let suspects = self
            .tests
            .iter()
            .filter(|(_, (before, after))| *before == Some(Outcome::Passed) && is_suspect(after));
        suspects.map(|(name, _)| (*name).to_owned()).collect()
    }

    /// What a test did, or all of its function if it is not known by its own name.
    fn of_test(&self, runner: &dyn Runner, name: &str) -> (Option<Outcome>, Option<Outcome>) {
        if let Some(known) = self.tests.get(name) {
            return *known;
        }
        let is_same = |key: &str| runner.function(key) == runner.function(name);
        let same = self.tests.iter().filter(|(key, _)| is_same(key)).map(|(_, known)| *known);
        same.fold((None, None), |all, one| (worst(all.0, one.0), worst(all.1, one.1)))
    }

    fn passed(&self) -> usize {
        let passes = (Some(Outcome::Passed), Some(Outcome::Passed));
        self.tests.values().filter(|both| **both == passes).count()
    }
}

/// The worse of two outcomes, as failures come first.
fn worst(one: Option<Outcome>, other: Option<Outcome>) -> Option<Outcome> {
    one.into_iter().chain(other).min()
}
