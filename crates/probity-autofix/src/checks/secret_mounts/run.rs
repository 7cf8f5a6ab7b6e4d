//! A RUN with secret mounts as the RUN that it was: the same command, and which secrets it gets.

use std::collections::{BTreeMap, BTreeSet};

use probity_dockerfile::{Flag, Instruction, Keyword};

use super::git;
use crate::checks::View;

/// Options that change how a secret is mounted and nothing else.
const OPTIONS: &[&str] = &[
    "type",
    "id",
    "source",
    "src",
    "env",
    "target",
    "dst",
    "destination",
    "required",
    "mode",
    "uid",
    "gid",
];

/// How a RUN may remove the configuration that a secret was written to.
const REMOVED: &str = " && rm -f /root/.gitconfig";
const REMOVALS: &[&str] = &[
    "rm /root/.gitconfig",
    "rm -f ~/.gitconfig",
    "rm ~/.gitconfig",
    "rm -f $HOME/.gitconfig",
    "rm -f \"$HOME/.gitconfig\"",
];

/// Commands that fetch with the configuration that a RUN wrote before.
const DOWNLOADS: &[&str] = &[
    "go mod download",
    "npm ",
    "yarn",
    "pnpm ",
    "pip ",
    "cargo ",
    "bundle ",
    "composer ",
    "git clone",
];

/// A secret mount of a RUN.
#[derive(Clone, Copy)]
pub(super) struct Mount<'i> {
    flag: &'i Flag,
    pub(super) id: &'i str,
    /// The variable that it sets.
    pub(super) variable: Option<&'i str>,
}

impl Mount<'_> {
    fn option(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.flag.option(name)).map(|value| value.text.as_str())
    }

    pub(super) fn path(&self) -> String {
        match self.option(&["target", "dst", "destination"]) {
            Some(path) if path.starts_with('/') => path.to_owned(),
            Some(name) => format!("/run/secrets/{name}"),
            None => format!("/run/secrets/{}", self.id),
        }
    }

    pub(super) fn is_of(&self, flag: &Flag) -> bool {
        self.flag.span == flag.span
    }

    /// Whether an option lets other users than root read the file.
    pub(super) fn is_readable_for_all(&self) -> bool {
        let last = self.option(&["mode"]).and_then(|mode| mode.bytes().last());
        self.option(&["uid"]).is_some() || matches!(last, Some(b'4'..=b'7'))
    }
}

/// The secret mounts of an instruction, unless they have options that nobody knows.
pub(super) fn mounts(instruction: &Instruction) -> Vec<Mount<'_>> {
    let text = |flag: &'_ Flag, name: &str| flag.option(name).map(|it| it.text.to_string());
    let secrets = instruction.flags_named("mount").filter(|flag| {
        let is_known = |key: &str| OPTIONS.contains(&key);
        text(flag, "type").as_deref() == Some("secret")
            && flag.options.iter().all(|option| is_known(&option.key.text))
    });
    secrets
        .filter_map(|flag| {
            let id = ["id", "source", "src"].iter().find_map(|name| flag.option(name))?;
            let variable = flag.option("env").map(|it| it.text.as_str());
            Some(Mount { flag, id: id.text.as_str(), variable })
        })
        .collect()
}

/// The secrets of these names that the new RUN gets, if it otherwise is the old one.
pub(super) fn moved_run<'v>(
    (before, was): (&View<'_>, &Instruction),
    (after, is): (&View<'_>, &'v Instruction),
    names: &BTreeSet<String>,
) -> Option<BTreeMap<String, Mount<'v>>> {
    if was.keyword != Keyword::Run || is.keyword != Keyword::Run {
        return None;
    }
    let bodies = |view: &View<'_>, instruction: &Instruction| -> Vec<String> {
        instruction
            .heredocs()
            .iter()
            .map(|heredoc| heredoc.content(view.text).into_owned())
            .collect()
    };
    if bodies(before, was) != bodies(after, is) {
        return None;
    }
    let old_flags: Vec<&str> = was.flags.iter().map(|flag| text_of(before, flag)).collect();
    let is_old = |flag: &Flag| old_flags.contains(&text_of(after, flag));
    let mut added: Vec<Mount<'v>> =
        mounts(is).into_iter().filter(|mount| !is_old(mount.flag)).collect();
    let passing: Vec<&str> =
        is.passing_mounts().filter(|target| target.starts_with("/run/")).collect();
    let is_passing = |flag: &Flag| {
        let is_memory = flag.option("type").is_some_and(|value| value.text == "tmpfs");
        let target = flag.option("target").map(|it| it.text.as_str());
        is_memory && target.is_some_and(|target| passing.contains(&target)) && !is_old(flag)
    };
    let kept: Vec<&str> = is
        .flags
        .iter()
        .filter(|flag| added.iter().all(|mount| mount.flag.span != flag.span))
        .filter(|flag| !is_passing(flag))
        .map(|flag| text_of(after, flag))
        .collect();
    if kept != old_flags {
        return None;
    }
    let mut secrets = BTreeMap::new();
    added.retain(|mount| match mount.variable {
        Some(name) if names.contains(name) => secrets.insert(name.to_owned(), *mount).is_some(),
        _ => true,
    });
    let (old, mut new) = (plain(was.rest_text(), names), plain(is.rest_text(), names));
    let unwritten = git::without_file(&new, &passing);
    let is_unwritten = unwritten.is_some();
    new = unwritten.unwrap_or(new);
    for mount in added {
        let name = read_from(&mount, &old, &mut new, names)?;
        secrets.insert(name, mount);
    }
    let removed = new.strip_suffix(REMOVED).or_else(|| {
        REMOVALS.iter().find_map(|removal| new.strip_suffix(&format!(" && {removal}")))
    });
    // Git would keep the secret in the layer, though the command that needs it is in the same RUN.
    let downloads = DOWNLOADS.iter().any(|download| old.contains(download));
    let keeps = !is_unwritten
        && downloads
        && old.contains("git config --global")
        && names.iter().any(|name| is_word_in(&old, name));
    match removed {
        Some(rest) if rest == old => Some(secrets),
        _ => (old == new && !keeps).then_some(secrets),
    }
}

