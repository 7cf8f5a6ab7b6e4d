//! Every variant of a verdict, a reason and a cause, and the sentence that is made of it.
//!
//! Each list is a `match` without a rest, so that a new variant does not compile without its row.

use std::{fmt::Debug, time::Duration};

use probity_finding::patch::PatchError;
use probity_proof::{
    BrokenTest, Cheat, Gap, NotTaken, Refusal, ReportFault, TriedInterpreter, Trouble, Unavailable,
    wording::{fix_fault, gap},
};

use super::{tests::verdict, *};

/// Values and their texts, one for each name that `name` has.
fn check<Value: Debug>(
    rows: impl IntoIterator<Item = (Value, &'static str)>,
    names: &[&str],
    name: impl Fn(&Value) -> &'static str,
    text: impl Fn(&Value) -> String,
) {
    let mut seen = Vec::new();
    for (value, expected) in rows {
        assert_eq!(text(&value), expected, "{value:?}");
        seen.push(name(&value));
    }
    seen.dedup();
    assert_eq!(seen, names);
}

/// A list of the variants of an enum, and a function that names them.
macro_rules! variants {
    ($kind:ident: $($variant:ident),+ $(,)?) => {
        (&[$(stringify!($variant)),+][..], |value: &$kind| match value {
            $($kind::$variant { .. } => stringify!($variant),)+
        })
    };
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn of_refusals() {
    let (names, name) = variants!(Refusal: NoTest, TestTooLarge, NulInTest, FlaggedPathOutside,
        FlaggedFileMissing, TestPathOutside, TestPathThroughLink, TestFileExists, NotATestFileName,
        NoSuchTest, UnusableTestName, NoPackage, NoRunner, Unavailable);
    let rows = [
        (Refusal::NoTest, "the finding has no test"),
        (Refusal::TestTooLarge { limit: 9 }, "the test is larger than 9 bytes"),
        (Refusal::NulInTest, "the test contains a NUL byte"),
        (Refusal::FlaggedPathOutside(text("../a")), "\"../a\" is not a path in the repository"),
        (Refusal::FlaggedFileMissing(text("a.go")), "the flagged file a.go does not exist"),
        (Refusal::TestPathOutside(text("/a")), "the test's path \"/a\" is not in the repository"),
        (
            Refusal::TestPathThroughLink(text("l/a")),
            "the test's path l/a leads through a link or a file",
        ),
        (Refusal::TestFileExists(text("a.py")), "the test's path a.py exists already"),
        (Refusal::NotATestFileName(text("a.py")), "a.py is not the name of a test file"),
        (Refusal::NoSuchTest(Some(text("x"))), "the code has no test named `x`"),
        (Refusal::NoSuchTest(None), "the code has no test"),
        (
            Refusal::UnusableTestName(text("a\nb")),
            "the test name \"a\\nb\" cannot be passed to a command",
        ),
        (Refusal::NoPackage(text("a.rs")), "a.rs does not belong to a package"),
        (Refusal::NoRunner(text("a.kt")), "probity cannot run tests for a.kt"),
        (
            Refusal::Unavailable(Unavailable::NotInstalled("Go")),
            "the test could not be run: Go is not installed",
        ),
        (
            Refusal::Unavailable(Unavailable::NoPytest { tried: Vec::new(), install: "uv sync" }),
            "the test could not be run: no Python interpreter here has pytest; install it with \
             `uv sync`",
        ),
        (
            Refusal::Unavailable(Unavailable::NoPytest {
                tried: vec![TriedInterpreter { path: "/a".into(), why: NotTaken::Silent }],
                install: "uv sync",
            }),
            "the test could not be run: no Python interpreter here has pytest (/a: it does not \
             answer); install it with `uv sync`",
        ),
    ];
    check(rows, names, name, |refusal| {
        clause(&verdict(Outcome::NotRun, Why::Refused(refusal.clone()), ""))
    });
}

#[test]
fn of_runs() {
    let (names, name) = variants!(RunDetail: Passed, Failed, Crashed, Unbuilt, PackageUnbuilt,
        BuildTimeout, BuildKilled, Timeout, Skipped, ExpectedFailure, NoSuchTest, EndedEarly,
        ProcessFailed, SetupFailed, TeardownFailed, NeverBegan, Missing, NoReport, Trouble);
    let rows = [
        (RunDetail::Passed, "the test passes"),
        (RunDetail::Failed { kind: None }, "the test fails"),
        (RunDetail::Failed { kind: Some(text("KeyError")) }, "the test fails with KeyError"),
        (RunDetail::Crashed, "the process crashed during the test"),
        (RunDetail::Unbuilt, "test could not compile"),
        (RunDetail::PackageUnbuilt, "the test and its package could not compile"),
        (RunDetail::BuildTimeout, "compiling took too long"),
        (RunDetail::BuildKilled, "the compiler was killed"),
        (RunDetail::Timeout(Duration::from_secs(30)), "the test did not finish within 30 s"),
        (RunDetail::Skipped, "the test skipped itself"),
        (RunDetail::ExpectedFailure, "the test is marked as expected to fail"),
        (RunDetail::NoSuchTest, "no test of that name ran"),
        (RunDetail::EndedEarly, "the process ended before the test did"),
        (RunDetail::ProcessFailed, "the test passed, but its process failed"),
        (RunDetail::SetupFailed, "the setup of the test failed"),
        (RunDetail::TeardownFailed, "only the teardown of the test failed"),
        (RunDetail::NeverBegan, "the test runner failed before the test began"),
        (
            RunDetail::Missing { what: text("x is missing"), help: text("run `uv sync`") },
            "x is missing; run `uv sync`",
        ),
        (
            RunDetail::NoReport(ReportFault::Missing(text("out/*.xml"))),
            "the command wrote no report that matches `out/*.xml`",
        ),
        (RunDetail::Trouble(Trouble::Cancelled), "the review was cancelled"),
        (
            RunDetail::Trouble(Trouble::PackageMissing {
                package: text("jest"),
                install: text("npm ci"),
            }),
            "jest is not installed in the repository; run `npm ci`",
        ),
    ];
    check(rows, names, name, detail);
}

#[test]
fn of_reasons() {
    let (names, name) = variants!(Why: Refused, Ran, Unstarted, Changed, AlwaysPasses,
        WroteCode, ReadCode, Cancelled, OutOfTime, Panicked);
    let rows = [
        (Why::Refused(Refusal::NoTest), "The finding has no test."),
        (Why::Ran(RunDetail::Skipped), "The test skipped itself."),
        (
            Why::Unstarted(RunDetail::Failed { kind: Some(text("ModuleNotFoundError")) }),
            "No test could start here, not even an empty one: it fails with ModuleNotFoundError.",
        ),
        (
            Why::Changed { run: 3, then: Outcome::Passed },
            "The test fails only sometimes: run 3 ended differently (passed).",
        ),
        (
            Why::AlwaysPasses,
            "A test that throws at once passes here, too, so the repository decides what its tests say.",
        ),
        (
            Why::WroteCode(text("a.py")),
            "The test writes to a.py, so it shows nothing about the code.",
        ),
        (
            Why::ReadCode(text("a.py")),
            "The test reads the text of a.py instead of running it: its result changes with a \
             comment.",
        ),
        (Why::Cancelled, "The review was cancelled before the test ran."),
        (
            Why::OutOfTime,
            "The time limit for all proofs (`--proof-timeout`) was reached before this proof ended.",
        ),
        (Why::Panicked, "Probity failed while running the test; please report it."),
    ];
    check(rows, names, name, |why| reason(&verdict(Outcome::Rejected, why.clone(), "")));
}

#[test]
fn of_faults_of_fixes() {
    let (names, name) = variants!(FixFault: Patch, Unreadable, NotUnderReview, TouchesTest,
        TouchesSettings, TouchesGenerated, LeavesFlagged, OnlyComments, Cheats);
    let cheats = |cheat| FixFault::Cheats(cheat);
    let rows = [
        (FixFault::Patch(PatchError::Empty), "the patch changes nothing"),
        (FixFault::Unreadable(text("a.py")), "a.py cannot be read"),
        (FixFault::NotUnderReview(text("a.py")), "it changes a.py, which is not under review"),
        (FixFault::TouchesTest(text("a.py")), "it changes the test file a.py"),
        (FixFault::TouchesSettings(text("go.mod")), "it changes the configuration file go.mod"),
        (
            FixFault::TouchesGenerated(text("a.go")),
            "it changes a.go, which is generated or vendored",
        ),
        (FixFault::LeavesFlagged(text("a.py")), "it does not change the flagged file a.py"),
        (FixFault::OnlyComments(text("a.py")), "it changes only comments in a.py"),
        (cheats(Cheat::DetectsTest(text("pytest"))), "it detects the test by `pytest`"),
        (
            cheats(Cheat::SpecialCase(text("42"))),
            "it treats 42, an input of the test, as a special case",
        ),
        (cheats(Cheat::DropsCode(text("f"))), "it bypasses the code of `f`"),
        (cheats(Cheat::SilencesFailure(text("_exit("))), "it suppresses failures by `_exit(`"),
    ];
    check(rows, names, name, fix_fault);
    let (names, name) = variants!(Cheat: DetectsTest, SpecialCase, DropsCode, SilencesFailure);
    let cheats = [
        (Cheat::DetectsTest(text("CI")), "The fix was refused: it detects the test by `CI`."),
        (
            Cheat::SpecialCase(text("\"x\"")),
            "The fix was refused: it treats \"x\", an input of the test, as a special case.",
        ),
        (Cheat::DropsCode(text("f")), "The fix was refused: it bypasses the code of `f`."),
        (
            Cheat::SilencesFailure(text("exit(0)")),
            "The fix was refused: it suppresses failures by `exit(0)`.",
        ),
    ];
    check(cheats, names, name, |cheat| {
        fix_sentence(&FixResult::Refused(FixFault::Cheats(cheat.clone())))
    });
}

#[test]
fn of_results_of_fixes() {
    let (names, name) = variants!(FixResult: NotOffered, Refused, NotJudged, DoesNotFlip, Slow,
        Flaky, Breaks, Guarded, PartlyGuarded, Unguarded);
    let rows = [
        (FixResult::NotOffered, ""),
        (
            FixResult::Refused(FixFault::Unreadable(text("a"))),
            "The fix was refused: a cannot be read.",
        ),
        (FixResult::NotJudged, ""),
        (FixResult::DoesNotFlip(Outcome::Failed), "It fails with the fix as well."),
        (
            FixResult::DoesNotFlip(Outcome::BuildError),
            "It does not pass with the fix (build-error).",
        ),
        (FixResult::Slow, "With the fix it takes more than a tenth of its time limit."),
        (FixResult::Flaky, "With the fix it passes only sometimes."),
        (
            FixResult::Breaks(vec![BrokenTest::Named(text("t")), BrokenTest::Build]),
            "The fix breaks `t`, the build of the existing tests.",
        ),
        (
            FixResult::Guarded { passed: 0 },
            "It passes with the fix; no existing test covers the changed files.",
        ),
        (FixResult::Guarded { passed: 1 }, "It passes with the fix; 1 existing test still passes."),
        (
            FixResult::PartlyGuarded { passed: 2, gaps: vec![Gap::Unloaded(text("t.py"))] },
            "It passes with the fix; 2 existing tests still pass, but t.py could not be loaded.",
        ),
        (
            FixResult::Unguarded { gaps: vec![Gap::NonePasses] },
            "It passes with the fix, but no existing test guards the fix: no existing test passes \
             without the fix; to prove it, make the existing tests pass.",
        ),
    ];
    check(rows, names, name, fix_sentence);
}

#[test]
fn of_gaps() {
    let (names, name) = variants!(Gap: Unloaded, NonePasses, NotRun, OutOfTime, Unmapped, TooMany,
        Renamed, NoSuite);
    let rows = [
        (Gap::Unloaded(text("t.py")), "t.py could not be loaded"),
        (Gap::NonePasses, "no existing test passes without the fix"),
        (
            Gap::NotRun { place: text(""), detail: RunDetail::NeverBegan },
            "the tests in the repository did not run (the test runner failed before the test began)",
        ),
        (
            Gap::OutOfTime { place: text("api") },
            "the tests in api did not end within the time limit",
        ),
        (Gap::Unmapped { tests: 1 }, "1 test did not end within the time limit"),
        (Gap::Unmapped { tests: 7 }, "7 tests did not end within the time limit"),
        (Gap::TooMany { left_out: 3 }, "3 files or packages of tests were left out"),
        (Gap::Renamed(text("at 12:01")), "`at 12:01` has a different name in each run"),
        (Gap::NoSuite, "the runner has no `suite` command"),
    ];
    check(rows, names, name, gap);
}
