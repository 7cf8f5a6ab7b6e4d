//! A line that counts while long work goes on: `12 of 40 files`.
//!
//! It is for a person who looks on: on standard error, on a terminal, outside CI and without `--quiet`.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use probity_text::visible;

use crate::{ci::in_ci, streams};

/// Work that is done sooner shows no count.
const PATIENCE: Duration = Duration::from_millis(300);
const TICK: Duration = Duration::from_millis(120);

/// The line that is on the screen, which other lines must not be written into.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Whether somebody looks on.
pub(crate) fn is_watched() -> bool {
    streams::stderr().is_terminal() && !in_ci() && tracing::enabled!(tracing::Level::WARN)
}

/// Writes something beside the count that may be on the screen.
pub(crate) fn beside<T>(write: impl FnOnce() -> T) -> T {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Work that consists of many parts.
pub(crate) struct Count {
    bar: ProgressBar,
    begun: Instant,
    is_watched: bool,
    is_shown: AtomicBool,
}

impl Count {
    /// `what` names the parts, in the plural.
    pub(crate) fn of(total: usize, what: &'static str) -> Self {
        Self::with_template(total, what, "{spinner} {pos} of {len} {prefix}  {wide_msg}")
    }

    /// Steps of which nobody knows how many there are.
    pub(crate) fn steps() -> Self {
        Self::with_template(0, "", "{spinner} {elapsed} {wide_msg}")
    }

    fn with_template(total: usize, what: &'static str, template: &str) -> Self {
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_prefix(what);
        Self {
            bar,
            begun: Instant::now(),
            is_watched: is_watched(),
            is_shown: AtomicBool::new(false),
        }
    }

    /// Whether this line is shown to anybody, now or later.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// One part is done.
    pub(crate) fn add_one(&self) {
        self.bar.inc(1);
        if self.begun.elapsed() >= PATIENCE {
            self.show();
        }
    }

    /// Parts that an earlier run has done.
    pub(crate) fn start_at(&self, done: usize) {
        self.bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    }

    /// Shows what is being done; who says so expects that it takes a while.
    pub(crate) fn say(&self, what: &str) {
        self.bar.set_message(visible::line(what).into_owned());
        self.show();
    }

    fn show(&self) {
        if !self.is_watched || self.is_shown.swap(true, Ordering::Relaxed) {
            return;
        }
        self.bar.set_draw_target(on_stderr());
        self.bar.enable_steady_tick(TICK);
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.bar.clone());
    }
}

#[expect(clippy::disallowed_methods, reason = "only on a terminal outside CI; see `is_watched`")]
fn on_stderr() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr()
}

impl Count {
    /// Takes the line off the screen.
    pub(crate) fn hide(&self) {
        if self.is_shown.load(Ordering::Relaxed) {
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.bar.finish_and_clear();
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.hide();
    }
}
