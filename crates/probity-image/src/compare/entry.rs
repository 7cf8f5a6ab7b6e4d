//! Whatever a container starts is there: programs along PATH, scripts and what they call, and the
//! libraries of each.

use std::collections::BTreeSet;

use probity_shell::{Dialect, Invocation, Script, Word};

use super::{Image, Pair, closure};
use crate::{Difference, Setting, root::Entry};

/// A script that calls a script that calls a script is enough.
const DEEPEST: usize = 4;
/// Own programs and libraries whose needs are looked at.
const MOST_PROGRAMS: usize = 4096;
const LARGEST_SCRIPT: u64 = 256 << 10;

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let before = &pair.original.configuration;
    let setting = if before.entrypoint.is_empty() { Setting::Command } else { Setting::Entrypoint };
    let mut walk = Walk { pair, setting, found: Vec::new(), seen: BTreeSet::new() };
    walk.follow(&as_script(&before.start()), 0);
    walk.setting = Setting::Healthcheck;
    let health: Vec<&str> = before.healthcheck.iter().map(String::as_str).collect();
    match health.as_slice() {
        ["CMD-SHELL", text, ..] => walk.follow(&parsed(text), 0),
        ["CMD", words @ ..] => walk.follow(&as_script(words), 0),
        _ => {}
    }
    walk.own_programs();
    walk.found
}

/// The words of a command, quoted: a shell reads out of them what they are without a shell, and `sh -c`
/// among them is understood.
fn as_script(words: &[&str]) -> Script {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    parsed(&quoted.collect::<Vec<_>>().join(" "))
}

/// A command that the parser misses is a check less.
fn parsed(text: &str) -> Script {
    probity_shell::parse(text, 0, Invocation::plain(Dialect::Bash))
}

struct Walk<'p, 'a> {
    pair: &'p Pair<'a>,
    setting: Setting,
    found: Vec<Difference>,
    seen: BTreeSet<String>,
}

impl Walk<'_, '_> {
    /// The programs of all commands, the files that their words name, and what those lead to.
    fn follow(&mut self, script: &Script, depth: usize) {
        for command in script.all_commands() {
            let (whole, effective) = (command.call(), command.effective());
            for call in [&whole, &effective] {
                if let Some(program) = call.name_word().and_then(Word::literal) {
                    self.word(&program, true, depth);
                }
            }
            for argument in whole.args() {
                if let Some(path) = argument.literal() {
                    self.word(&path, false, depth);
                }
            }
        }
        for inner in script.inner() {
            self.follow(inner, depth);
        }
    }

    fn word(&mut self, word: &str, as_program: bool, depth: usize) {
        let Pair { original, proposal, .. } = self.pair;
        let Some(path) = located(original, word, as_program) else { return };
        if !self.seen.insert(path.clone()) {
            return;
        }
        let is_executable = |image: &Image, path: &str| {
            image.root.resolve(path).is_some_and(|(_, entry)| entry.is_executable())
        };
        let setting = self.setting;
        let was_executable = as_program && is_executable(original, &path);
        let Some(now) = located(proposal, word, as_program) else {
            // One that is there and has lost its right to run is not found along PATH either.
            let is_there = proposal.root.resolve(&path).is_some();
            self.found.push(if was_executable && is_there {
                Difference::ProgramNotExecutable { setting, program: path }
            } else {
                Difference::ProgramMissing { setting, program: path }
            });
            return;
        };
        if was_executable && !is_executable(proposal, &now) {
            self.found.push(Difference::ProgramNotExecutable { setting, program: path.clone() });
        }
        self.found.extend(closure::lost(self.pair, &path, &now));
        if depth < DEEPEST
            && let Some(script) = script(original, &path)
        {
            self.follow(&script, depth + 1);
        }
    }

    /// Programs and libraries that the original's own instructions added, wherever they are.
    fn own_programs(&mut self) {
        let Pair { original, proposal, .. } = self.pair;
        let programs = original.root.iter().filter(|(path, entry)| {
            let is_library = path.contains(".so");
            entry.is_file() && (entry.is_executable() || is_library)
        });
        let both = programs.filter(|(path, _)| proposal.root.get(path).is_some_and(Entry::is_file));
        let mut left = MOST_PROGRAMS;
        for (path, entry) in both {
            let shown = format!("/{path}");
            let is_elf = original.root.bytes(entry, 4) == b"\x7fELF";
            if !is_elf || self.seen.contains(&shown) || !self.pair.is_own(path) {
                continue;
            }
            left -= 1;
            if left == 0 {
                return;
            }
            self.found.extend(closure::lost(self.pair, &shown, &shown));
            self.seen.insert(shown);
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

/// A script of a POSIX shell.
fn script(image: &Image, path: &str) -> Option<Script> {
    let (_, entry) = image.root.resolve(path)?;
    if entry.size > LARGEST_SCRIPT {
        return None;
    }
    let bytes = image.root.bytes(entry, LARGEST_SCRIPT);
    let text = String::from_utf8_lossy(&bytes);
    let (first, _) = text.split_once('\n')?;
    let shell: Vec<&str> = first.strip_prefix("#!")?.split_whitespace().collect();
    let invocation = Invocation::of_argv(&shell);
    invocation.dialect.is_posix().then(|| probity_shell::parse(&text, 0, invocation))
}
