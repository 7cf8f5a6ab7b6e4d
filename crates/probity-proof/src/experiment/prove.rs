//! The way of one claim: place, build, run, compare with other code, and what all of it shows.

use std::{cell::Cell, path::Path};

use super::{
    altered,
    fix::Fix,
    pairs::{Compared, Originals, Pairs, Runs, compare},
    reading::reads_code,
    staged::{Observed, Staged, Version},
    start::{check_start, run_empty},
    suite::{Baselines, Suites},
};
use crate::{
    Activity, BaseResult, Claim, ClaimStep, FixResult, Level, Outcome, ProofOptions, Verdict, Why,
    WithoutFix, WithoutGuard,
    claim::FlaggedLines,
    places::Vault,
    repository::copies::Copies,
    runner::{Placed, Runner, Trial, context::RunnerContext, placement},
    syntax::Grammar,
};

/// Fixes of one claim that are tried, each of which is a build.
const MOST_FIXES: usize = 4;

/// What claims are tried with.
#[derive(Debug)]
pub(crate) struct Laboratory<'a> {
    pub(crate) options: &'a ProofOptions,
    pub(crate) context: &'a RunnerContext,
    pub(crate) runner: &'a dyn Runner,
    pub(crate) head: &'a Copies,
    pub(crate) base: Option<&'a Copies>,
    pub(crate) baselines: &'a Baselines,
    pub(crate) without_fix: WithoutFix,
}

impl Laboratory<'_> {
    /// Fills in a verdict. The vault is this claim's own, and empty.
    pub(crate) fn prove(&self, claim: &Claim, vault: &Vault, verdict: &mut Verdict) {
        let root = &self.head.root;
        let placed = placement::flagged(root, claim)
            .and_then(|flagged| self.runner.place(root, claim, &flagged));
        let placed = match placed {
            Ok(placed) => placed,
            Err(refusal) => {
                verdict.refuse(refusal);
                return self.check_other_place(claim, vault, verdict);
            }
        };
        verdict.test_path.clone_from(&placed.path);
        verdict.package = placed.directory.to_string_lossy().into_owned();
        // Without a name all tests of the file were meant.
        let whole = Path::new(&placed.path).file_name().unwrap_or_default().to_string_lossy();
        let name = if placed.name.is_empty() { &whole } else { placed.name.as_str() };
        verdict.test_name = name.to_owned();
        verdict.test_source.clone_from(&placed.source);
        verdict.function = altered::function_name(root, &placed.flagged);
        let Laboratory { context, runner, head, .. } = *self;
        let as_it_is = Version { context, runner, copies: head, changes: &[] };
        self.tell(claim, ClaimStep::Test);
        let original = match as_it_is.build(&placed, vault, "original") {
            Ok(original) => original,
            Err(trial) => {
                verdict.record(&trial);
                return check_start(as_it_is, &placed, vault, verdict);
            }
        };
        let Observed { trial: first, wrote_code } = original.run();
        let mut originals = Originals::default();
        originals.add(&first);
        verdict.record(&first);
        // A test that hangs may hang because of the code, which its fix shows sooner.
        if first.outcome != Outcome::Timeout {
            check_start(as_it_is, &placed, vault, verdict);
        }
        if matches!(verdict.why, Why::Unstarted(_)) {
            verdict.runs = originals.runs;
            return;
        }
        if let Some(path) = wrote_code {
            return verdict.reject(Why::WroteCode(path.display().to_string()));
        }
        if !first.is_failure() {
            self.confirm_pass(&first, &original, &mut originals, verdict);
            if verdict.outcome == Outcome::Passed && anything_passes(as_it_is, &placed, vault) {
                verdict.end(Outcome::HarnessError, Why::AlwaysPasses);
                verdict.can_start = Some(false);
            }
            verdict.runs = originals.runs;
            return;
        }
        let mut claimed = Claimed {
            laboratory: self,
            claim,
            flagged: &placed.flagged,
            placed: &placed,
            as_it_is,
            original: &original,
            originals,
            vault,
            verdict,
        };
        claimed.try_fixes();
        claimed.try_base();
        claimed.try_alterations();
        claimed.try_again();
        let Claimed { originals, verdict, .. } = claimed;
        verdict.runs = originals.runs;
        verdict.conclude(self.options.required, self.options.without_guard);
        if verdict.proven || !matches!(verdict.why, Why::Ran(_)) {
            verdict.can_start = Some(true);
        } else if verdict.outcome == Outcome::Timeout {
            check_start(as_it_is, &placed, vault, verdict);
        }
    }

    fn tell(&self, claim: &Claim, step: ClaimStep) {
        self.options.watch.tell(Activity::Claim { id: &claim.id, step });
    }

    /// For a test that the agent wants where it cannot be: whether one that is elsewhere can start.
    fn check_other_place(&self, claim: &Claim, vault: &Vault, verdict: &mut Verdict) {
        let free = Claim { test_file: None, test_name: None, ..claim.clone() };
        let root = &self.head.root;
        let placed = placement::flagged(root, &free)
            .and_then(|flagged| self.runner.place(root, &free, &flagged));
        let Ok(placed) = placed else { return };
        let Laboratory { context, runner, head, .. } = *self;
        let as_it_is = Version { context, runner, copies: head, changes: &[] };
        verdict.package = placed.directory.to_string_lossy().into_owned();
        if let Some(trial) = run_empty(as_it_is, &placed, vault) {
            verdict.can_start = Some(trial.outcome == Outcome::Passed);
        }
    }

    /// One that passes is run once more: chance must not clear a finding any more than prove it.
    fn confirm_pass(
        &self,
        first: &Trial,
        original: &Staged<'_>,
        originals: &mut Originals,
        verdict: &mut Verdict,
    ) {
        if first.outcome != Outcome::Passed {
            return;
        }
        verdict.fix = FixResult::NotJudged;
        if let Err(Compared::OriginalIsFlaky(why)) = originals.run_again(original) {
            verdict.end(Outcome::Flaky, why);
        }
    }
}

