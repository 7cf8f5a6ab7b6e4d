//! What a person at a terminal sees while a review goes on, and what a CI log keeps of it.

use std::{
    collections::BTreeMap,
    io::Write as _,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use probity_proof::{Activity, ClaimStep, Watch};
use probity_report::counts::plural;
use probity_review::{Event, ProvedClaim};
use probity_text::visible;

use crate::{screen::count::Count, streams};

/// A log says at least this often that something still runs.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// A line that changes at a terminal; elsewhere a line for each claim, and one each half minute.
pub(super) struct Progress {
    shared: Arc<Shared>,
    heartbeat: Option<JoinHandle<()>>,
}

struct Shared {
    screen: Watcher,
    state: Mutex<State>,
    /// Told when the review has ended.
    end: Condvar,
}

enum Watcher {
    Nobody,
    Terminal(Count),
    Log,
}

/// What is known of a review that goes on.
struct State {
    began: Instant,
    /// When a log got its last line.
    said: Instant,
    has_ended: bool,
    now: Now,
}

/// What runs now.
#[derive(Default)]
struct Now {
    step: String,
    /// Beside the step, before any test runs.
    preparing: String,
    /// By the number of the claim, as its id is.
    claims: BTreeMap<String, ClaimStep>,
    done: usize,
    of: usize,
}

impl Progress {
    pub(super) fn start(quiet: bool) -> Self {
        let screen = if quiet {
            Watcher::Nobody
        } else {
            let count = Count::steps();
            if count.is_watched() { Watcher::Terminal(count) } else { Watcher::Log }
        };
        let (began, now) = (Instant::now(), Now::default());
        let state = Mutex::new(State { began, said: began, has_ended: false, now });
        let shared = Arc::new(Shared { screen, state, end: Condvar::new() });
        let heartbeat = match &shared.screen {
            Watcher::Log => {
                let shared = Arc::clone(&shared);
                let beat = move || shared.beat();
                // Without it the log has fewer lines.
                thread::Builder::new().name("progress".to_owned()).spawn(beat).ok()
            }
            Watcher::Nobody | Watcher::Terminal(_) => None,
        };
        Self { shared, heartbeat }
    }

    /// Where the tests tell what they do.
    pub(super) fn watch(&self) -> Watch {
        let shared = Arc::clone(&self.shared);
        Watch::new(move |activity| shared.watch(activity))
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        self.shared.tell(event);
    }

    /// Takes the line off the terminal.
    pub(super) fn end(self) {
        drop(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.shared.end.notify_all();
        if let Some(heartbeat) = self.heartbeat.take() {
            drop(heartbeat.join());
        }
        if let Watcher::Terminal(count) = &self.shared.screen {
            count.hide();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event<'_>) {
        let mut state = self.state();
        let line = match event {
            Event::Step(step) => {
                step.clone_into(&mut state.now.step);
                step.to_owned()
            }
            Event::Proving { of } => {
                (state.now.done, state.now.of) = (0, of);
                format!("running the tests of {}", plural(of, "claim"))
            }
            Event::Proved { done, of, claim } => {
                (state.now.done, state.now.of) = (done, of);
                state.now.claims.remove(claim.id);
                in_a_line(done, of, &claim)
            }
        };
        let line = visible::line(&line);
        match (&self.screen, event) {
            (Watcher::Terminal(count), _) => count.say(&state.now.in_a_line()),
            (Watcher::Log, Event::Proved { .. }) => {
                state.said = Instant::now();
                // Nobody reads a log that cannot be written.
                drop(writeln!(streams::stderr().lock(), "{line}"));
            }
            (Watcher::Log | Watcher::Nobody, _) => tracing::info!("{line}"),
        }
    }

    fn watch(&self, activity: Activity<'_>) {
        let mut state = self.state();
        match activity {
            Activity::Preparing(step) => step.clone_into(&mut state.now.preparing),
            Activity::Claim { id, step } => {
                state.now.preparing.clear();
                state.now.claims.insert(id.to_owned(), step);
            }
        }
        if let Watcher::Terminal(count) = &self.screen {
            count.say(&state.now.in_a_line());
        }
    }

    /// Writes a line into a log that had none for a while, until the review ends.
    fn beat(&self) {
        let mut state = self.state();
        while !state.has_ended {
            let left = HEARTBEAT.saturating_sub(state.said.elapsed());
            if left.is_zero() {
                state.said = Instant::now();
                let (seconds, now) = (state.began.elapsed().as_secs(), state.now.in_a_line());
                let line = visible::line(&now).into_owned();
                let time = format!("{}:{:02}", seconds / 60, seconds % 60);
                drop(writeln!(streams::stderr().lock(), "running for {time}: {line}"));
                continue;
            }
            let waited = self.end.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Now {
    /// What runs, and how many claims are done.
    fn in_a_line(&self) -> String {
        let mut parts = Vec::new();
        if self.of > 0 {
            parts.push(format!("{} of {} claims done", self.done, self.of));
        }
        for (id, step) in &self.claims {
            let number = id.trim_start_matches('0');
            let step = match step {
                ClaimStep::Test => "its test".to_owned(),
                ClaimStep::Pair { number, of } => format!("pair {number} of {of}"),
                ClaimStep::ExistingTests => "existing tests".to_owned(),
            };
            parts.push(format!("claim {number}: {step}"));
        }
        if self.claims.is_empty() {
            let steps = [&self.step, &self.preparing].into_iter().filter(|step| !step.is_empty());
            parts.extend(steps.cloned());
        }
        parts.join("; ")
    }
}

fn in_a_line(done: usize, of: usize, claim: &ProvedClaim<'_>) -> String {
    let ProvedClaim { file, line, title, outcome, level, is_proven, .. } = claim;
    let claims = if of == 1 { "claim" } else { "claims" };
    let result = if *is_proven {
        format!("proven ({level})")
    } else {
        format!("not proven (test {outcome}, {level})")
    };
    format!("{done} of {of} {claims}: {file}:{line}: {title}: {result}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_runs_and_how_much_is_left() {
        let mut now = Now { step: "asking claude".to_owned(), ..Now::default() };
        assert_eq!(now.in_a_line(), "asking claude");
        now.preparing = "copying the repository".to_owned();
        assert_eq!(now.in_a_line(), "asking claude; copying the repository");
        now.claims.insert("003".to_owned(), ClaimStep::Pair { number: 2, of: 5 });
        now.claims.insert("004".to_owned(), ClaimStep::ExistingTests);
        (now.done, now.of) = (2, 12);
        assert_eq!(
            now.in_a_line(),
            "2 of 12 claims done; claim 3: pair 2 of 5; claim 4: existing tests"
        );
    }

    #[test]
    fn a_claim_that_is_done_runs_no_more() {
        let progress = Progress::start(true);
        let watch = progress.watch();
        let step = ClaimStep::Test;
        watch.tell(Activity::Claim { id: "001", step });
        watch.tell(Activity::Claim { id: "002", step });
        let claim = ProvedClaim {
            id: "001",
            file: "a.go",
            line: 1,
            title: "wrong",
            outcome: "failed",
            level: "P3",
            is_proven: true,
        };
        progress.tell(Event::Proved { done: 1, of: 2, claim });
        let now = progress.shared.state().now.in_a_line();
        assert_eq!(now, "1 of 2 claims done; claim 2: its test");
        progress.end();
    }
}
