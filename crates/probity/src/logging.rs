//! What is said beside the data: always on stderr, as loud as asked for.

use std::{fmt, io};

use probity_finding::Severity;
use probity_report::{Paint, Screen};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    filter::Targets,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use crate::{
    screen::{self, count},
    streams,
};

/// How much a person wants to hear.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loudness {
    pub(crate) verbose: u8,
    pub(crate) quiet: bool,
}

/// Starts logging; `PROBITY_LOG` (`debug`, `probity=trace`, …) wins over the flags.
pub(crate) fn start(loudness: Loudness) {
    let (filter, complaint) = filter(std::env::var("PROBITY_LOG").ok().as_deref(), loudness);
    let screen = screen::stderr();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(|| BesideCounts)
        .with_ansi(screen.is_colored)
        .event_format(Line(screen));
    // Starting twice in one process is possible only in tests, and the first start stays.
    drop(tracing_subscriber::registry().with(filter).with(lines).try_init());
    if let Some(complaint) = complaint {
        tracing::warn!("{complaint}");
    }
}

/// Standard error, where a count of running work may be shown.
struct BesideCounts;

impl io::Write for BesideCounts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        count::beside(|| io::Write::write(&mut streams::stderr(), bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::Write::flush(&mut streams::stderr())
    }
}

/// `warning: what happened`, as failures and findings are written too.
struct Line(Screen);

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (word, paint) = match *event.metadata().level() {
            Level::ERROR => ("error", Paint::Severity(Severity::Error)),
            Level::WARN => ("warning", Paint::Severity(Severity::Warning)),
            Level::INFO => ("info", Paint::Severity(Severity::Info)),
            Level::DEBUG => ("debug", Paint::Faint),
            Level::TRACE => ("trace", Paint::Faint),
        };
        let mut line = format!("{}: ", self.0.painted(paint, word));
        context.field_format().format_fields(Writer::new(&mut line), event)?;
        writeln!(out, "{}", self.0.folded(&line))
    }
}

fn filter(variable: Option<&str>, loudness: Loudness) -> (Targets, Option<String>) {
    let level = match loudness {
        Loudness { quiet: true, .. } => tracing::Level::ERROR,
        Loudness { verbose: 0, .. } => tracing::Level::WARN,
        Loudness { verbose: 1, .. } => tracing::Level::INFO,
        Loudness { verbose: 2, .. } => tracing::Level::DEBUG,
        Loudness { .. } => tracing::Level::TRACE,
    };
    let by_flags = Targets::new().with_default(level);
    match variable.filter(|value| !value.is_empty()).map(str::parse::<Targets>) {
        None => (by_flags, None),
        Some(Ok(targets)) => (targets, None),
        Some(Err(error)) => (by_flags, Some(format!("PROBITY_LOG is not understood: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_over_flags_and_nonsense_is_reported() {
        let quiet = Loudness { verbose: 0, quiet: true };
        let loud = Loudness { verbose: 2, quiet: false };
        for (variable, loudness, level, enabled) in [
            (None, Loudness::default(), Level::WARN, true),
            (None, Loudness::default(), Level::INFO, false),
            (None, quiet, Level::WARN, false),
            (None, loud, Level::DEBUG, true),
            (Some("debug"), quiet, Level::DEBUG, true),
            (Some("error"), loud, Level::WARN, false),
            (Some(""), loud, Level::DEBUG, true),
        ] {
            let (targets, complaint) = filter(variable, loudness);
            assert_eq!(targets.would_enable("probity", &level), enabled, "{variable:?} {level}");
            assert_eq!(complaint, None);
        }
        assert!(filter(Some("=,=x"), loud).1.is_some());
    }
}
