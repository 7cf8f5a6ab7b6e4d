//! The parts of verdicts as parts of sentences, for every report that shows them. Nothing decides by
//! reading them.

use probity_sandbox::BackendKind;

use crate::{
    BrokenTest, Cheat, FixFault, FixResult, Gap, Outcome, PrepareNote, Refusal, RunDetail,
};

/// Tests that are named before the rest is counted.
const NAMED_TESTS: usize = 3;

/// What became of a fix that does not prove its claim; none if nobody judged it.
#[must_use]
pub fn fix_result(fix: &FixResult) -> Option<String> {
    Some(match fix {
        FixResult::NotOffered | FixResult::NotJudged => return None,
        FixResult::Refused(fault) => format!("the fix was refused: {}", fix_fault(fault)),
        FixResult::DoesNotFlip(Outcome::Failed) => "it fails with the fix as well".to_owned(),
        FixResult::DoesNotFlip(outcome) => format!("it does not pass with the fix ({outcome})"),
        FixResult::Slow => "with the fix it takes more than a tenth of its time limit".to_owned(),
        FixResult::Flaky => "with the fix it passes only sometimes".to_owned(),
        FixResult::Breaks(tests) => format!("the fix breaks {}", broken(tests)),
        FixResult::Guarded { passed } => {
            format!("it passes with the fix; {}", guarded(*passed, &[]))
        }
        FixResult::PartlyGuarded { passed, gaps } => {
            format!("it passes with the fix; {}", guarded(*passed, gaps))
        }
        FixResult::Unguarded { gaps } => {
            format!("it passes with the fix, but {}", unguarded(gaps))
        }
    })
}

