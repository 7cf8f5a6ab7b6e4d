//! Runs of one test on two versions of the code, in turn, until chance is ruled out.
//!
//! In turn, because a machine that slows down, a clock that moves on or a file that fills up would
//! otherwise meet one version alone.

use std::time::Duration;

use super::staged::{Observed, Staged};
use crate::{Outcome, ProofOptions, Run, Why, runner::Trial};

/// Code that a test can be run on, each time as if it were the first.
pub(super) trait Runs {
    fn run(&self) -> Observed;
}

impl Runs for Staged<'_> {
    fn run(&self) -> Observed {
        Staged::run(self)
    }
}

/// What both versions did.
#[derive(Debug)]
pub(super) enum Compared {
    /// The original fails in every run, and the other version passes in every run.
    Flips {
        pairs: u32,
    },
    /// The other version does not pass.
    DoesNotFlip(Outcome),
    /// It passes, but not in a tenth of the time that the original hangs.
    Slow,
    /// One of the versions does now this and now that.
    OtherIsFlaky,
    OriginalIsFlaky(Why),
    /// The test writes over the code.
    WroteCode(String),
    /// The test reads this file, and ends otherwise if there is another comment in it.
    ReadCode(String),
}

/// The runs of the original so far.
#[derive(Debug, Default)]
pub(super) struct Originals {
    pub(super) runs: Vec<Run>,
    messages: Vec<String>,
}

impl Originals {
    pub(super) fn add(&mut self, trial: &Trial) {
        self.runs.push(Run { outcome: trial.outcome, duration: trial.duration });
        self.messages.push(comparable(&trial.message));
    }

    fn number(&self) -> u32 {
        u32::try_from(self.runs.len()).unwrap_or(u32::MAX)
    }

    /// Whether the runs differ in what they say or how long they take, as those of a test do that
    /// will pass one day.
    fn is_doubtful(&self) -> bool {
        let durations = || self.runs.iter().map(|run| run.duration);
        let (Some(least), Some(most)) = (durations().min(), durations().max()) else {
            return false;
        };
        let varies = most > least * 3 && most - least > Duration::from_millis(500);
        varies || self.messages.windows(2).any(|pair| pair.first() != pair.last())
    }

    /// Runs the original once more, and fails if it ends differently from the first run.
    pub(super) fn run_again(&mut self, original: &dyn Runs) -> Result<Trial, Compared> {
        let Observed { trial, wrote_code } = original.run();
        self.add(&trial);
        if let Some(path) = wrote_code {
            return Err(Compared::WroteCode(path.display().to_string()));
        }
        match self.runs.first() {
            Some(first) if first.outcome != trial.outcome => {
                let why = Why::Changed { run: self.number(), then: trial.outcome };
                Err(Compared::OriginalIsFlaky(why))
            }
            _ => Ok(trial),
        }
    }
}

/// Pairs of runs of two versions, one after the other. The original was run once, and failed.
pub(super) struct Pairs<'a> {
    options: &'a ProofOptions,
    original: &'a dyn Runs,
    other: &'a dyn Runs,
    hangs: bool,
    /// So many are wanted.
    least: u32,
    done: u32,
}

impl<'a> Pairs<'a> {
    /// Those that show whether it is worth it to look at more than the test.
    pub(super) const FIRST: u32 = 2;

    /// One of several others that are tried one after the other has `more` pairs to go, since any of
    /// them may pass by chance.
    pub(super) fn new(
        options: &'a ProofOptions,
        original: &'a dyn Runs,
        other: &'a dyn Runs,
        originals: &Originals,
        more: u32,
    ) -> Self {
        let hangs = originals.runs.first().is_some_and(|run| run.outcome == Outcome::Timeout);
        // Nobody runs into the limit by chance, and each time costs all of it.
        let wanted = if hangs { ProofOptions::LEAST_PAIRS } else { options.pairs + more };
        let least = wanted.clamp(ProofOptions::LEAST_PAIRS, ProofOptions::MOST_PAIRS);
        Self { options, original, other, hangs, least, done: 0 }
    }

    /// Runs the first pairs. The error is what they have decided already.
    pub(super) fn begin(&mut self, originals: &mut Originals) -> Result<u32, Compared> {
        while self.done < Self::FIRST {
            self.run_pair(originals)?;
        }
        Ok(self.done)
    }

    /// Runs as many as it takes.
    pub(super) fn finish(mut self, originals: &mut Originals) -> Compared {
        loop {
            let enough = self.done >= self.least && self.done >= originals.number();
            let doubtful =
                !self.hangs && originals.is_doubtful() && self.done < ProofOptions::MOST_PAIRS;
            if enough && !doubtful {
                return Compared::Flips { pairs: self.done };
            }
            if let Err(end) = self.run_pair(originals) {
                return end;
            }
        }
    }

