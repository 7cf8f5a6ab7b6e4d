//! Which options of a project's test command a proof starts its runner with.
//!
//! Options that decide what is loaded and how stay. Those about reports, coverage, order, time and
//! which tests run are ours to decide.

use super::{framework::Framework, words::Word};

/// The options of one program. A flag that is not listed stays, too.
struct Table {
    /// These stay, and the next word is their value.
    kept: &'static [&'static str],
    /// These go with their value.
    dropped: &'static [&'static str],
    dropped_flags: &'static [&'static str],
    /// These stay, and no value follows.
    kept_flags: &'static [&'static str],
}

const NODE: Table = Table {
    kept: &[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "-C",
        "--conditions",
        "--env-file",
        "--env-file-if-exists",
        "--max-old-space-size",
        "--stack-size",
    ],
    dropped: &[
        "--test-concurrency",
        "--test-coverage-branches",
        "--test-coverage-exclude",
        "--test-coverage-functions",
        "--test-coverage-include",
        "--test-coverage-lines",
        "--test-name-pattern",
        "--test-reporter",
        "--test-reporter-destination",
        "--test-shard",
        "--test-skip-pattern",
        "--test-timeout",
    ],
    dropped_flags: &[
        "--experimental-test-coverage",
        "--test",
        "--test-force-exit",
        "--test-only",
        "--test-update-snapshots",
        "--watch",
    ],
    kept_flags: &[
        "--enable-source-maps",
        "--experimental-strip-types",
        "--experimental-test-module-mocks",
        "--experimental-transform-types",
        "--experimental-vm-modules",
        "--expose-gc",
        "--no-warnings",
    ],
};

const MOCHA: Table = Table {
    kept: &[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "--file",
        "--config",
        "--package",
        "--opts",
        "-u",
        "--ui",
        "--compilers",
        "--extension",
        "--globals",
        "--global",
        "-n",
        "--node-option",
    ],
    dropped: &[
        "-R",
        "--reporter",
        "-O",
        "--reporter-option",
        "--reporter-options",
        "-g",
        "--grep",
        "-f",
        "--fgrep",
        "-t",
        "--timeout",
        "--timeouts",
        "-s",
        "--slow",
        "--spec",
        "--ignore",
        "--exclude",
        "--watch-files",
        "--watch-ignore",
        "-j",
        "--jobs",
        "--retries",
    ],
    dropped_flags: &[
        "-w",
        "--watch",
        "-b",
        "--bail",
        "-p",
        "--parallel",
        "--recursive",
        "--exit",
        "--no-exit",
        "--no-timeouts",
        "-i",
        "--invert",
        "-S",
        "--sort",
        "-c",
        "--color",
        "--colors",
        "-C",
        "--no-color",
        "--no-colors",
        "-G",
        "--growl",
        "--diff",
        "--no-diff",
        "--full-trace",
        "--inline-diffs",
        "--forbid-only",
        "--forbid-pending",
        "--pass-on-failing-test-suite",
    ],
    kept_flags: &["--check-leaks", "--delay", "-A", "--async-only", "--enable-source-maps"],
};

const JEST: Table = Table {
    kept: &[
        "-c",
        "--config",
        "--rootDir",
        "--env",
        "--testEnvironment",
        "--selectProjects",
        "--preset",
        "--globals",
        "--resolver",
        "--testRunner",
    ],
    dropped: &[
        "--changedSince",
        "--collectCoverageFrom",
        "--coverageDirectory",
        "--coverageProvider",
        "--coverageReporters",
        "--coverageThreshold",
        "-w",
        "--maxWorkers",
        "--outputFile",
        "--reporters",
        "--shard",
        "-t",
        "--testNamePattern",
        "--testPathIgnorePatterns",
        "--testPathPattern",
        "--testPathPatterns",
        "--testTimeout",
    ],
    dropped_flags: &[
        "--bail",
        "-b",
        "--ci",
        "--collectCoverage",
        "--coverage",
        "--detectOpenHandles",
        "--forceExit",
        "--json",
        "--notify",
        "-o",
        "--onlyChanged",
        "--passWithNoTests",
        "--runInBand",
        "-i",
        "--silent",
        "-u",
        "--updateSnapshot",
        "--verbose",
        "--watch",
        "--watchAll",
        "--colors",
        "--color",
        "--no-watchman",
    ],
    kept_flags: &["--no-cache", "--injectGlobals", "--errorOnDeprecated"],
};

