//! Which options of a project's test command a proof starts its runner with.
//!
//! Options that decide what is loaded and how stay. Those about reports, coverage, order, time and
//! which tests run are ours to decide.

mod tables;

use self::tables::{AVA, BUN, DENO, JASMINE, JEST, MOCHA, NODE, TAP, TAPE, Table, VITEST};
use super::{framework::Framework, words::Word};

/// What stays of the words that follow a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) options: Vec<String>,
    /// The other words, which name files of tests.
    pub(super) files: Vec<Word>,
    /// Options of which nobody here knows whether the next word belongs to them.
    pub(super) unclear: Vec<String>,
}

/// Sorts the words that follow a runner.
pub(super) fn of_runner(framework: Framework, words: &[Word]) -> Kept {
    let table = match framework {
        Framework::Node => &NODE,
        Framework::Mocha => &MOCHA,
        Framework::Jest => &JEST,
        Framework::Vitest => &VITEST,
        Framework::Tap => &TAP,
        Framework::Tape => &TAPE,
        Framework::Ava => &AVA,
        Framework::Jasmine => &JASMINE,
        Framework::Bun => &BUN,
        Framework::Deno => &DENO,
    };
    sort(table, words, false).0
}

/// Sorts the words that follow node up to its script, and gives what is behind them.
pub(super) fn of_node(words: &[Word]) -> (Kept, &[Word]) {
    let (kept, count) = sort(&NODE, words, true);
    (kept, words.get(count..).unwrap_or_default())
}

/// The words up to the first that is no option, or all, and how many they are.
fn sort(table: &Table, words: &[Word], until_file: bool) -> (Kept, usize) {
    let mut kept = Kept::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if word.text == "--" {
            continue;
        }
        if !word.text.starts_with('-') {
            if until_file {
                return (kept, at - 1);
            }
            kept.files.push(word.clone());
            continue;
        }
        let (name, value) = match word.text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word.text.as_str(), false),
        };
        let is = |names: &[&str]| names.contains(&name);
        let next = words.get(at).filter(|next| !next.text.starts_with('-'));
        if is(table.dropped_flags) || name.starts_with("--coverage.") {
            continue;
        }
        if is(table.dropped) {
            at += usize::from(!value && next.is_some());
            continue;
        }
        let takes_next = is(table.kept) && !value;
        at += usize::from(takes_next && next.is_some());
        let is_known = value || takes_next || is(table.kept_flags) || is_flag(name);
        match next {
            _ if word.is_dynamic => kept.unclear.push(word.text.clone()),
            Some(next) if takes_next && !next.is_dynamic => {
                kept.options.extend([word.text.clone(), next.text.clone()]);
            }
            _ if takes_next => kept.unclear.push(word.text.clone()),
            Some(_) if !is_known => kept.unclear.push(word.text.clone()),
            _ => kept.options.push(word.text.clone()),
        }
    }
    (kept, at)
}

/// Options of several programs that take a value only behind a sign of equality.
fn is_flag(name: &str) -> bool {
    ["--no-", "--allow-", "--deny-", "--unstable", "--experimental-", "--harmony"]
        .iter()
        .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{Framework, of_runner};
    use crate::runner::javascript::words::commands;

    #[test]
    fn what_decides_how_tests_load_stays() {
        for (framework, words, options, files, unclear) in [
            (
                Framework::Mocha,
                "-r @babel/register --require=./a.js -R dot --bail -t 5000 test --check-leaks",
                "-r @babel/register --require=./a.js --check-leaks",
                "test",
                "",
            ),
            (
                Framework::Mocha,
                "--require --bail -g --check-leaks",
                "--check-leaks",
                "",
                "--require",
            ),
            (Framework::Mocha, "--file $X a.js", "", "a.js", "--file"),
            (Framework::Mocha, "--odd a.js --even", "--even", "a.js", "--odd"),
            (
                Framework::Jest,
                "--config jest.unit.js --coverage --maxWorkers 2 -i src",
                "--config jest.unit.js",
                "src",
                "",
            ),
            (Framework::Vitest, "run -c v.ts --coverage.enabled=true", "-c v.ts", "run", ""),
            (
                Framework::Deno,
                "-A --unstable-kv --allow-read=. test/",
                "-A --unstable-kv --allow-read=.",
                "test/",
                "",
            ),
            (Framework::Node, "--import tsx --test-timeout=1 a.ts", "--import tsx", "a.ts", ""),
        ] {
            let words = commands(words).unwrap().remove(0);
            let kept = of_runner(framework, &words);
            let files_kept: Vec<&str> = kept.files.iter().map(|word| &*word.text).collect();
            assert_eq!(
                (kept.options.join(" "), files_kept.join(" "), kept.unclear.join(" ")),
                (options.to_owned(), files.to_owned(), unclear.to_owned())
            );
        }
    }
}
