//! What clap's errors lack: the flag or the command that was meant, and the help page to read.

use std::{ffi::OsString, path::Path};

use clap::{
    Command,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};
use probity_check::discover;

use crate::config::nearest;

/// The error with a tip that fits the slip, and with the command whose help page describes the way out.
pub(super) fn explained(error: clap::Error, top: Command, args: &[OsString]) -> clap::Error {
    let mut path = vec![top.get_name().to_owned()];
    let mut at = top;
    for arg in args {
        let Some(below) = arg.to_str().and_then(|name| at.find_subcommand(name)) else { continue };
        path.push(below.get_name().to_owned());
        at = below.clone();
    }
    let path = path.join(" ");
    let mut error = match error.kind() {
        ErrorKind::UnknownArgument => with_nearest_flag(error, at, &path),
        ErrorKind::InvalidSubcommand => with_command(error, &path),
        ErrorKind::ArgumentConflict if path == "probity config" => no_writer(at, &path, args),
        _ => error,
    };
    error.insert(ContextKind::Custom, ContextValue::String(path));
    error
}

/// What the last line of an error begins with.
const MORE: &str = "For more information, try ";

/// clap's text. The last line of an error names the whole command instead of `--help` alone.
pub(crate) fn rendered(error: &clap::Error) -> StyledStr {
    let page = error.render();
    let Some(ContextValue::String(path)) = error.get(ContextKind::Custom) else { return page };
    let text = page.ansi().to_string();
    match text.rsplit_once(MORE).and_then(|(above, last)| Some((above, last.split_once("--help")?)))
    {
        Some((above, (quote, end))) if path.starts_with("probity") => {
            StyledStr::from(format!("{above}{MORE}{quote}{path} --help{end}"))
        }
        _ => page,
    }
}

/// The error with the flag that needs the fewest slips to become the one that is not known: `--fxi` is
/// `--fix`, and not `--fix-ai`, whose beginning it shares.
fn with_nearest_flag(mut error: clap::Error, at: Command, path: &str) -> clap::Error {
    let Some(ContextValue::String(wanted)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(wanted) = wanted.strip_prefix("--").map(str::to_owned) else { return error };
    // A flag that does not exist is seldom meant as a value.
    error.remove(ContextKind::Suggested);
    let flags: Vec<&str> = at.get_arguments().filter_map(|arg| arg.get_long()).collect();
    if let Some(meant) = nearest(&wanted, flags.iter().copied()) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{meant}")));
        let usage = at.clone().bin_name(path).render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        return error;
    }
    let is_of =
        |command: &Command| command.get_arguments().any(|arg| arg.get_long() == Some(&wanted));
    if path == "probity" && at.find_subcommand("check").is_some_and(is_of) {
        tip(&mut error, format!("`check` has this flag: probity check --{wanted}"));
    }
    error
}

/// `config set KEY VALUE` and the like: clap takes the first word for a path.
fn no_writer(at: Command, path: &str, args: &[OsString]) -> clap::Error {
    let words = args.iter().filter_map(|arg| arg.to_str());
    let word = words.skip_while(|word| *word != "config").nth(1).unwrap_or_default();
    let message = format!(
        "`{path}` has no command `{word}`, and it reads one path only\n\n  \
         tip: edit probity.toml to change a setting; `{path}` shows every key and its value"
    );
    at.bin_name(path).error(ErrorKind::InvalidSubcommand, message)
}

/// The error with the command that does what a word that is not a command asks for.
fn with_command(mut error: clap::Error, path: &str) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let is_file = discover::is_dockerfile_name(Path::new(word)) || Path::new(word).exists();
    let meant = match (path, word.as_str()) {
        ("probity", "fix") => Some("`check` fixes Dockerfiles: probity check --fix".to_owned()),
        ("probity", word) if is_file => {
            Some(format!("`check` checks Dockerfiles: probity check {word}"))
        }
        ("probity rules", word) => {
            Some(format!("`explain` shows the page of a rule: probity explain {word}"))
        }
        _ => None,
    };
    if let Some(meant) = meant {
        tip(&mut error, meant);
    }
    error
}

fn tip(error: &mut clap::Error, text: String) {
    let text = StyledStr::from(text);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text]));
}
