//! Running the tests of claims: prepared while the agent thinks, run when it has spoken.
//!
//! What becomes of a claim depends on nothing but the claim and the repository, so it does not
//! matter which others are proven beside it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use probity_proof::{
    Activity, Base, Claim, FixFault, FixResult, ProofError, ProofOptions, Verdict, WithoutFix,
    Workshop,
};

use super::{
    Checkout, Event, Events, Failed, ProveOptions, ProvedClaim, ground::Ground, page::milliseconds,
};
use crate::{
    claims::{ClaimSettings, Claims, Settled, Shard},
    proved::Proved,
    redact::Redactor,
    wording,
};

/// A workshop, as far as it is made. It reads the unmodified repository, and nothing the agent
/// writes. Nothing of it outlives this value.
pub(super) struct PendingWorkshop {
    options: Option<ProofOptions>,
    preparing: Option<JoinHandle<Result<Workshop, ProofError>>>,
    workshop: Option<Workshop>,
    stop: Arc<AtomicBool>,
}

impl PendingWorkshop {
    pub(super) fn new(
        checkout: &Checkout,
        ground: &Ground,
        settings: &ClaimSettings,
        proving: &ProveOptions,
    ) -> Self {
        let mut options = ProofOptions::new(&checkout.repo, proving.tests.sandbox.clone());
        options.base = ground.change.as_ref().map(|change| Base {
            commit: change.merge_base.clone(),
            added: change
                .files
                .iter()
                .map(|file| (file.path.clone(), file.added.clone()))
                .collect(),
        });
        options.reviewed = Some(ground.files(&settings.config).into_iter().collect());
        options.runners.clone_from(&proving.runners);
        options.jobs = proving.jobs;
        options.pairs = settings.config.proof.pairs;
        options.test_timeout = Duration::from_secs(settings.config.proof.seconds);
        options.suite_timeout = Duration::from_millis(settings.suite_milliseconds);
        options.proof_timeout = settings.proof_milliseconds.map(Duration::from_millis);
        options.required = settings.config.proof.level;
        options.without_guard = proving.without_guard;
        options.environment = proving.tests.environment.clone();
        options.caches = proving.tests.caches.clone();
        options.fetch = proving.tests.fetch.clone();
        options.cancel = Arc::clone(&proving.stop);
        options.watch = proving.watch.clone();
        let stop = Arc::clone(&proving.stop);
        Self { options: Some(options), preparing: None, workshop: None, stop }
    }

    /// Prepares the workshop beside whatever else is done.
    pub(super) fn begin(&mut self, events: &Events<'_>) {
        let Some(options) = self.options.take() else { return };
        events(Event::Step("preparing a place for the tests"));
        let watch = options.watch.clone();
        let tell = move |step: &str| watch.tell(Activity::Preparing(step));
        let work = move || Workshop::prepare(options, &tell);
        self.preparing = thread::Builder::new().name("workshop".to_owned()).spawn(work).ok();
    }

    /// Proves the open claims of a shard.
    pub(super) fn results(
        &mut self,
        claims: &Claims,
        shard: Shard,
        redactor: &Redactor,
        events: &Events<'_>,
    ) -> Result<Settled, Failed> {
        let began = Instant::now();
        let open = shard.of_claims(claims.open());
        self.check_stop()?;
        if open.is_empty() {
            return Ok(Settled::default());
        }
        let workshop = self.workshop(events)?;
        events(Event::Proving { of: open.len() });
        let proved = proved(workshop, claims, &open, redactor, events);
        let isolation = wording::isolation(workshop.sandbox()).to_owned();
        let notes = workshop.notes().iter().map(wording::prepare_note).collect();
        // Tests that were killed have shown nothing, and a score without them would be a lie.
        self.check_stop()?;
        Ok(Settled { proved, isolation, notes, milliseconds: milliseconds(began) })
    }

    fn check_stop(&self) -> Result<(), Failed> {
        if self.stop.load(Ordering::SeqCst) { Err(ProofError::Cancelled.into()) } else { Ok(()) }
    }

    fn workshop(&mut self, events: &Events<'_>) -> Result<&Workshop, Failed> {
        self.begin(events);
        if let Some(preparing) = self.preparing.take() {
            let panicked = |_| Failed::machine(&"preparing the tests panicked");
            self.workshop = Some(preparing.join().map_err(panicked)??);
        }
        self.workshop.as_ref().ok_or_else(|| Failed::machine(&"no thread could be started"))
    }
}

impl Drop for PendingWorkshop {
    fn drop(&mut self) {
        if let Some(preparing) = self.preparing.take() {
            self.stop.store(true, Ordering::SeqCst);
            drop(preparing.join());
        }
    }
}

