//! Whatever a container starts is there: programs along PATH, scripts and what they call, and the
//! libraries of each.

use std::collections::BTreeSet;

use super::{Image, Pair, closure};
use crate::{Difference, Setting, words};

/// A script that calls a script that calls a script is enough.
const DEEPEST: usize = 4;
/// Own programs and libraries whose needs are looked at.
const MOST_PROGRAMS: usize = 4096;
const LARGEST_SCRIPT: u64 = 256 << 10;

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let before = &pair.original.configuration;
    let start: Vec<String> = before.start().into_iter().map(str::to_owned).collect();
    let setting = if before.entrypoint.is_empty() { Setting::Command } else { Setting::Entrypoint };
    let health = before.healthcheck.clone();
    for (setting, argv) in [(setting, start), (Setting::Healthcheck, health)] {
        let commands = match argv.first().map(String::as_str) {
            Some("CMD-SHELL") => words::commands(argv.get(1).map_or("", String::as_str)),
            Some("CMD") => vec![argv.get(1..).unwrap_or_default().to_vec()],
            Some("NONE") | None => continue,
            _ => vec![argv],
        };
        for command in commands {
            follow(pair, setting, &command, &mut found, &mut seen, 0);
        }
    }
    own_programs(pair, &mut found, &mut seen);
    found
}

/// The program of a command, the files that its words name, and what those lead to.
fn follow(
    pair: &Pair<'_>,
    setting: Setting,
    argv: &[String],
    found: &mut Vec<Difference>,
    seen: &mut BTreeSet<String>,
    depth: usize,
) {
    for (index, word) in argv.iter().enumerate() {
        if argv.iter().take(index).any(|earlier| words::is_shell_switch(earlier)) {
            for command in words::commands(word) {
                follow(pair, setting, &command, found, seen, depth + 1);
            }
            continue;
        }
        let as_program = index == 0 || words::is_prefix(argv.get(index - 1).map_or("", |it| it));
        let Some(path) = located(pair.original, word, as_program) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        let was_executable =
            pair.original.root.resolve(&path).is_some_and(|(_, entry)| entry.is_executable());
        let Some(now) = located(pair.proposal, word, as_program) else {
            // One that is there and has lost its right to run is not found along PATH either.
            let is_there = pair.proposal.root.resolve(&path).is_some();
            found.push(match as_program && was_executable && is_there {
                true => Difference::ProgramNotExecutable { setting, program: path },
                false => Difference::ProgramMissing { setting, program: path },
            });
            continue;
        };
        let is_executable =
            pair.proposal.root.resolve(&now).is_some_and(|(_, entry)| entry.is_executable());
        if as_program && was_executable && !is_executable {
            found.push(Difference::ProgramNotExecutable { setting, program: path.clone() });
        }
        found.extend(closure::lost(pair, &path, &now));
        if depth < DEEPEST {
            for command in script(pair.original, &path) {
                follow(pair, setting, &command, found, seen, depth + 1);
            }
        }
    }
}

/// Where a word of a command leads: along PATH for a program, from the working directory otherwise.
fn located(image: &Image, word: &str, as_program: bool) -> Option<String> {
    let root = &image.root;
    if as_program && !word.contains('/') {
        let directories = image.configuration.path();
        let candidates = directories.iter().map(|directory| format!("{directory}/{word}"));
        return candidates
            .into_iter()
            .find(|path| root.resolve(path).is_some_and(|(_, entry)| entry.is_executable()));
    }
    let path = image.configuration.absolute(word);
    let is_file = root.resolve(&path).is_some_and(|(_, entry)| entry.is_file());
    is_file.then_some(path)
}

/// The commands of a shell script.
fn script(image: &Image, path: &str) -> Vec<Vec<String>> {
    let Some((_, entry)) = image.root.resolve(path) else { return Vec::new() };
    if entry.size > LARGEST_SCRIPT {
        return Vec::new();
    }
    let bytes = image.root.bytes(entry, LARGEST_SCRIPT);
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().next().unwrap_or_default();
    let is_shell = first.starts_with("#!") && first.trim_end().ends_with("sh");
    if is_shell { words::commands(&text) } else { Vec::new() }
}

/// Programs and libraries that the original's own instructions added, wherever they are.
fn own_programs(pair: &Pair<'_>, found: &mut Vec<Difference>, seen: &mut BTreeSet<String>) {
    let programs = pair.original.root.iter().filter(|(path, entry)| {
        let is_library = path.contains(".so");
        entry.is_file() && (entry.is_executable() || is_library)
    });
    let both = programs.filter(|(path, _)| {
        pair.proposal.root.get(path).is_some_and(super::super::root::Entry::is_file)
    });
    let mut left = MOST_PROGRAMS;
    for (path, entry) in both {
        let shown = format!("/{path}");
        let is_elf = pair.original.root.bytes(entry, 4) == b"\x7fELF";
        if !is_elf || seen.contains(&shown) || !pair.is_own(path) {
            continue;
        }
        left -= 1;
        if left == 0 {
            return;
        }
        found.extend(closure::lost(pair, &shown, &shown));
        seen.insert(shown);
    }
}