/// Whether the test passes even if it throws at once. Settings of a repository can have every test
/// pass, and a claim would be unfounded for that.
fn anything_passes(as_it_is: Version<'_>, placed: &Placed, vault: &Vault) -> bool {
    let grammar = Grammar::of(&placed.path);
    let thrown = grammar.and_then(|grammar| grammar.with_all_throwing(&placed.source));
    let Some(source) = thrown else { return false };
    let throwing = Placed { source, ..placed.clone() };
    let staged = as_it_is.build(&throwing, vault, "throwing");
    staged.is_ok_and(|staged| staged.run().trial.outcome == Outcome::Passed)
}

/// A claim whose test has failed once.
struct Claimed<'a> {
    laboratory: &'a Laboratory<'a>,
    claim: &'a Claim,
    flagged: &'a FlaggedLines,
    placed: &'a Placed,
    as_it_is: Version<'a>,
    original: &'a Staged<'a>,
    originals: Originals,
    vault: &'a Vault,
    verdict: &'a mut Verdict,
}

impl Claimed<'_> {
    fn is_open(&self) -> bool {
        matches!(self.verdict.outcome, Outcome::Failed | Outcome::Timeout)
            && self.verdict.level < Level::Flips
    }

    /// The fixes of the claim: one has to make the test pass and to break nothing.
    fn try_fixes(&mut self) {
        let claim = self.claim;
        let patches = claim.fix_patch.iter().chain(&claim.other_fixes);
        let patches = patches.filter(|patch| !patch.trim().is_empty()).take(MOST_FIXES);
        for (number, patch) in patches.enumerate() {
            if !self.is_open() {
                return;
            }
            let result = self.try_fix(patch, number);
            let is_guarded = result.is_guarded();
            if is_guarded || number == 0 {
                self.verdict.fix = result;
                self.verdict.fix_patch = Some(patch.clone());
            }
            if is_guarded {
                self.verdict.level = Level::Flips;
            }
        }
    }

    fn try_fix(&mut self, patch: &str, number: usize) -> FixResult {
        let Laboratory { options, head, baselines, .. } = *self.laboratory;
        let base = self.laboratory.base.map(|base| &base.root);
        let reviewed = options.reviewed.as_ref();
        let fix = Fix::read(patch, &head.root, base, self.flagged, reviewed, self.claim);
        let fix = match fix {
            Ok(fix) => fix,
            Err(fault) => return FixResult::Refused(fault),
        };
        let fixed = Version { changes: &fix.changes, ..self.as_it_is };
        // Each fix more is one more chance for a coin.
        let more = u32::try_from(number).unwrap_or(u32::MAX);
        let staged = match fixed.build(self.placed, self.vault, &format!("fixed-{number}")) {
            Ok(staged) => staged,
            Err(trial) => return FixResult::DoesNotFlip(trial.outcome),
        };
        let watched = Watched::new(self, &staged, more);
        let mut pairs = Pairs::new(options, self.original, &watched, &self.originals, more);
        let first = match pairs.begin(&mut self.originals) {
            Ok(first) => first,
            Err(end) => return self.without_flip(end),
        };
        if self.reads_code(&staged) {
            return self.without_flip(Compared::ReadCode(self.flagged.file.clone()));
        }
        self.laboratory.tell(self.claim, ClaimStep::ExistingTests);
        let name = format!("suite-{number}");
        let result =
            Suites { options, baselines, vault: self.vault, name }.judge(self.as_it_is, fixed);
        let is_in_vain = match &result {
            FixResult::Unguarded { .. } => options.without_guard == WithoutGuard::Observe,
            result => !result.is_guarded(),
        };
        if is_in_vain {
            self.verdict.pairs = first;
            return result;
        }
        match pairs.finish(&mut self.originals) {
            Compared::Flips { pairs } => {
                self.verdict.pairs = pairs;
                result
            }
            end => self.without_flip(end),
        }
    }

    /// What becomes of a fix whose pairs ended without a flip.
    fn without_flip(&mut self, end: Compared) -> FixResult {
        match end {
            Compared::DoesNotFlip(outcome) => FixResult::DoesNotFlip(outcome),
            Compared::Slow => FixResult::Slow,
            Compared::OtherIsFlaky => FixResult::Flaky,
            end => {
                self.end(end);
                FixResult::NotJudged
            }
        }
    }

    /// The code before the change: if the test passes there, and the flagged lines are new, the
    /// change brought the defect.
    fn try_base(&mut self) {
        let (Some(base), Some(copies)) = (&self.laboratory.options.base, self.laboratory.base)
        else {
            return;
        };
        let FlaggedLines { file, first, last } = self.flagged;
        let is_added = base.added_all(file, *first, *last);
        if self.verdict.outcome == Outcome::Failed {
            self.verdict.base = self.at_base(copies, is_added);
        }
        self.verdict.introduced = match self.verdict.base {
            BaseResult::Passes => Some(true),
            // A base that lacks the feature fails as well, which says nothing.
            _ if is_added => Some(true),
            BaseResult::Fails => Some(false),
            BaseResult::NotTried | BaseResult::Unknown => None,
        };
    }

    fn at_base(&mut self, copies: &Copies, is_added: bool) -> BaseResult {
        let runner = self.laboratory.runner;
        let placed = placement::flagged(&copies.root, self.claim)
            .and_then(|flagged| runner.place(&copies.root, self.claim, &flagged));
        let Ok(placed) = placed else { return BaseResult::Unknown };
        let version = Version { copies, ..self.as_it_is };
        let Ok(staged) = version.build(&placed, self.vault, "base") else {
            return BaseResult::Unknown;
        };
        if !is_added || !self.is_open() {
            return match staged.run().trial.outcome {
                Outcome::Passed => BaseResult::Passes,
                Outcome::Failed => BaseResult::Fails,
                _ => BaseResult::Unknown,
            };
        }
        let options = self.laboratory.options;
        let watched = Watched::new(self, &staged, 0);
        match compare(options, self.original, &watched, &mut self.originals, 0) {
            Compared::Flips { .. } if self.reads_code(&staged) => {
                self.end(Compared::ReadCode(self.flagged.file.clone()));
                BaseResult::Unknown
            }
            Compared::Flips { pairs } => {
                // A fix that breaks tests or cheats speaks louder than the base; one of which nobody
                // knows what it breaks says nothing.
                if matches!(self.verdict.fix, FixResult::NotOffered | FixResult::Unguarded { .. }) {
                    self.verdict.pairs = pairs;
                    self.verdict.level = Level::Flips;
                }
                BaseResult::Passes
            }
            Compared::DoesNotFlip(Outcome::Failed) => BaseResult::Fails,
            end @ (Compared::OriginalIsFlaky(_) | Compared::WroteCode(_)) => {
                self.end(end);
                BaseResult::Unknown
            }
            _ => BaseResult::Unknown,
        }
    }

    /// Without a fix, the flagged function is made to return other values.
    fn try_alterations(&mut self) {
        let wanted = self.laboratory.without_fix == WithoutFix::Alter
            && self.verdict.fix == FixResult::NotOffered
            && self.verdict.outcome == Outcome::Failed;
        if !wanted || !self.is_open() {
            return;
        }
        let copies = self.laboratory.head;
        let alterations = altered::alterations(&copies.root, self.flagged, &self.claim.test_code);
        for (number, alteration) in alterations.iter().enumerate() {
            let changes = [(self.flagged.file.clone(), alteration.text.clone())];
            let version = Version { changes: &changes, ..self.as_it_is };
            match self.compare(version, &format!("altered-{number}"), altered::MORE_PAIRS) {
                Ok(Compared::Flips { pairs }) => {
                    self.verdict.pairs = pairs;
                    self.verdict.level = Level::Depends;
                    self.verdict.altered = Some(alteration.function.clone());
                    return;
                }
                // It does not compile with that value, or does not want it.
                Ok(Compared::DoesNotFlip(_) | Compared::Slow | Compared::OtherIsFlaky) | Err(_) => {
                }
                Ok(end) => return self.end(end),
            }
        }
    }

    /// A failure that nothing has shown to depend on the code fails at least in every run.
    fn try_again(&mut self) {
        if !self.is_open() || self.verdict.outcome == Outcome::Timeout {
            return;
        }
        let options = self.laboratory.options;
        // No run more lets it count, if only a fix does and the one that came with it cannot.
        let is_settled = options.required > Level::Fails
            && matches!(
                self.verdict.fix,
                FixResult::Refused(_) | FixResult::Breaks(_) | FixResult::Unguarded { .. }
            );
        let wanted =
            if is_settled { Pairs::FIRST } else { options.pairs.max(ProofOptions::LEAST_PAIRS) };
        let wanted = wanted as usize;
        while self.originals.runs.len() < wanted {
            if let Err(end) = self.originals.run_again(self.original) {
                return self.end(end);
            }
        }
        self.verdict.level = self.verdict.level.max(Level::Fails);
    }

    fn compare(
        &mut self,
        version: Version<'_>,
        name: &str,
        more: u32,
    ) -> Result<Compared, Box<Trial>> {
        let options = self.laboratory.options;
        let staged = version.build(self.placed, self.vault, name)?;
        let watched = Watched::new(self, &staged, more);
        let compared = compare(options, self.original, &watched, &mut self.originals, more);
        Ok(match compared {
            Compared::Flips { .. } if self.reads_code(&staged) => {
                Compared::ReadCode(self.flagged.file.clone())
            }
            _ => compared,
        })
    }

    fn reads_code(&self, other: &Staged<'_>) -> bool {
        reads_code(self.original, other, &self.flagged.file, self.vault)
    }

    fn end(&mut self, end: Compared) {
        match end {
            Compared::OriginalIsFlaky(why) => self.verdict.end(Outcome::Flaky, why),
            Compared::WroteCode(path) => self.verdict.reject(Why::WroteCode(path)),
            Compared::ReadCode(path) => self.verdict.reject(Why::ReadCode(path)),
            _ => {}
        }
    }
}

