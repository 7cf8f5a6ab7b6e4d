//! What proving one claim has shown, in the words and values of a report.
//!
//! It is made where the test ran and judged where the review is written, which may be another
//! machine. So it holds everything that a report says, and nothing that only one process knows.

use probity_proof::{
    BaseResult, BrokenTest, FixResult, Gap, Level, Outcome, Run, Verdict, wording::gap,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    clean::capped,
    output::{FixGuard, GuardState, Proof, ProofFix, ProofRun},
    redact::Redactor,
    wording,
};

/// Longest test output that a report carries for one finding.
const OUTPUT_BYTES: usize = 16 << 10;

/// What a proof has for its runner if no test of the file can be run.
const NO_RUNNER: &str = "none";

/// The result of one claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proved {
    /// The claim's.
    pub id: String,
    #[serde(serialize_with = "outcome_name", deserialize_with = "outcome_of_name")]
    pub outcome: Outcome,
    pub proven: bool,
    /// Why it is not proven, as a part of a sentence.
    pub reason: String,
    pub proof: Proof,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduced: Option<bool>,
    /// The flagged function, if the proof rests on the code before the change alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_before_change: Option<String>,
    /// Why no test could start in its place; absent if it began, or an empty one passes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<String>,
    /// The language of the flagged file, if probity runs tests of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Where the commands of the test ran.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// Whether another fix could still prove it.
    pub wants_fix: bool,
    /// The fix that proves it, of several that were offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_patch: Option<String>,
    pub test_name: String,
    pub test_path: String,
    /// The test as it ran; empty if it did not.
    pub test_source: String,
    pub output: String,
    /// The test without the secrets in it, if it has some and proves the same without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_without_secrets: Option<String>,
}

impl Proved {
    pub(crate) fn new(verdict: &Verdict, redactor: &Redactor) -> Self {
        Self {
            id: verdict.id.clone(),
            outcome: verdict.outcome,
            proven: verdict.proven,
            reason: redactor.text(&wording::clause(verdict)),
            proof: proof(verdict, redactor),
            introduced: verdict.introduced,
            passes_before_change: passes_before_change(verdict),
            unstarted: unstarted(verdict, redactor),
            language: verdict.language.map(str::to_owned),
            package: redactor.text(&verdict.package),
            wants_fix: verdict.wants_fix(),
            fix_patch: verdict.fix_patch.clone(),
            test_name: verdict.test_name.clone(),
            test_path: verdict.test_path.clone(),
            test_source: redactor.without_keys(&verdict.test_source),
            output: capped(&redactor.text(&verdict.output), OUTPUT_BYTES),
            test_without_secrets: None,
        }
    }
}

fn passes_before_change(verdict: &Verdict) -> Option<String> {
    let by_base = verdict.level == Level::Flips
        && verdict.base == BaseResult::Passes
        && !verdict.fix.is_guarded();
    if by_base { verdict.function.clone() } else { None }
}

fn unstarted(verdict: &Verdict, redactor: &Redactor) -> Option<String> {
    if verdict.can_start == Some(true) {
        return None;
    }
    Some(redactor.text(&wording::why_unstarted(verdict)))
}

fn proof(verdict: &Verdict, redactor: &Redactor) -> Proof {
    Proof {
        level: verdict.level.name().to_owned(),
        outcome: verdict.outcome.name().to_owned(),
        reason: redactor.text(&wording::reason(verdict)),
        runner: verdict.runner.unwrap_or(NO_RUNNER).to_owned(),
        runs: verdict.runs.iter().map(run).collect(),
        pairs: verdict.pairs,
        reached: (verdict.level >= Level::Depends).then_some(true),
        control: verdict.altered.clone().unwrap_or_default(),
        flips_with_fix: flips_with_fix(&verdict.fix),
        fix: wording::fix_word(&verdict.fix).map(|word| fix(word, &verdict.fix, redactor)),
    }
}

