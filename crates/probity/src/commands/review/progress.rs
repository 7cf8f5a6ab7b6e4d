//! What a person at a terminal sees while a review goes on.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use probity_review::Event;

use crate::report::visible;

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
        let Some(bar) = &self.bar else {
            if let Event::Step(step) = event {
                tracing::info!("{step}");
            }
            return;
        };
        match event {
            Event::Step(step) => bar.set_message(visible::line(step).into_owned()),
            Event::Proved { done, of, title, outcome } => {
                let line = format!("tests: {done} of {of}; {outcome}: {title}");
                bar.set_message(visible::line(&line).into_owned());
            }
        }
    }

    pub(super) fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
