//! What a person at a terminal sees while a review goes on, and what a CI log keeps of it.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use probity_review::{Event, ProvedClaim};
use probity_text::visible;

/// A line that changes at a terminal; elsewhere one line for each claim.
pub(super) enum Progress {
    Quiet,
    Terminal(ProgressBar),
    Log,
}

impl Progress {
    pub(super) fn start(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !io::stderr().is_terminal() {
            return Self::Log;
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self::Terminal(bar)
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        let line = match event {
            Event::Step(step) => step.to_owned(),
            Event::Proved { done, of, claim } => in_a_line(done, of, &claim),
        };
        let line = visible::line(&line);
        match (self, event) {
            (Self::Terminal(bar), _) => bar.set_message(line.into_owned()),
            (Self::Log, Event::Proved { .. }) => {
                // Nobody reads a log that cannot be written.
                drop(writeln!(io::stderr().lock(), "{line}"));
            }
            (Self::Log | Self::Quiet, _) => tracing::info!("{line}"),
        }
    }

    pub(super) fn end(self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
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