    fn run_pair(&mut self, originals: &mut Originals) -> Result<(), Compared> {
        if self.done >= originals.number() {
            originals.run_again(self.original)?;
        }
        let Observed { trial, wrote_code } = self.other.run();
        if let Some(path) = wrote_code {
            return Err(Compared::WroteCode(path.display().to_string()));
        }
        match trial.outcome {
            Outcome::Passed if self.hangs && trial.duration > self.options.test_timeout / 10 => {
                return Err(Compared::Slow);
            }
            Outcome::Passed => {}
            outcome if self.done == 0 => return Err(Compared::DoesNotFlip(outcome)),
            _ => return Err(Compared::OtherIsFlaky),
        }
        self.done += 1;
        Ok(())
    }
}

/// Compares two versions with as many pairs as it takes.
pub(super) fn compare(
    options: &ProofOptions,
    original: &dyn Runs,
    other: &dyn Runs,
    originals: &mut Originals,
    more: u32,
) -> Compared {
    Pairs::new(options, original, other, originals, more).finish(originals)
}

/// A message without what differs between any two runs: times, addresses and paths of scratch.
fn comparable(message: &str) -> String {
    let mut plain = String::with_capacity(message.len());
    for word in message.split_inclusive(char::is_whitespace) {
        let bare = word.trim_matches(|end: char| !end.is_alphanumeric());
        let is_time = ["s", "ms", "µs", "ns"].iter().any(|unit| {
            let number = bare.strip_suffix(unit).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        });
        // Of a size that only addresses, hashes and identities have.
        let is_identity = bare.split(|part: char| !part.is_ascii_hexdigit()).any(|part| {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            part.len() >= 8 && digits > 0 && digits < part.len()
        });
        if bare.contains("0x") || bare.contains("/tmp/") || is_time || is_identity {
            plain.push_str("? ");
        } else {
            plain.push_str(word);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use std::cell::Cell;

    use super::{Compared, Observed, Originals, Runs, comparable, compare};
    use crate::{
        Outcome, ProofOptions, RunDetail,
        experiment::altered::{MORE_PAIRS, MOST},
        runner::Trial,
    };

    /// A test that passes so often of a hundred times, whatever the code is.
    struct Coin {
        state: Cell<u64>,
        passes: u64,
    }

    impl Runs for Coin {
        fn run(&self) -> Observed {
            // A step of splitmix64.
            self.state.set(self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
            let mut mixed = self.state.get();
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let passes = (mixed ^ (mixed >> 31)) % 100 < self.passes;
            let detail = if passes { RunDetail::Passed } else { RunDetail::Crashed };
            Observed { trial: Trial::new(detail), wrote_code: None }
        }
    }

    impl Coin {
        /// Whether one of so many other versions seems to make a difference.
        fn proves(&self, others: usize, more: u32) -> bool {
            let first = self.run().trial;
            let mut originals = Originals::default();
            originals.add(&first);
            if first.outcome == Outcome::Passed {
                return false;
            }
            let options = ProofOptions::new("", probity_sandbox::Backend::None);
            for _ in 0..others {
                match compare(&options, self, self, &mut originals, more) {
                    Compared::Flips { .. } => return true,
                    Compared::DoesNotFlip(_) | Compared::OtherIsFlaky => {}
                    _ => return false,
                }
            }
            false
        }
    }

    #[test]
    fn of_a_thousand_coins_at_most_five_are_proven() {
        for passes in [20, 50, 80] {
            for (others, more) in [(1, 0), (MOST, MORE_PAIRS)] {
                let coin = Coin { state: Cell::new(passes), passes };
                let proven = (0..1000).filter(|_| coin.proves(others, more)).count();
                assert!(proven <= 5, "{proven} of 1000 that pass {passes} times of a hundred");
            }
        }
        let sure = Coin { state: Cell::new(0), passes: 0 };
        assert!(!sure.proves(1, 0));
    }

    fn originals(runs: &[(&str, u64)]) -> Originals {
        let mut originals = Originals::default();
        for (message, milliseconds) in runs {
            let mut trial = Trial::new(RunDetail::Crashed);
            trial.message = (*message).to_owned();
            trial.duration = Duration::from_millis(*milliseconds);
            originals.add(&trial);
        }
        originals
    }

    #[test]
    fn what_differs_from_run_to_run_is_doubtful() {
        for (runs, doubtful) in [
            (&[("got 3, want 4", 10), ("got 3, want 4", 14)][..], false),
            (&[("got 3, want 4", 10), ("got 2, want 4", 14)], true),
            (&[("at 0x1f in 0.01s", 10), ("at 0x2e in 0.02s", 14)], false),
            (&[("slow", 10), ("slow", 900)], true),
            (&[("slow", 10), ("slow", 300)], false),
            (&[("slow", 2000), ("slow", 3000)], false),
            (&[], false),
        ] {
            assert_eq!(originals(runs).is_doubtful(), doubtful, "{runs:?}");
        }
        for (message, expected) in [
            ("took 12ms at <0xff>.", "took ? at ? "),
            ("<Template memory:7fd43c7fad50>", "<Template ? "),
            ("feedface 123456789", "feedface 123456789"),
        ] {
            assert_eq!(comparable(message), expected);
        }
    }
}
