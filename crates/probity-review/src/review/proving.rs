//! Running the tests: prepared while the agent thinks, run when it has spoken.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{Event, Failed, Page, ReviewOptions, compare::Known};
use crate::{
    findings::AgentFinding,
    git::Change,
    output::ProvenIssue,
    proof::{Claim, ProofError, ProofOptions, Verdict, Workshop},
    redact::Redactor,
};

/// A workshop in the making. It reads the unmodified repository, and nothing the agent writes.
pub(super) struct Proving {
    workshop: Option<JoinHandle<Result<Workshop, ProofError>>>,
    stop: Arc<AtomicBool>,
}

pub(super) struct Verdicts {
    /// In the order of the findings; nothing where there was no test.
    pub(super) of_findings: Vec<Option<Verdict>>,
    pub(super) of_known: Vec<Verdict>,
    /// For each finding its test without the secrets in it, if it has some and proves the same
    /// without: a history must not hold them, and has to run the test again.
    pub(super) stand_ins: Vec<Option<String>>,
}

impl Verdicts {
    /// Every test that was to be run, with the file that it is about.
    pub(super) fn tried<'a>(
        &'a self,
        findings: &'a [AgentFinding],
        known: &'a [Known],
    ) -> Vec<(&'a str, &'a Verdict)> {
        let claimed = findings.iter().zip(&self.of_findings);
        let claimed = claimed.filter_map(|(it, verdict)| Some((&*it.file, verdict.as_ref()?)));
        let again = known.iter().zip(&self.of_known);
        let again = again.map(|(known, verdict)| (&*known.issue.file, verdict));
        claimed.chain(again).collect()
    }
}

impl Proving {
    pub(super) fn begin(
        options: &ReviewOptions<'_>,
        change: Option<&Change>,
        events: &(dyn Fn(Event<'_>) + Sync),
    ) -> Self {
        events(Event::Step("preparing a place for the tests"));
        let mut proof = ProofOptions::new(&options.repo, options.tests.sandbox.clone());
        proof.base = change.map(|change| change.merge_base.clone());
        proof.jobs = options.jobs;
        proof.reruns = options.config.proof.runs;
        proof.test_timeout = Duration::from_secs(options.config.proof.seconds);
        proof.required = options.config.proof.level;
        proof.environment = options.tests.environment.clone();
        proof.caches = options.tests.caches.clone();
        let stop = Arc::clone(&options.stop);
        proof.cancel = Arc::clone(&stop);
        let work = move || Workshop::prepare(proof, &|_| {});
        let workshop = thread::Builder::new().name("workshop".to_owned()).spawn(work).ok();
        Self { workshop, stop }
    }

    /// Ends the preparation and waits for its end, so that nothing of it outlives the review.
    pub(super) fn give_up(self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(workshop) = self.workshop {
            drop(workshop.join());
        }
    }

    pub(super) fn finish(
        self,
        findings: &[AgentFinding],
        known: &[Known],
        redactor: &Redactor,
        events: &(dyn Fn(Event<'_>) + Sync),
        page: &mut Page,
    ) -> Result<Verdicts, Failed> {
        let mut claims: Vec<Claim> = Vec::new();
        let mut titles: Vec<&str> = Vec::new();
        let mut places: Vec<Option<usize>> = Vec::new();
        for finding in findings {
            places.push(finding.test_code.as_ref().map(|code| {
                claims.push(claim(claims.len(), finding, code));
                titles.push(&finding.title);
                claims.len() - 1
            }));
        }
        let of_agent = claims.len();
        for Known { issue, .. } in known {
            claims.push(claim_again(claims.len(), issue));
            titles.push(&issue.title);
        }
        if self.stop.load(Ordering::SeqCst) {
            self.give_up();
            return Err(ProofError::Cancelled.into());
        }
        if claims.is_empty() {
            self.give_up();
            let of_findings = places.iter().map(|_| None).collect();
            let stand_ins = places.iter().map(|_| None).collect();
            return Ok(Verdicts { of_findings, of_known: Vec::new(), stand_ins });
        }
        let stop = Arc::clone(&self.stop);
        let Some(workshop) = self.workshop else {
            return Err(Failed::machine(&"no thread could be started"));
        };
        let workshop =
            workshop.join().map_err(|_| Failed::machine(&"preparing the tests panicked"))??;
        events(Event::Step("running the tests"));
        let (done, of) = (AtomicUsize::new(0), claims.len());
        let verdicts = workshop.prove_all(&claims, &|number, verdict| {
            let done = done.fetch_add(1, Ordering::SeqCst) + 1;
            let title = titles.get(number).copied().unwrap_or_default();
            events(Event::Proved { done, of, title, outcome: verdict.outcome.name() });
        });
        let stand_ins = stand_ins(&workshop, &claims, &verdicts, redactor);
        // Tests that were killed have shown nothing, and a score without them would be a lie.
        if stop.load(Ordering::SeqCst) {
            return Err(ProofError::Cancelled.into());
        }
        page.isolation.tests = workshop.isolation();
        page.notes.extend(workshop.notes().iter().cloned());
        let mut verdicts = verdicts.into_iter();
        let mut firsts: Vec<Option<Verdict>> = verdicts.by_ref().take(of_agent).map(Some).collect();
        let stand_ins =
            places.iter().map(|place| stand_ins.get((*place)?).cloned().flatten()).collect();
        let of_findings =
            places.into_iter().map(|place| firsts.get_mut(place?).and_then(Option::take)).collect();
        Ok(Verdicts { of_findings, of_known: verdicts.collect(), stand_ins })
    }
}

/// One for each claim whose proven test holds a secret.
fn stand_ins(
    workshop: &Workshop,
    claims: &[Claim],
    verdicts: &[Verdict],
    redactor: &Redactor,
) -> Vec<Option<String>> {
    let masked = |(claim, verdict): (&Claim, &Verdict)| {
        let wanted = verdict.proven && !redactor.is_clean(&claim.test_code);
        redactor.masked_code(&claim.test_code).filter(|_| wanted)
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
    let mut shown = workshop.prove_all(&again, &|_, _| {}).into_iter();
    let proven = |code: Option<String>| {
        let code = code?;
        shown.next().filter(|verdict| verdict.proven).map(|_| code)
    };
    codes.into_iter().map(proven).collect()
}

fn claim(number: usize, finding: &AgentFinding, code: &str) -> Claim {
    Claim {
        id: format!("{:03}", number + 1),
        file: finding.file.clone(),
        line: u32::try_from(finding.line).unwrap_or(u32::MAX),
        end_line: finding.end_line.map(|line| u32::try_from(line).unwrap_or(u32::MAX)),
        test_code: code.to_owned(),
        test_file: finding.test_file.clone(),
        test_name: finding.test_name.clone(),
        fix_patch: finding.fix_patch.clone(),
    }
}

fn claim_again(number: usize, issue: &ProvenIssue) -> Claim {
    let mut claim = claim(number, &super::compare::finding_of(issue), &issue.test_code);
    // Written for code that may have changed since, and not needed to see whether it still fails.
    claim.fix_patch = None;
    claim
}
