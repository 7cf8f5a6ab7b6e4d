//! What a person at a terminal sees while a review goes on.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use probity_review::Event;
use probity_text::visible;

/// Nothing where nobody watches.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn start(quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self { bar: None };
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar: Some(bar) }
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        let line = match event {
            Event::Step(step) => step.to_owned(),
            Event::Proved { done, of, title, outcome } => {
                let claims = if of == 1 { "claim" } else { "claims" };
                format!("{done} of {of} {claims}: {outcome}: {title}")
            }
        };
        let line = visible::line(&line).into_owned();
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => tracing::info!("{line}"),
        }
    }

    pub(super) fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
