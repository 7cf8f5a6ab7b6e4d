//! The one place where verdicts become sentences. Nothing decides by reading them.

pub(crate) use probity_proof::wording::{isolation, prepare_note, refusal};
use probity_proof::{
    BaseResult, FixFault, FixResult, Level, Note, Outcome, Refusal, RunDetail, Verdict, Why,
    wording::{detail, fix_result, guarded, unguarded},
};

use crate::excerpt::complaint;

/// What a verdict rests on, as a sentence.
pub(crate) fn reason(verdict: &Verdict) -> String {
    sentence(&clause(verdict))
}

/// Why a finding with a test is not proven, as a part of a sentence.
pub(crate) fn clause(verdict: &Verdict) -> String {
    match (&verdict.why, verdict.outcome) {
        (Why::Refused(refusal), _) => self::refusal(refusal),
        (Why::Changed { run, then }, _) => {
            format!("the test fails only sometimes: run {run} ended differently ({then})")
        }
        (Why::AlwaysPasses, _) => ALWAYS_PASSES.to_owned(),
        (Why::WroteCode(path), _) => {
            format!("the test writes to {path}, so it shows nothing about the code")
        }
        (Why::ReadCode(path), _) => format!(
            "the test reads the text of {path} instead of running it: its result changes with a \
             comment"
        ),
        (Why::Cancelled, _) => "the review was cancelled before the test ran".to_owned(),
        (Why::OutOfTime, _) => {
            "the time limit for all proofs (`--proof-timeout`) was reached before this proof ended"
                .to_owned()
        }
        (Why::Unstarted(shown), _) => unstarted(shown),
        (Why::Panicked, _) => "probity failed while running the test; please report it".to_owned(),
        (Why::Ran(_), Outcome::Failed) => failing(verdict),
        (Why::Ran(RunDetail::Timeout(limit)), Outcome::Timeout) => {
            let seconds = limit.as_secs();
            let fix = fix_result(&verdict.fix);
            let fix = fix.unwrap_or_else(|| "no fix was offered".to_owned());
            format!("the test did not finish within {seconds} s, and {fix}")
        }
        (Why::Ran(shown @ (RunDetail::Unbuilt | RunDetail::PackageUnbuilt)), _) => {
            let said = complaint(&verdict.output).map(|said| format!(": {said}"));
            format!("{}{}", detail(shown), said.unwrap_or_default())
        }
        (Why::Ran(shown), _) => detail(shown),
    }
}

const ALWAYS_PASSES: &str =
    "a test that throws at once passes here, too, so the repository decides what its tests say";

/// Why no test at all runs where a test would be.
fn unstarted(shown: &RunDetail) -> String {
    format!("no test could start here, not even an empty one: {}", empty_test(shown))
}

/// What became of an empty test.
fn empty_test(shown: &RunDetail) -> String {
    match shown {
        RunDetail::Unbuilt | RunDetail::PackageUnbuilt => "it could not be loaded".to_owned(),
        RunDetail::Failed { kind: Some(kind) } => format!("it fails with {kind}"),
        RunDetail::Skipped => "it is skipped".to_owned(),
        other => detail(other),
    }
}

/// Why a test could not start, to follow words that say so.
pub(crate) fn why_unstarted(verdict: &Verdict) -> String {
    let why = match &verdict.why {
        Why::Refused(Refusal::Unavailable(why)) => why.to_string(),
        Why::Unstarted(shown) => {
            format!("not even an empty test runs there: {}", empty_test(shown))
        }
        // It has the complaint already.
        Why::Ran(RunDetail::Unbuilt | RunDetail::PackageUnbuilt) => return clause(verdict),
        _ => clause(verdict),
    };
    match complaint(&verdict.output) {
        Some(said) => format!("{why} ({said})"),
        None => why,
    }
}