/// One result for each claim, in their order.
fn proved(
    workshop: &Workshop,
    claims: &Claims,
    open: &[Claim],
    redactor: &Redactor,
    events: &Events<'_>,
) -> Vec<Proved> {
    let done = AtomicUsize::new(0);
    let tell = |claim: &Claim, verdict: &Verdict| {
        let done = done.fetch_add(1, Ordering::SeqCst) + 1;
        let claim = ProvedClaim {
            id: &claim.id,
            file: &claim.file,
            line: claim.line,
            title: claims.title(&claim.id),
            outcome: verdict.outcome.name(),
            level: verdict.level.name(),
            is_proven: verdict.proven,
        };
        events(Event::Proved { done, of: open.len(), claim });
    };
    let is_outdated =
        |claim: &Claim, verdict: &Verdict| claims.is_known(&claim.id) && lost_its_fix(verdict);
    let mut verdicts = workshop.prove_all(open, WithoutFix::Alter, &|place, verdict| {
        if let Some(claim) = open.get(place).filter(|claim| !is_outdated(claim, verdict)) {
            tell(claim, verdict);
        }
    });
    // The fix of a known issue may not fit any more, which is no fault of the issue.
    let outdated: Vec<Claim> = open
        .iter()
        .zip(&verdicts)
        .filter(|(claim, verdict)| is_outdated(claim, verdict))
        .map(|(claim, _)| Claim { fix_patch: None, ..claim.clone() })
        .collect();
    let again = workshop.prove_all(&outdated, WithoutFix::Alter, &|place, verdict| {
        if let Some(claim) = outdated.get(place) {
            tell(claim, verdict);
        }
    });
    for verdict in again {
        if let Some(place) = verdicts.iter_mut().find(|old| old.id == verdict.id) {
            *place = verdict;
        }
    }
    for twin in with_fixes_of_others(workshop, claims, open, &verdicts) {
        if let Some(place) = verdicts.iter_mut().find(|old| old.id == twin.id) {
            *place = twin;
        }
    }
    let without_secrets = without_secrets(workshop, open, &verdicts, redactor);
    let all = verdicts.iter().zip(without_secrets);
    all.map(|(verdict, test_without_secrets)| Proved {
        test_without_secrets,
        ..Proved::new(verdict, redactor)
    })
    .collect()
}

/// Proven claims without a fix, tried with the fix of another one about the same line. If it makes
/// both tests pass, both show one defect.
fn with_fixes_of_others(
    workshop: &Workshop,
    claims: &Claims,
    open: &[Claim],
    verdicts: &[Verdict],
) -> Vec<Verdict> {
    let place = |claim: &Claim| (claim.file.clone(), claim.line, claims.category(&claim.id));
    let has_none = |claim: &Claim| claim.fix_patch.is_none() && claim.other_fixes.is_empty();
    let twins: Vec<Claim> = open
        .iter()
        .zip(verdicts)
        .filter(|(claim, verdict)| verdict.proven && has_none(claim))
        .filter_map(|(claim, _)| {
            let is_other = |other: &Claim| other.id != claim.id && place(other) == place(claim);
            let mut others = open.iter().zip(verdicts).filter(|(other, verdict)| {
                is_other(other) && verdict.proven && verdict.fix.is_guarded()
            });
            let fix_patch = others.find_map(|(_, verdict)| verdict.fix_patch.clone())?;
            Some(Claim { fix_patch: Some(fix_patch), ..claim.clone() })
        })
        .collect();
    if twins.is_empty() {
        return Vec::new();
    }
    let shown = workshop.prove_all(&twins, WithoutFix::Leave, &|_, _| {});
    shown.into_iter().filter(|verdict| verdict.proven && verdict.fix.is_guarded()).collect()
}

/// Whether a claim fails and its fix cannot be tried, but for one that cheats.
fn lost_its_fix(verdict: &Verdict) -> bool {
    let is_cheat = matches!(verdict.fix, FixResult::Refused(FixFault::Cheats(_)));
    verdict.wants_fix() && matches!(verdict.fix, FixResult::Refused(_)) && !is_cheat
}

/// For each claim whose proven test has a secret in it the test without, if it proves the same: a
/// history must not hold secrets, and has to run the test again.
fn without_secrets(
    workshop: &Workshop,
    claims: &[Claim],
    verdicts: &[Verdict],
    redactor: &Redactor,
) -> Vec<Option<String>> {
    let masked = |(claim, verdict): (&Claim, &Verdict)| {
        if !verdict.proven || redactor.is_clean(&claim.test_code) {
            return None;
        }
        redactor.masked_code(&claim.test_code)
    };
    let codes: Vec<Option<String>> = claims.iter().zip(verdicts).map(masked).collect();
    let again: Vec<Claim> = claims
        .iter()
        .zip(&codes)
        .filter_map(|(claim, code)| Some(Claim { test_code: code.clone()?, ..claim.clone() }))
        .collect();
    if again.is_empty() {
        return codes;
    }
    let mut shown = workshop.prove_all(&again, WithoutFix::Alter, &|_, _| {}).into_iter();
    let mut proven = |code: Option<String>| {
        let code = code?;
        shown.next().is_some_and(|verdict| verdict.proven).then_some(code)
    };
    codes.into_iter().map(&mut proven).collect()
}
