//! Command lines: one file per name, and the parsing that they share.

pub(crate) mod acp;
pub(crate) mod acp_proxy;
mod acp_setup;
pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod cai;
pub(crate) mod check;
pub(crate) mod ci_agent_review;
mod color;
pub(crate) mod config;
mod flags;
pub(crate) mod hadolint;
mod image;
mod manual;
pub(crate) mod names;
pub(crate) mod probity;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod slips;
pub(crate) mod tally;
pub(crate) mod trix;

use std::{ffi::OsString, io::Write as _, iter, str::FromStr};

use clap::{
    ArgMatches, Command, FromArgMatches,
    builder::{PossibleValuesParser, StyledStr, TypedValueParser},
};
use probity_report::Screen;

use crate::{config::word::Word, exit::Exit, failure::Failure, screen, streams};

/// Reads one of the words of a choice.
fn words<T: Word + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::NAMES)
        .try_map(|word: String| T::from_word(&word).ok_or("not one of the words"))
}

/// clap's text as a screen shows it.
pub(crate) fn styled(text: &StyledStr, screen: Screen) -> String {
    let text = if screen.is_colored { text.ansi().to_string() } else { text.to_string() };
    screen.folded(&text)
}

/// Prints the help page of a command.
fn print_help(command: Command) -> anyhow::Result<Exit> {
    let page = fitted(command).render_help();
    write!(streams::stdout().lock(), "{}", styled(&page, screen::stdout()))?;
    Ok(Exit::Clean)
}

/// The command with help that is as wide as the screen.
fn fitted(command: Command) -> Command {
    match screen::stdout().width {
        Some(width) => with_folded_examples(command.term_width(width)),
        None => command,
    }
}

/// Folds the examples below the flags as tables, because clap folds them as prose.
fn with_folded_examples(mut command: Command) -> Command {
    if let Some(below) = command.get_after_help() {
        let below = below.ansi().to_string();
        let lines = below.split_inclusive('\n').map(|line| {
            if line.starts_with("  ") { screen::stdout().folded(line) } else { line.to_owned() }
        });
        let folded: String = lines.collect();
        command = command.after_help(folded);
    }
    command.mut_subcommands(with_folded_examples)
}

/// Parses the arguments behind `argv[0]`; a usage error comes back as clap's own.
fn matches(command: Command, args: impl Iterator<Item = OsString>) -> anyhow::Result<ArgMatches> {
    let command = fitted(command);
    let name = OsString::from(command.get_name());
    let args: Vec<OsString> = args.collect();
    let known = command.clone();
    let found = command.try_get_matches_from(iter::once(name).chain(args.iter().cloned()));
    Ok(found.map_err(|error| slips::explained(error, known, &args))?)
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not a whole number from 0 on, or too large")]
struct NotWhole;

/// Reads a whole number, and says so of what is none.
fn whole<T: FromStr>(text: &str) -> Result<T, NotWhole> {
    text.parse().map_err(|_| NotWhole)
}

/// Parses into a derived struct.
fn parse<T: FromArgMatches>(
    command: Command,
    args: impl Iterator<Item = OsString>,
) -> anyhow::Result<T> {
    Ok(T::from_arg_matches(&matches(command, args)?)?)
}

/// Adds subcommands of the original tool that are not offered here, so that calling one says so
/// instead of suggesting something else.
fn with_absent(command: Command, absent: &[&'static str]) -> Command {
    absent.iter().fold(command, |command, name| {
        command.subcommand(Command::new(*name).hide(true).disable_help_flag(true).arg(
            clap::Arg::new("rest").num_args(..).allow_hyphen_values(true).trailing_var_arg(true),
        ))
    })
}

/// The failure for a subcommand that [`with_absent`] added and that was called.
fn refuse_absent(tool: &str, matches: &ArgMatches, absent: &[&'static str]) -> anyhow::Result<()> {
    match matches.subcommand_name() {
        Some(name) if absent.contains(&name) => Err(Failure::new(
            format!("`{tool} {name}` is not offered by probity"),
            format!("`{tool} --help` lists what is; for the rest, keep the original {tool}"),
        )
        .into()),
        _ => Ok(()),
    }
}
