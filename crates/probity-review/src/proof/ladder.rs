//! The way of one claim: place, build, run, run again, reach, flip; and what all of it shows.

use std::{path::Path, sync::Arc};

use super::{
    Claim, Control, Level, Outcome, ProofOptions, Reach, Run, Verdict,
    alter::{Noise, PASSES},
    copies::{Copies, Lent},
    intact::Intact,
    lack, patch, placement,
    runner::{Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site},
    untrusted,
};

/// What a claim is tried with.
pub(super) struct Ladder<'a> {
    pub(super) options: &'a ProofOptions,
    pub(super) bench: &'a Bench,
    pub(super) runner: &'a dyn Runner,
    pub(super) head: &'a Copies,
    pub(super) base: Option<&'a Copies>,
}

impl Ladder<'_> {
    /// Fills in a verdict. `directory` is this claim's own and empty.
    pub(super) fn climb(&self, claim: &Claim, directory: &Path, verdict: &mut Verdict) {
        let mut ready = match self.place(self.head, &directory.join("head"), claim, Before::Nothing)
        {
            Ok(ready) => ready,
            Err(refusal) => return verdict.end(refusal.outcome, refusal.reason),
        };
        verdict.test_path.clone_from(&ready.placed.path);
        verdict.test_name.clone_from(&ready.placed.name);
        verdict.test_source.clone_from(&ready.placed.source);
        ready.placed.armed = self.runner.arm(&ready.site, &ready.placed);
        let Ready { site, placed, .. } = &ready;
        let built = match self.runner.build(self.bench, site, placed) {
            Ok(built) => built,
            Err(trial) => return verdict.record(*trial),
        };
        let intact = Intact::of(&site.repo, &self.head.tree, &placed.flagged.file);
        let first = self.runner.run(self.bench, site, placed, &built);
        verdict.record(first.clone());
        if let Some(why) = intact.broken() {
            return verdict.end(Outcome::Rejected, why);
        }
        if !matches!(first.outcome, Outcome::Failed | Outcome::Passed) {
            return;
        }
        let Some(last) = self.run_again(site, placed, &built, first, &intact, verdict) else {
            return;
        };
        if last.outcome == Outcome::Passed {
            return;
        }
        verdict.level = Level::Fails;
        verdict.reach = self.runner.reach(self.bench, site, placed, &built, &last);
        let elsewhere = verdict.reach == Reach::NotReached && lack::starts_process(&placed.source);
        if elsewhere {
            let why = "the test starts another process, which may have run it";
            verdict.reach = Reach::Unmeasured(why.to_owned());
        }
        let reached = verdict.reach != Reach::NotReached;
        // What passes with a fix is neither constant nor apart from the code, whatever it looks like.
        if claim.fix_patch.is_some() || (reached && last.constant.is_none()) {
            self.flip(claim, directory, verdict);
        }
        let mended = verdict.fix_flips == Some(true);
        if let Some(statement) = last.constant.as_ref().filter(|_| reached && !mended) {
            verdict.level = Level::Fails;
            verdict.reason = format!("The test fails whatever the code does: `{statement}`.");
            return;
        }
        if matches!(verdict.reach, Reach::Reached { .. }) && verdict.level < Level::Stable {
            verdict.level = Level::Stable;
        }
        // Nobody runs what is only declared, which is at fault all the same if a fix of it helps.
        if !reached && !mended {
            let file = &placed.flagged.file;
            verdict.level = Level::Fails;
            verdict.reason = format!(
                "The test fails, but runs no code of {file}, so it shows nothing about it."
            );
            return self.excuse(site, placed, verdict, &last);
        }
        if let Some(why) = last.own.as_ref().filter(|_| verdict.level != Level::Flips) {
            verdict.level = Level::Claimed;
            return verdict.end(Outcome::HarnessError, why.as_str());
        }
        verdict.control = if verdict.level == Level::Flips {
            Control::Depends("it passes with other code".to_owned())
        } else if last.of_code {
            Control::Depends("the failure comes out of the code itself".to_owned())
        } else {
            self.runner.control(self.bench, site, placed, &built, &last)
        };
        let shows_nothing = match &verdict.control {
            Control::Constant(names) => {
                Some(format!("The test fails in the same way whatever {names} returns"))
            }
            Control::Moving(names) => Some(format!(
                "The test wants something else as soon as {names} returns what it wants"
            )),
            Control::Unlike => {
                Some("The test does something else as soon as it is watched".to_owned())
            }
            _ => None,
        };
        if let Some(why) = shows_nothing {
            verdict.level = Level::Fails;
            verdict.reason = format!("{why}, so it shows nothing about it.");
            return self.excuse(site, placed, verdict, &last);
        }
        self.conclude(verdict, &last);
        // That a failure of the network changes with the code shows nothing; that it goes away does.
        let passes = verdict.level == Level::Flips
            || matches!(&verdict.control, Control::Depends(how) if how.starts_with(PASSES));
        let offline = !passes && lack::is_of_network(&last.mark.text(), &last.output);
        if offline || !matches!(verdict.control, Control::Depends(_)) {
            self.excuse(site, placed, verdict, &last);
            if elsewhere && verdict.proven {
                verdict.proven = false;
                verdict.reason.push_str(" Code that is run elsewhere proves nothing by itself.");
            }
        }
    }

    /// What does not rest on the code may have a reason of its own, which is a better one to give.
    fn excuse(&self, site: &Site, placed: &Placed, verdict: &mut Verdict, last: &Trial) {
        let complaint = last.mark.text();
        // Node tells the cause in the output alone.
        let told = match complaint.is_empty() || complaint.contains("fetch failed") {
            true => last.output.clone(),
            false => complaint,
        };
        let offline = lack::is_of_network(&told, &last.output);
        let lack = || {
            if offline {
                return Some("there is no network".to_owned());
            }
            let code = untrusted::read(&site.repo, &placed.flagged.file).unwrap_or_default();
            lack::of_machine(&told).or_else(|| lack::of_test(&told, &placed.source, &code))
        };
        let why = last
            .doubt
            .clone()
            .or_else(|| lack().map(|lack| format!("the test needs what is not here: {lack}")));
        if let Some(why) = why {
            verdict.level = Level::Claimed;
            verdict.proven = false;
            verdict.end(Outcome::HarnessError, why);
        }
    }

    /// The same test, until it behaves differently or has done the same often enough. One that
    /// passes is run at least twice: chance must not clear a finding any more than prove it.
    fn run_again(
        &self,
        site: &Site,
        placed: &Placed,
        built: &Built,
        first: Trial,
        intact: &Intact,
        verdict: &mut Verdict,
    ) -> Option<Trial> {
        let mut last = first;
        let (expected, did) = match last.outcome {
            Outcome::Passed => (Outcome::Passed, "passed"),
            _ => (Outcome::Failed, "failed"),
        };
        let least = if expected == Outcome::Passed { 2 } else { 1 };
        for number in 2..=self.options.reruns.max(least) {
            let again = self.runner.run(self.bench, site, placed, built);
            let outcome = again.outcome;
            verdict.runs.push(run_of(&again));
            if let Some(why) = intact.broken() {
                verdict.end(Outcome::Rejected, why);
                return None;
            }
            if outcome != expected {
                let ordinal = ordinal(number);
                let reason =
                    format!("The test {did} and on its {ordinal} run it did not: {outcome}.");
                verdict.end(Outcome::Flaky, reason);
                return None;
            }
            let noise = last.noise.max(Noise::between(&last.mark, &again.mark));
            last = Trial { noise, ..again };
        }
        Some(last)
    }

    fn flip(&self, claim: &Claim, directory: &Path, verdict: &mut Verdict) {
        if let Some(base) = self.base {
            let tried = self.try_once(base, &directory.join("base"), claim, Before::Nothing);
            verdict.introduced = match tried.map(|trial| trial.outcome) {
                Ok(Outcome::Passed) => Some(true),
                Ok(Outcome::Failed) => Some(false),
                // An interface that is new, a file that was not there: nothing to compare with.
                _ => None,
            };
        }
        if let Some(fix) = &claim.fix_patch {
            let fix = Before::Fix(fix);
            let tried = self.try_once(self.head, &directory.join("fixed"), claim, fix);
            verdict.fix_flips = tried.ok().map(|trial| trial.outcome == Outcome::Passed);
        }
        if verdict.introduced == Some(true) || verdict.fix_flips == Some(true) {
            verdict.level = Level::Flips;
        }
    }

    fn conclude(&self, verdict: &mut Verdict, last: &Trial) {
        let runs = verdict.runs.len();
        let why = &last.why;
        let mut reason = format!("The test fails on every one of {runs} runs: {why}");
        match &verdict.reach {
            Reach::Reached { by, lines } => {
                let what = if *lines { "the flagged lines" } else { "the flagged file" };
                reason.push_str(&format!("; it runs {what} ({})", by.name()));
            }
            Reach::Unmeasured(why) => {
                reason
                    .push_str(&format!("; whether it runs the flagged file is not known ({why})"));
            }
            Reach::NotReached => reason.push_str("; it runs no function of the flagged file"),
        }
        match &verdict.control {
            Control::Depends(how) if verdict.level != Level::Flips => {
                reason.push_str(&format!("; {how}"));
            }
            Control::Unavailable(why) => reason.push_str(&format!(
                "; whether it fails whatever the code does is not known ({why})"
            )),
            _ => {}
        }
        match verdict.introduced {
            Some(true) => reason.push_str("; it passes at the merge base"),
            Some(false) => reason.push_str("; it fails at the merge base as well"),
            None => {}
        }
        match verdict.fix_flips {
            Some(true) => reason.push_str("; it passes with the fix of the claim"),
            Some(false) => reason.push_str("; the fix of the claim does not mend it"),
            None => {}
        }
        let measured = !matches!(verdict.reach, Reach::Unmeasured(_));
        let enough = verdict.level >= self.options.required
            || (self.options.required == Level::Stable && !measured);
        verdict.proven = enough;
        if !enough {
            let (level, required) = (verdict.level, self.options.required);
            reason.push_str(&format!("; that is {level}, and {required} is asked for"));
        }
        reason.push('.');
        verdict.reason = reason;
    }

    /// The test in another copy, once.
    fn try_once(
        &self,
        from: &Copies,
        directory: &Path,
        claim: &Claim,
        before: Before<'_>,
    ) -> Result<Trial, Refusal> {
        let Ready { site, placed, .. } = &self.place(from, directory, claim, before)?;
        match self.runner.build(self.bench, site, placed) {
            Ok(built) => Ok(self.runner.run(self.bench, site, placed, &built)),
            Err(trial) => Ok(*trial),
        }
    }

    /// Makes a copy and puts the test there.
    fn place<'copy>(
        &self,
        copies: &'copy Copies,
        directory: &Path,
        claim: &Claim,
        before: Before<'_>,
    ) -> Result<Ready<'copy>, Refusal> {
        let broken = |why: String| Refusal { outcome: Outcome::HarnessError, reason: why };
        // On the pristine copy, since a claim that is refused needs none of its own.
        let mut site = self.bench.site(directory).map_err(broken)?;
        site.repo.clone_from(&copies.root);
        let flagged: Flagged = placement::flagged(&site, claim)?;
        let placed = self.runner.place(&site, claim, &flagged)?;
        let lent = copies.lend().map_err(|error| broken(error.to_string()))?;
        site.repo.clone_from(&lent.repo);
        site.written = Arc::clone(&lent.written);
        if !self.bench.contained() {
            site.seen_repo.clone_from(&site.repo);
        }
        if let Before::Fix(fix) = before {
            patch::apply(&site, fix, &flagged.file)
                .map_err(|why| Refusal::rejected(format!("the fix does not apply: {why}")))?;
        }
        site.write(&placed.path, &placed.source).map_err(broken)?;
        if let Some((path, text)) = &placed.added {
            let old = std::fs::read_to_string(site.repo.join(path));
            let old = old.map_err(|error| broken(format!("{path}: {error}")))?;
            site.write(path, &format!("{old}{text}")).map_err(broken)?;
        }
        Ok(Ready { site, placed, _lent: lent })
    }
}

struct Ready<'a> {
    site: Site,
    placed: Placed,
    _lent: Lent<'a>,
}

/// What happens to a copy before the test is put there.
enum Before<'a> {
    Nothing,
    Fix(&'a str),
}

impl Verdict {
    pub(super) fn end(&mut self, outcome: Outcome, reason: impl Into<String>) {
        self.outcome = outcome;
        self.reason = sentence(&reason.into());
    }

    /// Takes over what the run that decides has shown.
    fn record(&mut self, trial: Trial) {
        self.runs.push(run_of(&trial));
        self.output.clone_from(&trial.output);
        self.end(trial.outcome, trial.why);
    }
}

fn run_of(trial: &Trial) -> Run {
    Run { outcome: trial.outcome, duration: trial.duration, output: trial.output.clone() }
}

fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let mut sentence: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    sentence.extend(characters);
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

fn ordinal(number: u32) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        other => format!("{other}th"),
    }
}