fn flips_with_fix(fix: &FixResult) -> Option<bool> {
    match fix {
        FixResult::NotOffered | FixResult::NotJudged | FixResult::Refused(_) => None,
        FixResult::Guarded { .. }
        | FixResult::PartlyGuarded { .. }
        | FixResult::Unguarded { .. }
        | FixResult::Breaks(_) => Some(true),
        FixResult::DoesNotFlip(_) | FixResult::Slow | FixResult::Flaky => Some(false),
    }
}

fn fix(word: &str, fix: &FixResult, redactor: &Redactor) -> ProofFix {
    let tests_passed = match fix {
        FixResult::Guarded { passed } | FixResult::PartlyGuarded { passed, .. } => {
            Some(*passed as u64)
        }
        _ => None,
    };
    let tests_broken = match fix {
        FixResult::Breaks(tests) => tests
            .iter()
            .map(|test| match test {
                BrokenTest::Named(name) => redactor.text(name),
                BrokenTest::Build => "(build)".to_owned(),
            })
            .collect(),
        _ => Vec::new(),
    };
    let reason = redactor.text(&wording::fix_sentence(fix));
    let guard = guard(fix, redactor);
    ProofFix { result: word.to_owned(), reason, guard, tests_passed, tests_broken }
}

/// How far existing tests guard a fix with which its test passes.
fn guard(fix: &FixResult, redactor: &Redactor) -> Option<FixGuard> {
    let (state, gaps): (_, &[Gap]) = match fix {
        FixResult::Guarded { .. } => (GuardState::Guarded, &[]),
        FixResult::PartlyGuarded { gaps, .. } => (GuardState::PartlyGuarded, gaps),
        FixResult::Unguarded { gaps } => (GuardState::Unguarded, gaps),
        _ => return None,
    };
    let gaps = gaps.iter().map(|one| redactor.text(&gap(one))).collect();
    Some(FixGuard { state, gaps })
}

fn run(run: &Run) -> ProofRun {
    ProofRun {
        outcome: run.outcome.name().to_owned(),
        milliseconds: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn outcome_name<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.name())
}

fn outcome_of_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name);
    found.ok_or_else(|| D::Error::custom(format!("`{name}` is not an outcome of a test")))
}

#[cfg(test)]
pub(crate) mod tests {
    use probity_proof::{Refusal, RunDetail, Unavailable, Why};

    use super::*;
    use crate::wording::tests::verdict;

    /// The result of a verdict, as it is made where nothing has to be hidden.
    pub(crate) fn proved(verdict: &Verdict) -> Proved {
        Proved::new(verdict, &Redactor::new(&[]).unwrap())
    }

    #[test]
    fn a_proof_by_the_code_before_the_change_alone_names_its_function() {
        let failed = Why::Ran(RunDetail::Failed { kind: None });
        let by_base = Verdict {
            level: Level::Flips,
            base: BaseResult::Passes,
            function: Some("total".to_owned()),
            ..verdict(Outcome::Failed, failed, "")
        };
        assert_eq!(proved(&by_base).passes_before_change.as_deref(), Some("total"));
        let by_fix = Verdict { fix: FixResult::Guarded { passed: 0 }, ..by_base.clone() };
        assert_eq!(proved(&by_fix).passes_before_change, None);
        let not_there = Verdict { base: BaseResult::Fails, ..by_base };
        assert_eq!(proved(&not_there).passes_before_change, None);
    }

    #[test]
    fn every_outcome_survives_a_file() {
        for outcome in Outcome::ALL {
            let ran = Why::Ran(RunDetail::Failed { kind: None });
            let before = proved(&verdict(outcome, ran, "output"));
            let text = serde_json::to_string(&before).unwrap();
            assert_eq!(serde_json::from_str::<Proved>(&text).unwrap(), before, "{text}");
        }
        let none = Why::Refused(Refusal::Unavailable(Unavailable::NotInstalled("Go")));
        let before = proved(&verdict(Outcome::HarnessError, none, ""));
        assert_eq!(before.unstarted.as_deref(), Some("Go is not installed"));
        let text = serde_json::to_string(&before).unwrap();
        assert!(serde_json::from_str::<Proved>(&text.replace("harness-error", "fine")).is_err());
    }
}