const VITEST: Table = Table {
    kept: &[
        "-c",
        "--config",
        "-r",
        "--root",
        "--dir",
        "--project",
        "--mode",
        "--environment",
        "--pool",
        "--workspace",
    ],
    dropped: &[
        "--bail",
        "--maxWorkers",
        "--minWorkers",
        "--outputFile",
        "--reporter",
        "--retry",
        "--shard",
        "-t",
        "--testNamePattern",
        "--testTimeout",
    ],
    dropped_flags: &[
        "--coverage",
        "--run",
        "--silent",
        "--typecheck",
        "--ui",
        "-u",
        "--update",
        "-w",
        "--watch",
        "--no-watch",
        "--passWithNoTests",
        "--changed",
        "--hideSkippedTests",
    ],
    kept_flags: &["--globals", "--dom", "--no-file-parallelism", "--no-isolate", "--no-threads"],
};

const TAP: Table = Table {
    kept: &["--node-arg", "--before", "--after", "--plugin", "--test-env", "--test-arg"],
    dropped: &[
        "-c",
        "-R",
        "--reporter",
        "-o",
        "--output-file",
        "-d",
        "--output-dir",
        "-j",
        "--jobs",
        "-t",
        "--timeout",
        "-g",
        "--grep",
        "--coverage-report",
        "--coverage-map",
        "--save",
        "-s",
    ],
    dropped_flags: &[
        "--100",
        "-b",
        "--bail",
        "--check-coverage",
        "--no-check-coverage",
        "--cov",
        "--coverage",
        "--no-cov",
        "--no-coverage",
        "--disable-coverage",
        "--allow-empty-coverage",
        "--allow-incomplete-coverage",
        "--show-full-coverage",
        "--no-coverage-report",
        "-w",
        "--watch",
        "-i",
        "--invert",
        "-O",
        "--only",
        "--snapshot",
        "--no-timeout",
        "-T",
        "--color",
        "--no-color",
    ],
    kept_flags: &["--ts", "--no-ts", "--esm", "--no-esm", "--jsx", "--flow"],
};

const TAPE: Table = Table {
    kept: &["-r", "--require"],
    dropped: &["-i", "--ignore", "--ignore-pattern"],
    dropped_flags: &["--only", "--no-only", "--strict"],
    kept_flags: &[],
};

const AVA: Table = Table {
    kept: &["--config", "--node-arguments"],
    dropped: &["-c", "--concurrency", "-m", "--match", "-T", "--timeout"],
    dropped_flags: &[
        "--fail-fast",
        "-t",
        "--tap",
        "-u",
        "--update-snapshots",
        "-v",
        "--verbose",
        "-w",
        "--watch",
        "--color",
        "--no-color",
        "--reset-cache",
    ],
    kept_flags: &["-s", "--serial", "--no-worker-threads"],
};

const JASMINE: Table = Table {
    kept: &[],
    dropped: &[],
    dropped_flags: &[
        "--color",
        "--no-color",
        "--fail-fast",
        "--filter",
        "--filter-path",
        "--parallel",
        "--random",
        "--reporter",
        "--seed",
        "--stop-on-failure",
        "--verbose",
    ],
    kept_flags: &["--config", "--helper", "--require"],
};

const BUN: Table = Table {
    kept: &["-r", "--preload", "--conditions", "--env-file", "-c", "--config", "-d", "--define"],
    dropped: &[
        "--timeout",
        "--coverage-reporter",
        "--coverage-dir",
        "--reporter",
        "--reporter-outfile",
        "-t",
        "--test-name-pattern",
        "--rerun-each",
        "--max-concurrency",
    ],
    dropped_flags: &[
        "--bail",
        "--coverage",
        "--only",
        "--pass-with-no-tests",
        "--todo",
        "-u",
        "--update-snapshots",
        "--watch",
        "--hot",
    ],
    kept_flags: &["--bun", "--smol"],
};

const DENO: Table = Table {
    kept: &["-c", "--config", "--env-file", "--import", "--import-map", "--lock", "--preload"],
    dropped: &["--filter", "--ignore", "--junit-path", "--reporter"],
    dropped_flags: &[
        "--clean",
        "--coverage",
        "--doc",
        "--fail-fast",
        "--parallel",
        "-p",
        "--permit-no-files",
        "-q",
        "--quiet",
        "--shuffle",
        "--watch",
    ],
    kept_flags: &["-A", "--allow-all", "--no-check", "--check", "--trace-leaks", "-P"],
};

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
