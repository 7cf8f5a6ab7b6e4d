//! Whether a fix breaks an existing test: all that touch its files, before and after.

use std::collections::BTreeSet;

use super::staged::Version;
use crate::{
    BrokenTest, FixResult, Outcome, ProofOptions, RunDetail, SuiteRun, Trouble,
    places::Vault,
    runner::{BUILD, Existing, Once, Suite},
};

/// More tests than this need not be named, nor run again one by one, to refuse a fix.
const MOST_SUSPECTS: usize = 20;

/// What the existing tests did on the code as it is, by runner and files.
pub(crate) type Baselines = Once<(&'static str, Vec<String>), Result<Suite, RunDetail>>;

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
        let before = self.baselines.get((original.runner.name(), files.clone()), || {
            Ok(self.run(original, "before", Existing::Touching(&files)))
        });
        let before = match before.flatten() {
            Ok(suite) => suite,
            Err(detail) => return FixResult::Flips(SuiteRun::NotRun(detail)),
        };
        let passed = names(&before, |outcome| outcome == Outcome::Passed);
        if passed.is_empty() && !before.is_cut {
            return FixResult::Flips(SuiteRun::Empty);
        }
        let after = match self.run(fixed, "after", Existing::Touching(&files)) {
            Ok(suite) => suite,
            // They build without the fix, so it is the fix.
            Err(RunDetail::Unbuilt | RunDetail::PackageUnbuilt) => {
                return FixResult::Breaks(vec![BrokenTest::Build]);
            }
            Err(detail) => return FixResult::Flips(SuiteRun::NotRun(detail)),
        };
        let still = names(&after, |outcome| outcome == Outcome::Passed);
        let ran = names(&after, |_| true);
        // A test that is not there any more has been taken away; one without time left has not.
        let suspects = passed.difference(&still);
        let suspects = suspects.filter(|name| ran.contains(*name) || !after.is_cut);
        let suspects: Vec<String> = suspects.take(MOST_SUSPECTS).cloned().collect();
        let broken = self.broken(original, fixed, &suspects);
        if !broken.is_empty() {
            return FixResult::Breaks(broken.into_iter().map(named).collect());
        }
        let is_test = |name: &&String| !name.ends_with(BUILD);
        let passed = passed.intersection(&still).filter(is_test).count();
        FixResult::Flips(if before.is_cut || after.is_cut {
            SuiteRun::Partial { passed }
        } else {
            SuiteRun::Complete { passed }
        })
    }

    /// Of these tests the ones that pass on every run of the original and on no run of the fixed
    /// code.
    fn broken(
        &self,
        original: Version<'_>,
        fixed: Version<'_>,
        suspects: &[String],
    ) -> Vec<String> {
        let mut suspects = suspects.to_vec();
        for _ in 0..self.options.pairs.max(ProofOptions::LEAST_PAIRS) {
            if suspects.is_empty() {
                break;
            }
            let passes = |version: Version<'_>, name: &str| {
                let suite = self.run(version, name, Existing::Named(&suspects));
                suite.map(|suite| names(&suite, |outcome| outcome == Outcome::Passed))
            };
            let Ok(before) = passes(original, "before") else { return Vec::new() };
            let after = passes(fixed, "after").unwrap_or_default();
            suspects.retain(|name| before.contains(name) && !after.contains(name));
        }
        suspects
    }

    fn run(
        &self,
        version: Version<'_>,
        name: &str,
        wanted: Existing<'_>,
    ) -> Result<Suite, RunDetail> {
        let vault = self.vault.vault(&self.name).and_then(|vault| vault.vault(name));
        let vault =
            vault.map_err(|error| RunDetail::Trouble(Trouble::at(self.vault.path(), &error)))?;
        version.run_existing(&vault, wanted).map_err(|trial| trial.detail)
    }
}

fn named(test: String) -> BrokenTest {
    if test.ends_with(BUILD) {
        BrokenTest::Build
    } else {
        BrokenTest::Named(test.trim().to_owned())
    }
}

fn names(suite: &Suite, wanted: impl Fn(Outcome) -> bool) -> BTreeSet<String> {
    let chosen = suite.outcomes.iter().filter(|(_, outcome)| wanted(**outcome));
    chosen.map(|(name, _)| name.clone()).collect()
}