fn broken(tests: &[BrokenTest]) -> String {
    let names: Vec<String> = tests
        .iter()
        .take(NAMED_TESTS)
        .map(|test| match test {
            BrokenTest::Named(name) => format!("`{name}`"),
            BrokenTest::Build => "the build of the existing tests".to_owned(),
        })
        .collect();
    let more = tests.len().saturating_sub(NAMED_TESTS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// What existing tests say of a fix that breaks none of them.
#[must_use]
pub fn guarded(passed: usize, gaps: &[Gap]) -> String {
    let tests = match passed {
        0 => "no existing test covers the changed files".to_owned(),
        1 => "1 existing test still passes".to_owned(),
        count => format!("{count} existing tests still pass"),
    };
    if gaps.is_empty() { tests } else { format!("{tests}, but {}", all_gaps(gaps)) }
}

/// Why no existing test says anything of a fix, and what would help.
#[must_use]
pub fn unguarded(gaps: &[Gap]) -> String {
    let help = gaps.first().map(|gap| format!("; to prove it, {}", gap_help(gap)));
    let why = if gaps.is_empty() { String::new() } else { format!(": {}", all_gaps(gaps)) };
    format!("no existing test guards the fix{why}{}", help.unwrap_or_default())
}

fn all_gaps(gaps: &[Gap]) -> String {
    let named: Vec<String> = gaps.iter().take(NAMED_TESTS).map(gap).collect();
    let more = gaps.len().saturating_sub(NAMED_TESTS);
    let more = if more > 0 { format!(", and {more} more gaps") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// Which existing tests said nothing, and why.
#[must_use]
pub fn gap(gap: &Gap) -> String {
    match gap {
        Gap::Unloaded(file) => format!("{file} could not be loaded"),
        Gap::NonePasses => "no existing test passes without the fix".to_owned(),
        Gap::NotRun { place, detail } => {
            format!("the tests in {} did not run ({})", shown(place), self::detail(detail))
        }
        Gap::OutOfTime { place } => {
            format!("the tests in {} did not end within the time limit", shown(place))
        }
        Gap::Unmapped { tests: 1 } => "1 test did not end within the time limit".to_owned(),
        Gap::Unmapped { tests } => format!("{tests} tests did not end within the time limit"),
        Gap::TooMany { left_out: 1 } => "1 file or package of tests was left out".to_owned(),
        Gap::TooMany { left_out } => format!("{left_out} files or packages of tests were left out"),
        Gap::Renamed(test) => format!("`{test}` has a different name in each run"),
        Gap::NoSuite => "the runner has no `suite` command".to_owned(),
    }
}

/// What a person can do about a gap.
fn gap_help(gap: &Gap) -> String {
    match gap {
        Gap::Unloaded(file) => format!("make {file} load"),
        Gap::NonePasses => "make the existing tests pass".to_owned(),
        Gap::NotRun { place, .. } => format!("make the tests in {} run", shown(place)),
        Gap::OutOfTime { .. } | Gap::Unmapped { .. } => "raise `--suite-timeout`".to_owned(),
        Gap::TooMany { .. } => "run the existing tests yourself".to_owned(),
        Gap::Renamed(test) => format!("give `{test}` the same name in each run"),
        Gap::NoSuite => "add a `suite` command to the runner".to_owned(),
    }
}

/// A directory of the repository, whose own root has no name.
fn shown(place: &str) -> &str {
    if place.is_empty() { "the repository" } else { place }
}

/// Why a fix was not tried.
#[must_use]
pub fn fix_fault(fault: &FixFault) -> String {
    match fault {
        FixFault::Patch(error) => error.to_string(),
        FixFault::Unreadable(path) => format!("{path} cannot be read"),
        FixFault::NotUnderReview(path) => format!("it changes {path}, which is not under review"),
        FixFault::TouchesTest(path) => format!("it changes the test file {path}"),
        FixFault::TouchesSettings(path) => format!("it changes the configuration file {path}"),
        FixFault::TouchesGenerated(path) => {
            format!("it changes {path}, which is generated or vendored")
        }
        FixFault::LeavesFlagged(path) => format!("it does not change the flagged file {path}"),
        FixFault::OnlyComments(path) => format!("it changes only comments in {path}"),
        FixFault::Cheats(Cheat::DetectsTest(word)) => {
            format!("it detects the test by `{word}`")
        }
        FixFault::Cheats(Cheat::SpecialCase(literal)) => {
            format!("it treats {literal}, an input of the test, as a special case")
        }
        FixFault::Cheats(Cheat::DropsCode(function)) => {
            format!("it bypasses the code of `{function}`")
        }
        FixFault::Cheats(Cheat::SilencesFailure(word)) => {
            format!("it suppresses failures by `{word}`")
        }
    }
}

/// Why a test was not run.
#[must_use]
pub fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoTest => "the finding has no test".to_owned(),
        Refusal::TestTooLarge { limit } => format!("the test is larger than {limit} bytes"),
        Refusal::NulInTest => "the test contains a NUL byte".to_owned(),
        Refusal::FlaggedPathOutside(path) => format!("{path:?} is not a path in the repository"),
        Refusal::FlaggedFileMissing(path) => format!("the flagged file {path} does not exist"),
        Refusal::TestPathOutside(path) => {
            format!("the test's path {path:?} is not in the repository")
        }
        Refusal::TestPathThroughLink(path) => {
            format!("the test's path {path} leads through a link or a file")
        }
        Refusal::TestFileExists(path) => format!("the test's path {path} exists already"),
        Refusal::NotATestFileName(path) => format!("{path} is not the name of a test file"),
        Refusal::NoSuchTest(Some(name)) => format!("the code has no test named `{name}`"),
        Refusal::NoSuchTest(None) => "the code has no test".to_owned(),
        Refusal::UnusableTestName(name) => {
            format!("the test name {name:?} cannot be passed to a command")
        }
        Refusal::NoPackage(path) => format!("{path} does not belong to a package"),
        Refusal::NoRunner(path) => format!("probity cannot run tests for {path}"),
        Refusal::Unavailable(why) => format!("the test could not be run: {why}"),
    }
}

/// What one run showed.
#[must_use]
pub fn detail(detail: &RunDetail) -> String {
    match detail {
        RunDetail::Passed => "the test passes".to_owned(),
        RunDetail::Failed { kind: Some(kind) } => format!("the test fails with {kind}"),
        RunDetail::Failed { kind: None } => "the test fails".to_owned(),
        RunDetail::Crashed => "the process crashed during the test".to_owned(),
        RunDetail::Unbuilt => "test could not compile".to_owned(),
        RunDetail::PackageUnbuilt => "the test and its package could not compile".to_owned(),
        RunDetail::BuildTimeout => "compiling took too long".to_owned(),
        RunDetail::BuildKilled => "the compiler was killed".to_owned(),
        RunDetail::Timeout(limit) => {
            format!("the test did not finish within {} s", limit.as_secs())
        }
        RunDetail::Skipped => "the test skipped itself".to_owned(),
        RunDetail::ExpectedFailure => "the test is marked as expected to fail".to_owned(),
        RunDetail::NoSuchTest => "no test of that name ran".to_owned(),
        RunDetail::EndedEarly => "the process ended before the test did".to_owned(),
        RunDetail::ProcessFailed => "the test passed, but its process failed".to_owned(),
        RunDetail::SetupFailed => "the setup of the test failed".to_owned(),
        RunDetail::TeardownFailed => "only the teardown of the test failed".to_owned(),
        RunDetail::NeverBegan => "the test runner failed before the test began".to_owned(),
        RunDetail::Missing { what, help } => format!("{what}; {help}"),
        RunDetail::NoReport(fault) => fault.to_string(),
        RunDetail::Trouble(trouble) => trouble.to_string(),
    }
}

/// What went less well than it should while preparing.
#[must_use]
pub fn prepare_note(note: &PrepareNote) -> String {
    match note {
        PrepareNote::LinksDropped(1) => {
            "1 link that leads out of the repository was not copied".to_owned()
        }
        PrepareNote::LinksDropped(count) => {
            format!("{count} links that lead out of the repository were not copied")
        }
        PrepareNote::NoBase { commit, why } => {
            format!("tests cannot be run at the merge base {commit}: {why}")
        }
        PrepareNote::NotWarm { language, why } => {
            format!("the {language} dependencies could not be prepared: {why}")
        }
        PrepareNote::NotMounted(place) => format!(
            "{} is a link or not a directory of the repository, so tests do not see what it leads to",
            place.display()
        ),
        PrepareNote::UnclearScript { package, words, runs } => format!(
            "probity does not understand `{words}` in the test script of {} and runs its tests with \
             {runs}",
            package.display()
        ),
    }
}

/// What tests run in.
#[must_use]
pub fn isolation(sandbox: BackendKind) -> &'static str {
    match sandbox {
        BackendKind::None => {
            "none: a separate copy, with access to the network and the files of this machine"
        }
        BackendKind::Landlock => {
            "landlock: a separate copy, no network and no loopback, no other files of this machine"
        }
        BackendKind::Bubblewrap | BackendKind::Docker | BackendKind::Podman => {
            "bubblewrap: a separate copy, no network, no other files of this machine"
        }
    }
}