/// Another version of the code, whose runs are counted for whoever looks on.
struct Watched<'a> {
    laboratory: &'a Laboratory<'a>,
    claim: &'a Claim,
    staged: &'a Staged<'a>,
    runs: Cell<u32>,
    wanted: u32,
}

impl<'a> Watched<'a> {
    fn new(claimed: &Claimed<'a>, staged: &'a Staged<'a>, more: u32) -> Self {
        let wanted = claimed.laboratory.options.pairs + more;
        let wanted = wanted.clamp(ProofOptions::LEAST_PAIRS, ProofOptions::MOST_PAIRS);
        let Claimed { laboratory, claim, .. } = *claimed;
        Self { laboratory, claim, staged, runs: Cell::new(0), wanted }
    }
}

impl Runs for Watched<'_> {
    fn run(&self) -> Observed {
        let number = self.runs.get() + 1;
        self.runs.set(number);
        // A doubtful test gets more pairs than were planned.
        let of = self.wanted.max(number);
        self.laboratory.tell(self.claim, ClaimStep::Pair { number, of });
        self.staged.run()
    }
}

impl Verdict {
    fn refuse(&mut self, refusal: crate::Refusal) {
        use crate::Refusal;
        let outcome = match refusal {
            Refusal::NoTest
            | Refusal::NoSuchTest(_)
            | Refusal::NoPackage(_)
            | Refusal::NoRunner(_) => Outcome::NotRun,
            Refusal::Unavailable(_) => Outcome::HarnessError,
            _ => Outcome::Rejected,
        };
        self.end(outcome, Why::Refused(refusal));
    }

