//! What a person at a terminal sees while a review goes on, and what a CI log keeps of it.

use std::io::Write as _;

use probity_review::{Event, ProvedClaim};
use probity_text::visible;

use crate::{screen::count::Count, streams};

/// A line that changes at a terminal; elsewhere one line for each claim.
pub(super) enum Progress {
    Quiet,
    Terminal(Count),
    Log,
}

impl Progress {
    pub(super) fn start(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        let count = Count::steps();
        if count.is_watched() { Self::Terminal(count) } else { Self::Log }
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        let line = match event {
            Event::Step(step) => step.to_owned(),
            Event::Proved { done, of, claim } => in_a_line(done, of, &claim),
        };
        let line = visible::line(&line);
        match (self, event) {
            (Self::Terminal(count), _) => count.say(&line),
            (Self::Log, Event::Proved { .. }) => {
                // Nobody reads a log that cannot be written.
                drop(writeln!(streams::stderr().lock(), "{line}"));
            }
            (Self::Log | Self::Quiet, _) => tracing::info!("{line}"),
        }
    }

    /// Takes the line off the terminal.
    pub(super) fn end(self) {
        drop(self);
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