fn text_of<'t>(view: &View<'t>, flag: &Flag) -> &'t str {
    flag.span.slice(view.text).unwrap_or_default()
}

/// Puts the variable back where the command reads the file of a mount, and gives its name.
fn read_from(
    mount: &Mount<'_>,
    old: &str,
    new: &mut String,
    names: &BTreeSet<String>,
) -> Option<String> {
    let read = format!("$(cat {})", mount.path());
    for name in names {
        let exported = format!("export {name}={read} && ");
        if let Some(rest) = new.strip_prefix(&exported) {
            *new = rest.to_owned();
            return Some(name.clone());
        }
        let assigned = format!("{name}={read} ");
        let rest = new.strip_prefix(&assigned).map(str::to_owned);
        // The shell expands the words of a command before it assigns, and the next command gets nothing.
        let is_whole =
            |rest: &String| !rest.contains(['&', '|', ';', '\n']) && !is_word_in(rest, name);
        if let Some(rest) = rest.filter(is_whole) {
            *new = rest;
            return Some(name.clone());
        }
    }
    let mut found = None;
    while let Some(start) = new.find(&read) {
        let rest = old.get(start..)?;
        let name = names.iter().find(|name| rest.starts_with(&format!("${{{name}}}")))?;
        let is_same = found.as_ref().is_none_or(|found| found == name);
        if !is_same || is_quoted_singly(new, start) {
            return None;
        }
        new.replace_range(start..start + read.len(), &format!("${{{name}}}"));
        found = Some(name.clone());
    }
    found
}

/// A command as two can be compared by: one space between words, and one way to write each reference.
pub(super) fn plain(text: &str, names: &BTreeSet<String>) -> String {
    let mut plain = String::new();
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        let is_space = quote.is_none() && c.is_whitespace();
        if !is_space {
            plain.push(c);
        } else if !plain.ends_with(' ') {
            plain.push(' ');
        }
    }
    for name in names {
        plain = braced(&plain, name);
        plain = plain.replace(&format!("\"${{{name}}}\""), &format!("${{{name}}}"));
    }
    // Quotes around a value that is read whole only protect it.
    let mut rest = plain.as_str();
    let mut bare = String::new();
    while let Some((before, behind)) = rest.split_once("\"$(cat ") {
        bare.push_str(before);
        match behind.split_once(")\"") {
            Some((path, after)) if !path.contains(['"', '$', ' ']) => {
                bare.push_str(&format!("$(cat {path})"));
                rest = after;
            }
            _ => {
                bare.push_str("\"$(cat ");
                rest = behind;
            }
        }
    }
    bare.push_str(rest);
    bare.trim().to_owned()
}

/// `$NAME` as `${NAME}`.
pub(super) fn braced(text: &str, name: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    let reference = format!("${name}");
    while let Some((before, behind)) = rest.split_once(&reference) {
        result.push_str(before);
        let is_longer = behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if is_longer {
            result.push_str(&reference)
        } else {
            result.push_str(&format!("${{{name}}}"))
        }
        rest = behind;
    }
    result.push_str(rest);
    result
}

pub(super) fn is_quoted_singly(text: &str, end: usize) -> bool {
    let mut quote = None;
    for c in text.chars().take(text.get(..end).unwrap_or_default().chars().count()) {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    quote == Some('\'')
}

/// Whether a text has this name, and not only as a part of a longer one.
pub(super) fn is_word_in(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(start, _)| {
        let before = text.get(..start).and_then(|it| it.chars().next_back());
        let behind = text.get(start + name.len()..).and_then(|it| it.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}