    /// Takes over what the run that decides has shown.
    fn record(&mut self, trial: &Trial) {
        self.output.clone_from(&trial.output);
        self.end(trial.outcome, Why::Ran(trial.detail.clone()));
    }

    /// For a test that shows nothing about any code.
    fn reject(&mut self, why: Why) {
        self.end(Outcome::Rejected, why);
        self.level = Level::Claimed;
    }

    pub(crate) fn end(&mut self, outcome: Outcome, why: Why) {
        self.outcome = outcome;
        self.why = why;
        if outcome == Outcome::Flaky {
            self.level = Level::Claimed;
        }
    }

    /// Whether the level is enough. Without any fix on offer a function that matters is.
    fn conclude(&mut self, required: Level, without_guard: WithoutGuard) {
        let is_failure = matches!(self.outcome, Outcome::Failed | Outcome::Timeout);
        let no_fix = self.fix == FixResult::NotOffered;
        let stands_in = required == Level::Flips && self.level == Level::Depends && no_fix;
        let is_unguarded = matches!(self.fix, FixResult::Unguarded { .. });
        let counts = is_unguarded && without_guard == WithoutGuard::Count;
        self.proven = is_failure
            && self.level > Level::Claimed
            && (self.level >= required || stands_in || counts);
        if self.proven {
            self.outcome = Outcome::Failed;
        }
    }
}
