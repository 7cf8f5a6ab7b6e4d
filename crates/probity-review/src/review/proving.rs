//! Running the tests: prepared while the agent thinks, run when it has spoken.
//!
//! A claim whose test fails and whose fix does not prove it goes back to the agent. Only what was
//! never offered a fix is tried with other return values.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use probity_proof::{
    Base, Change, Claim, FixFault, FixResult, ProofError, ProofOptions, Verdict, WithoutFix,
    Workshop,
};

use super::{Event, Failed, Page, ReviewOptions, compare::Known, conversation::Conversation};
use crate::{
    findings::AgentFinding, output::ProvenIssue, prompt::FixRequest, redact::Redactor, wording,
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
        let claimed =
            claimed.filter_map(|(finding, verdict)| Some((&*finding.file, verdict.as_ref()?)));
        let again = known.iter().zip(&self.of_known);
        let again = again.map(|(known, verdict)| (&*known.issue.file, verdict));
        claimed.chain(again).collect()
    }
}

impl Proving {
    pub(super) fn begin(
        options: &ReviewOptions<'_>,
        change: Option<&Change>,
        files: &[String],
        events: &(dyn Fn(Event<'_>) + Sync),
    ) -> Self {
        events(Event::Step("preparing a place for the tests"));
        let mut proof = ProofOptions::new(&options.repo, options.tests.sandbox.clone());
        proof.base = change.map(|change| Base {
            commit: change.merge_base.clone(),
            added: change.files.iter().map(|it| (it.path.clone(), it.added.clone())).collect(),
        });
        proof.reviewed = Some(files.iter().cloned().collect());
        proof.runners.clone_from(&options.runners);
        proof.jobs = options.jobs;
        proof.pairs = options.config.proof.pairs;
        proof.test_timeout = Duration::from_secs(options.config.proof.seconds);
        proof.suite_timeout = options.suite_timeout;
        proof.proof_timeout = options.proof_timeout;
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

    /// Proves what can be proven. The fixes that the agent offers on the way are put into the
    /// findings.
    pub(super) fn finish(
        self,
        findings: &mut [AgentFinding],
        known: &[Known],
        redactor: &Redactor,
        conversation: &mut Conversation<'_>,
        events: &(dyn Fn(Event<'_>) + Sync),
        page: &mut Page,
    ) -> Result<Verdicts, Failed> {
        let max_fix_rounds = conversation.options.max_fix_rounds;
        let mut trials = Trials::of(findings, known);
        if self.stop.load(Ordering::SeqCst) {
            self.give_up();
            return Err(ProofError::Cancelled.into());
        }
        if trials.claims.is_empty() {
            self.give_up();
            return Ok(trials.verdicts(Vec::new()));
        }
        let stop = Arc::clone(&self.stop);
        let Some(workshop) = self.workshop else {
            return Err(Failed::machine(&"no thread could be started"));
        };
        let workshop =
            workshop.join().map_err(|_| Failed::machine(&"preparing the tests panicked"))??;
        events(Event::Step("running the tests"));
        let all: Vec<usize> = (0..trials.claims.len()).collect();
        let without_fix = if max_fix_rounds > 0 { WithoutFix::Leave } else { WithoutFix::Alter };
        trials.prove(&workshop, &all, without_fix, events);
        for _ in 0..max_fix_rounds {
            if stop.load(Ordering::SeqCst) || !trials.ask_for_fixes(&workshop, conversation, events)
            {
                break;
            }
        }
        if max_fix_rounds > 0 {
            let unfixed = trials.without_any_fix();
            trials.prove(&workshop, &unfixed, WithoutFix::Alter, events);
        }
        let stand_ins = trials.stand_ins(&workshop, redactor);
        // Tests that were killed have shown nothing, and a score without them would be a lie.
        if stop.load(Ordering::SeqCst) {
            return Err(ProofError::Cancelled.into());
        }
        page.isolation.tests = wording::isolation(workshop.is_sandboxed()).to_owned();
        page.notes.extend(workshop.notes().iter().map(wording::prepare_note));
        for (finding, place) in findings.iter_mut().zip(&trials.places) {
            let claim = place.and_then(|place| trials.claims.get(place));
            if let Some(claim) = claim {
                finding.fix_patch.clone_from(&claim.fix_patch);
            }
        }
        Ok(trials.verdicts(stand_ins))
    }
}

/// All claims of a review, and what is known of each so far.
struct Trials {
    /// Those of the agent first, then the known ones.
    claims: Vec<Claim>,
    titles: Vec<String>,
    verdicts: Vec<Option<Verdict>>,
    /// For each finding its claim, if it has a test.
    places: Vec<Option<usize>>,
    of_agent: usize,
}

impl Trials {
    fn of(findings: &[AgentFinding], known: &[Known]) -> Self {
        let (mut claims, mut titles, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for finding in findings {
            places.push(finding.test_code.as_ref().map(|code| {
                claims.push(claim(claims.len(), finding, code));
                titles.push(finding.title.clone());
                claims.len() - 1
            }));
        }
        let of_agent = claims.len();
        for Known { issue, .. } in known {
            claims.push(claim_again(claims.len(), issue));
            titles.push(issue.title.clone());
        }
        let verdicts = vec![None; claims.len()];
        Self { claims, titles, verdicts, places, of_agent }
    }

    /// Tries these claims, and keeps what is shown.
    fn prove(
        &mut self,
        workshop: &Workshop,
        numbers: &[usize],
        without_fix: WithoutFix,
        events: &(dyn Fn(Event<'_>) + Sync),
    ) {
        let chosen: Vec<(usize, Claim)> = numbers
            .iter()
            .filter_map(|number| Some((*number, self.claims.get(*number)?.clone())))
            .collect();
        let claims: Vec<Claim> = chosen.iter().map(|(_, claim)| claim.clone()).collect();
        let (done, of) = (AtomicUsize::new(0), claims.len());
        let verdicts = workshop.prove_all(&claims, without_fix, &|place, verdict| {
            let done = done.fetch_add(1, Ordering::SeqCst) + 1;
            let title = chosen.get(place).and_then(|(number, _)| self.titles.get(*number));
            let title = title.map_or("", String::as_str);
            events(Event::Proved { done, of, title, outcome: verdict.outcome.name() });
        });
        for ((number, _), verdict) in chosen.iter().zip(verdicts) {
            let claim = self.claims.get_mut(*number);
            let Some((claim, place)) = claim.zip(self.verdicts.get_mut(*number)) else { continue };
            // Of several fixes it is the one that proves.
            if verdict.fix_patch.is_some() {
                claim.fix_patch.clone_from(&verdict.fix_patch);
            }
            *place = Some(verdict);
        }
    }

    /// Asks for fixes of what fails and is not proven, and tries them. False if nothing was offered.
    fn ask_for_fixes(
        &mut self,
        workshop: &Workshop,
        conversation: &mut Conversation<'_>,
        events: &(dyn Fn(Event<'_>) + Sync),
    ) -> bool {
        let all = self.claims.iter().zip(&self.verdicts).zip(&self.titles).take(self.of_agent);
        let requests: Vec<FixRequest<'_>> = all
            .filter_map(|((claim, verdict), title)| {
                let verdict = verdict.as_ref().filter(|verdict| verdict.wants_fix())?;
                let reason = wording::reason(verdict);
                Some(FixRequest { claim, title, reason, output: &verdict.output })
            })
            .collect();
        if requests.is_empty() {
            return false;
        }
        let offered = conversation.fixes(&requests, events);
        let mut changed = Vec::new();
        for fix in offered {
            let number = self.claims.iter().take(self.of_agent).position(|it| it.id == fix.id);
            let Some((number, claim)) =
                number.and_then(|number| Some((number, self.claims.get_mut(number)?)))
            else {
                continue;
            };
            if claim.fix_patch.as_ref() != Some(&fix.fix_patch) && !fix.fix_patch.trim().is_empty()
            {
                claim.fix_patch = Some(fix.fix_patch);
                claim.other_fixes.clear();
                changed.push(number);
            }
        }
        self.prove(workshop, &changed, WithoutFix::Leave, events);
        !changed.is_empty()
    }

    /// Claims that fail and were offered no fix, and known ones whose fix no longer applies.
    fn without_any_fix(&mut self) -> Vec<usize> {
        let mut found = Vec::new();
        for (number, (claim, verdict)) in self.claims.iter_mut().zip(&self.verdicts).enumerate() {
            let Some(verdict) = verdict.as_ref().filter(|verdict| verdict.wants_fix()) else {
                continue;
            };
            let is_cheat = matches!(verdict.fix, FixResult::Refused(FixFault::Cheats(_)));
            let is_refused = matches!(verdict.fix, FixResult::Refused(_));
            let is_outdated = number >= self.of_agent && is_refused && !is_cheat;
            if is_outdated {
                claim.fix_patch = None;
            }
            if claim.fix_patch.is_none() {
                found.push(number);
            }
        }
        found
    }

    /// One for each claim whose proven test holds a secret.
    fn stand_ins(&self, workshop: &Workshop, redactor: &Redactor) -> Vec<Option<String>> {
        let masked = |(claim, verdict): (&Claim, &Option<Verdict>)| {
            let is_proven = verdict.as_ref().is_some_and(|verdict| verdict.proven);
            if !is_proven || redactor.is_clean(&claim.test_code) {
                return None;
            }
            redactor.masked_code(&claim.test_code)
        };
        let codes: Vec<Option<String>> =
            self.claims.iter().zip(&self.verdicts).map(masked).collect();
        let again: Vec<Claim> = self
            .claims
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

    fn verdicts(mut self, stand_ins: Vec<Option<String>>) -> Verdicts {
        let of_known = self.verdicts.split_off(self.of_agent.min(self.verdicts.len()));
        let stand_ins = self.places.iter().map(|place| stand_ins.get((*place)?).cloned().flatten());
        let stand_ins = stand_ins.collect();
        let mut firsts = self.verdicts;
        let of_findings = self
            .places
            .into_iter()
            .map(|place| firsts.get_mut(place?).and_then(Option::take))
            .collect();
        Verdicts { of_findings, of_known: of_known.into_iter().flatten().collect(), stand_ins }
    }
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
        fix_patch: finding.fix_patch.clone().filter(|patch| !patch.trim().is_empty()),
        other_fixes: finding.other_fixes.clone(),
    }
}

fn claim_again(number: usize, issue: &ProvenIssue) -> Claim {
    claim(number, &super::compare::finding_of(issue), &issue.test_code)
}