fn failing(verdict: &Verdict) -> String {
    let runs = verdict.runs.len();
    let mut text = match (&verdict.why, runs) {
        (Why::Ran(RunDetail::Timeout(limit)), 1) => {
            format!("the test does not finish within {} s", limit.as_secs())
        }
        (Why::Ran(RunDetail::Timeout(limit)), _) => {
            let seconds = limit.as_secs();
            format!("the test does not finish within {seconds} s in any of {runs} runs")
        }
        (_, 1) => "the test fails".to_owned(),
        _ => format!("the test fails in all {runs} runs"),
    };
    let pairs = verdict.pairs;
    let shown = match (&verdict.fix, verdict.base, &verdict.altered) {
        (FixResult::Guarded { passed }, ..) => {
            format!(" and passes in all {pairs} runs with the fix; {}", guarded(*passed, &[]))
        }
        (FixResult::PartlyGuarded { passed, gaps }, ..) => {
            format!(" and passes in all {pairs} runs with the fix; {}", guarded(*passed, gaps))
        }
        (_, BaseResult::Passes, _) if verdict.level == Level::Flips => {
            format!(" and passes in all {pairs} runs before the change that added these lines")
        }
        (FixResult::Unguarded { gaps }, ..) => {
            format!(" and passes in all {pairs} runs with the fix, but {}", unguarded(gaps))
        }
        (_, _, Some(function)) => {
            format!(" and passes in all {pairs} runs if `{function}` returns another value")
        }
        (FixResult::NotOffered | FixResult::NotJudged, ..) if verdict.proven => String::new(),
        (FixResult::NotOffered | FixResult::NotJudged, ..) => {
            ", but no fix was offered, and no other return value of the flagged function makes it \
             pass"
                .to_owned()
        }
        (fix, ..) => fix_result(fix).map(|fix| format!(", but {fix}")).unwrap_or_default(),
    };
    text.push_str(&shown);
    text
}

/// What the author is asked, if the change also altered a description of what its test wants.
pub(crate) fn question(file: &str) -> String {
    format!(
        "the test passes before this change, but the change also altered {file}, which describes \
         this behavior; which behavior is intended?"
    )
}

/// A word for what became of a fix; reports and databases hold it.
pub(crate) fn fix_word(fix: &FixResult) -> Option<&'static str> {
    Some(match fix {
        FixResult::NotOffered | FixResult::NotJudged => return None,
        FixResult::Refused(FixFault::Cheats(_)) => "cheats",
        FixResult::Refused(_) => "refused",
        FixResult::DoesNotFlip(_) => "does-not-flip",
        FixResult::Slow => "slow",
        FixResult::Flaky => "flaky",
        FixResult::Breaks(_) => "breaks-tests",
        FixResult::Guarded { .. } | FixResult::PartlyGuarded { .. } => "flips",
        FixResult::Unguarded { .. } => "unguarded",
    })
}

/// The same as a sentence.
pub(crate) fn fix_sentence(fix: &FixResult) -> String {
    fix_result(fix).map(|text| sentence(&text)).unwrap_or_default()
}

pub(crate) fn note(note: Note) -> &'static str {
    match note {
        Note::GitNotInstalled => "git is not installed, so the review has no commit",
        Note::NotARepository => "this is not a git repository, so the review has no commit",
        Note::LeadsElsewhere => {
            "the git directory has a link, a pipe or the objects of another repository, so it was not \
             read and the review has no commit; clone the repository anew"
        }
        Note::NoCommits => "the repository has no commits yet",
        Note::Dirty => "the working tree has uncommitted changes; they were reviewed too",
        Note::DirtyUnknown => "probity did not check whether the working tree is clean",
    }
}

/// The uncommitted changes, if only what commits have changed is reviewed.
pub(crate) const DIRTY_BESIDE_A_CHANGE: &str =
    "the working tree has uncommitted changes: the tests ran with them, but they were not reviewed";

/// The same, if there was no review.
pub(crate) const DIRTY_UNREVIEWED: &str = "the working tree has uncommitted changes";

pub(crate) fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let mut text: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    text.extend(characters);
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod every_sentence;

#[cfg(test)]
pub(crate) mod tests {
    use probity_proof::{BaseResult, BrokenTest, Cheat, Gap, Refusal, Run, Unavailable};

    use super::*;

