//! How a command that failed says so: what, why, and the way out.

use std::{
    fmt,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use probity_check::CheckError;
use probity_report::{Paint, Screen};

use crate::{
    cli::{slips, styled},
    config::ConfigError,
    exit::Exit,
    name::{Mistake, Name},
    screen, streams,
};

/// A failure whose remedy is known.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    way_out: String,
    exit: Exit,
    /// A contract names the words, and nothing may stand before or after them.
    bare: bool,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { what: what.into(), way_out: way_out.into(), exit: Exit::Failure, bare: false }
    }

    pub(crate) fn way_out(&self) -> &str {
        &self.way_out
    }

    /// The same failure with an exit code that a contract names.
    pub(crate) fn with_exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// The same failure, told in these words alone.
    pub(crate) fn in_these_words(self) -> Self {
        Self { bare: true, ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}

/// Says on stderr what happened, and gives the exit code that goes with it.
pub(crate) fn report(name: Name, error: &anyhow::Error) -> ExitCode {
    // A reader that has seen enough is no error of ours.
    if is_broken_pipe(error) {
        return Exit::Clean.into();
    }
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return report_usage(name, usage);
    }
    // With stderr gone there is nobody left to tell, so a failed write changes nothing.
    drop(streams::stderr().write_all(render(error, screen::stderr()).as_bytes()));
    error.downcast_ref::<Failure>().map_or(Exit::Failure, |failure| failure.exit).into()
}

/// clap's own text: help and version are answers, everything else is a usage error.
fn report_usage(name: Name, usage: &clap::Error) -> ExitCode {
    match print_usage(usage) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let error = anyhow::Error::from(error).context("cannot write the answer");
            drop(streams::stderr().write_all(render(&error, screen::stderr()).as_bytes()));
            Exit::Failure.into()
        }
        _ if usage.use_stderr() => name.usage_code(mistake(usage)).into(),
        _ => Exit::Clean.into(),
    }
}

fn print_usage(usage: &clap::Error) -> io::Result<()> {
    let screen = if usage.use_stderr() { screen::stderr() } else { screen::stdout() };
    let text = styled(&slips::rendered(usage), screen);
    if usage.use_stderr() {
        return streams::stderr().write_all(text.as_bytes());
    }
    let mut out = streams::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn mistake(usage: &clap::Error) -> Mistake {
    match (usage.kind(), usage.get(ContextKind::InvalidValue)) {
        // A value that is missing is an empty one to the parser.
        (ErrorKind::InvalidValue, Some(ContextValue::String(value))) if !value.is_empty() => {
            Mistake::Word
        }
        _ => Mistake::Other,
    }
}

fn render(error: &anyhow::Error, screen: Screen) -> String {
    if let Some(failure) = error.downcast_ref::<Failure>().filter(|failure| failure.bare) {
        return format!("{}\n", failure.what);
    }
    let (red, bold) = (screen.style(Paint::Bad), screen.style(Paint::Strong));
    let mut text = format!("{red}error{red:#}: {}\n", indented(&error.to_string()));
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors have their cause in their own words already.
        if !said.contains(&cause) {
            text.push_str(&format!("  {bold}cause{bold:#}: {}\n", indented(&cause)));
        }
        said = cause;
    }
    let mut text = screen.folded(&text);
    let help =
        |way_out: &str| screen.folded(&format!("  {bold}help{bold:#}: {}\n", indented(way_out)));
    if let Some(config) = error.downcast_ref::<ConfigError>() {
        // Lines of a file are not folded: a mark is under one of their columns.
        text.push_str(&config.excerpt());
        if let Some(way_out) = config.way_out() {
            text.push_str(&help(way_out));
        }
    }
    if let Some(way_out) = error.downcast_ref::<CheckError>().and_then(CheckError::way_out) {
        text.push_str(&help(&way_out));
    }
    if let Some(failure) = error.downcast_ref::<Failure>() {
        text.push_str(&help(&failure.way_out));
    }
    text
}

/// Later lines of a message stand under its first.
fn indented(message: &str) -> String {
    message.trim_end().replace('\n', "\n    ")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn causes_and_the_way_out_are_shown() {
        let error = Err::<(), _>(io::Error::other("disk\nfull"))
            .context(Failure::new("cannot write a.txt", "free some space"))
            .unwrap_err();
        insta::assert_snapshot!(render(&error, Screen::PLAIN), @r"
        error: cannot write a.txt
          cause: disk
            full
          help: free some space
        ");
    }

    #[test]
    fn a_closed_pipe_is_found_below_any_context() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&anyhow::Error::from(broken).context("writing the report")));
        assert!(!is_broken_pipe(&anyhow::anyhow!("broken pipe")));
    }
}