    /// A verdict of which only the named parts matter.
    pub(crate) fn verdict(outcome: Outcome, why: Why, output: &str) -> Verdict {
        Verdict {
            id: "001".to_owned(),
            outcome,
            why,
            level: Level::Fails,
            proven: false,
            language: None,
            package: String::new(),
            can_start: None,
            runner: Some("go"),
            runs: Vec::new(),
            pairs: 0,
            fix: FixResult::NotOffered,
            fix_patch: None,
            base: BaseResult::NotTried,
            function: None,
            altered: None,
            introduced: None,
            test_path: String::new(),
            test_name: String::new(),
            test_source: String::new(),
            output: output.to_owned(),
        }
    }

    fn failed(fix: FixResult) -> Verdict {
        let why = Why::Ran(RunDetail::Failed { kind: None });
        let run = Run { outcome: Outcome::Failed, duration: std::time::Duration::ZERO };
        let runs = vec![run; 5];
        Verdict { runs, pairs: 5, fix, ..verdict(Outcome::Failed, why, "") }
    }

    #[test]
    fn every_verdict_has_a_sentence() {
        let ran = |outcome, detail| verdict(outcome, Why::Ran(detail), "");
        let compiler = "# m [m.test]\na/zz_test.go:6:5: undefined: x\n";
        let unbuilt = Why::Ran(RunDetail::Unbuilt);
        let breaks = |count: usize| {
            let named = |number| BrokenTest::Named(format!("t{number}"));
            failed(FixResult::Breaks((0..count).map(named).collect()))
        };
        let altered = Verdict { altered: Some("add".to_owned()), ..failed(FixResult::NotOffered) };
        let base = Verdict {
            base: BaseResult::Passes,
            level: Level::Flips,
            ..failed(FixResult::NotOffered)
        };
        let special = FixFault::Cheats(Cheat::SpecialCase("42".to_owned()));
        let go = Unavailable::NotInstalled("Go");
        let timeout = RunDetail::Timeout(std::time::Duration::from_secs(30));
        for (verdict, expected) in [
            (
                failed(FixResult::Guarded { passed: 12 }),
                "The test fails in all 5 runs and passes in all 5 runs with the fix; 12 existing \
                 tests still pass.",
            ),
            (
                failed(FixResult::Unguarded { gaps: vec![Gap::Unloaded("t.py".to_owned())] }),
                "The test fails in all 5 runs and passes in all 5 runs with the fix, but no existing \
                 test guards the fix: t.py could not be loaded; to prove it, make t.py load.",
            ),
            (
                verdict(Outcome::HarnessError, Why::Unstarted(RunDetail::Unbuilt), ""),
                "No test could start here, not even an empty one: it could not be loaded.",
            ),
            (
                base,
                "The test fails in all 5 runs and passes in all 5 runs before the change that added \
                 these lines.",
            ),
            (
                altered,
                "The test fails in all 5 runs and passes in all 5 runs if `add` returns another \
                 value.",
            ),
            (
                failed(FixResult::DoesNotFlip(Outcome::Failed)),
                "The test fails in all 5 runs, but it fails with the fix as well.",
            ),
            (
                failed(FixResult::Refused(special)),
                "The test fails in all 5 runs, but the fix was refused: it treats 42, an input of \
                 the test, as a special case.",
            ),
            (
                breaks(5),
                "The test fails in all 5 runs, but the fix breaks `t0`, `t1`, `t2` and 2 more.",
            ),
            (
                ran(Outcome::Timeout, timeout.clone()),
                "The test did not finish within 30 s, and no fix was offered.",
            ),
            (
                verdict(Outcome::BuildError, unbuilt, compiler),
                "Test could not compile: a/zz_test.go:6:5: undefined: x.",
            ),
            (
                verdict(Outcome::HarnessError, Why::Refused(Refusal::Unavailable(go)), ""),
                "The test could not be run: Go is not installed.",
            ),
            (
                verdict(Outcome::Flaky, Why::Changed { run: 3, then: Outcome::Passed }, ""),
                "The test fails only sometimes: run 3 ended differently (passed).",
            ),
            (
                Verdict {
                    why: Why::Ran(timeout.clone()),
                    ..failed(FixResult::Guarded { passed: 0 })
                },
                "The test does not finish within 30 s in any of 5 runs and passes in all 5 runs with \
                 the fix; no existing test covers the changed files.",
            ),
            (ran(Outcome::Skipped, RunDetail::Skipped), "The test skipped itself."),
        ] {
            assert_eq!(reason(&verdict), expected);
        }
    }
}
