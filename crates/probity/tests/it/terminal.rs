//! Text on a terminal: colors, folded lines, counts while work goes on, and `--quiet`.

use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::{
    ai_fix::{GO, turn},
    binary::{Run, directory, named, probity},
};

const BAD: &str = "FROM debian\nRUN sudo apt-get update && apt-get install -y some-package-with-a-long-name \
                   another-package curl wget\nRUN curl https://example.org/install.sh | sh\nWORKDIR srv\n\
                   MAINTAINER someone <someone@example.org>\nENV KEY value\n";

fn project() -> TempDir {
    directory(&[
        ("Dockerfile", BAD),
        ("probity.toml", "[check]\npreset = \"strict\"\n"),
        ("broken/probity.toml", "[check]\npresett = \"strict\"\n"),
        ("broken/Dockerfile", "FROM scratch\n"),
        ("bin/empty", ""),
    ])
}

/// A run that finds no tools on this machine, and keeps its state in the project.
fn run_in(dir: &Path, args: &[&str]) -> Run {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    probity().dir(dir).env("PATH", &at("bin")).env("HOME", &at("home")).args(args)
}

/// Commands whose text is for people, and the exit code of each.
const COMMANDS: &[(i32, &[&str])] = &[
    (0, &[]),
    (0, &["--help"]),
    (0, &["check", "--help"]),
    (0, &["review", "--help"]),
    (0, &["audit", "--help"]),
    (0, &["acp", "--help"]),
    (0, &["exec", "--help"]),
    (0, &["help", "config"]),
    (0, &["rules"]),
    (0, &["explain", "DL3008"]),
    (0, &["explain", "SC2086"]),
    (0, &["doctor"]),
    (0, &["names", "list"]),
    (0, &["config", "variables"]),
    (0, &["audit", "skills", "list"]),
    (1, &["check", "Dockerfile"]),
    (1, &["check", "-v", "Dockerfile"]),
    (1, &["check", "--statistics", "Dockerfile"]),
    (0, &["check", "--list-rules", "Dockerfile"]),
    (2, &["check", "broken/Dockerfile"]),
    (2, &["check", "--fxi"]),
    (2, &["check", "no-such-file"]),
    (2, &["explain", "DL9999"]),
    (2, &["review", "--repo", "no-such-directory"]),
    (1, &["audit", "--provider", "openai", "--endpoint", "https://example.org", "--model", "m"]),
    (0, &["review", "history"]),
    (0, &["review", "trend"]),
    (0, &["review", "verdicts"]),
];

/// Lines that are wider than the screen, except single words and code, which stay whole.
fn too_wide(text: &str, width: usize) -> Vec<&str> {
    let mut is_code = false;
    let is_prose = |line: &&str| {
        is_code ^= line.starts_with("```");
        !is_code
    };
    let is_wide = |line: &&str| line.chars().count() > width;
    let has_words = |line: &&str| line.split_whitespace().count() > 1;
    let is_excerpt = |line: &&str| {
        let (number, _) = line.split_once(" | ").unwrap_or(("-", ""));
        number.trim().chars().all(|c| c.is_ascii_digit())
    };
    let lines = text.lines().filter(is_prose).filter(is_wide).filter(has_words);
    lines.filter(|line| !is_excerpt(line)).collect()
}

/// The same words in the same order, however the lines are broken.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn examples_have_their_descriptions_below_at_60_columns() {
    let run = probity().env("COLUMNS", "60").args(["review", "fix", "--help"]);
    let help = run.run().code(0).stdout;
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    let (examples, _) = examples.split_once("\n\n").unwrap();
    insta::assert_snapshot!(examples, @r"
    probity review fix --dry-run
        show what would change
    probity review fix ISS-001
        apply one fix
    probity review fix --commit
        apply all fixes, one commit each with its test
    probity review fix --branch fix/review
        the same, on a new branch
    ");
}

#[test]
fn lines_are_folded_between_words_at_60_columns() {
    let dir = project();
    for &(code, args) in COMMANDS {
        let wide = run_in(dir.path(), args).run().code(code);
        let narrow = run_in(dir.path(), args).env("COLUMNS", "60").run().code(code);
        for (stream, wide, narrow) in
            [("stdout", &wide.stdout, &narrow.stdout), ("stderr", &wide.stderr, &narrow.stderr)]
        {
            assert_eq!(too_wide(narrow, 60), [""; 0], "{args:?} {stream}:\n{narrow}");
            // An excerpt shows less of a long line, and its marks have other places.
            if !args.starts_with(&["check"]) || code == 2 || args.len() > 2 && args[1] == "--help" {
                assert_eq!(words(narrow), words(wide), "{args:?} {stream}");
            }
        }
    }
}

#[test]
fn a_terminal_has_its_own_width_and_a_pipe_has_none() {
    let dir = project();
    let narrow = run_in(dir.path(), &["rules"]).in_terminal_of(60).run().code(0).stdout;
    let narrow = anstream::adapter::strip_str(&narrow).to_string();
    assert_eq!(too_wide(&narrow, 60), [""; 0], "{narrow}");
    let piped = run_in(dir.path(), &["rules"]).run().code(0).stdout;
    assert!(piped.lines().any(|line| line.chars().count() > 100), "a pipe keeps its lines whole");
    assert_eq!(words(&narrow), words(&piped));
}

/// Commands that color their text.
const COLORED: &[(i32, &[&str])] = &[
    (1, &["check", "Dockerfile"]),
    (1, &["check", "--statistics", "Dockerfile"]),
    (1, &["check", "--diff", "--fix-unsafe", "Dockerfile"]),
    (0, &["rules"]),
    (0, &["explain", "DL3008"]),
    (0, &["doctor"]),
    (0, &["--help"]),
    (2, &["explain", "DL9999"]),
];

#[test]
fn colors_follow_the_flag_and_the_variables_and_change_no_word() {
    let dir = project();
    for &(code, args) in COLORED {
        let shown = |more: &[&str], variables: &[(&str, &str)]| {
            let run = run_in(dir.path(), args).args(more);
            let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value));
            let output = run.run().code(code);
            output.stdout + &output.stderr
        };
        let plain = shown(&[], &[]);
        assert!(!plain.contains('\u{1b}'), "{args:?}: a pipe has no colors");
        for (more, variables) in [
            (&["--color", "always"][..], &[][..]),
            (&[], &[("FORCE_COLOR", "1")]),
            (&[], &[("CLICOLOR_FORCE", "1")]),
        ] {
            // A usage error and help come before the flags are read.
            if args[0] == "--help" && !more.is_empty() {
                continue;
            }
            let colored = shown(more, variables);
            assert!(colored.contains("\u{1b}["), "{args:?} {more:?} {variables:?}");
            assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain, "{args:?}");
        }
        for (more, variables) in [
            (&["--color", "never"][..], &[("FORCE_COLOR", "1")][..]),
            (&["--no-color"], &[("CLICOLOR_FORCE", "1")]),
            (&[], &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]),
        ] {
            if args[0] == "--help" && !more.is_empty() {
                continue;
            }
            assert_eq!(shown(more, variables), plain, "{args:?} {more:?} {variables:?}");
        }
    }
}

/// Two files and an agent that takes its time.
fn slow_agent() -> TempDir {
    let nothing = turn(&json!({ "findings": [] }).to_string());
    directory(&[("a.Dockerfile", GO), ("b.Dockerfile", GO), ("agent.ndjson", &nothing)])
}

#[test]
fn long_work_is_counted_on_a_terminal_and_nowhere_else() {
    let run = |name: &str, value: &str| {
        let dir = slow_agent();
        let agent = dir.path().join("agent.ndjson");
        let command = format!("{} agent replay {}", env!("CARGO_BIN_EXE_probity"), agent.display());
        let home = dir.path().join("home").to_str().unwrap().to_owned();
        let run = probity().dir(&dir).env("HOME", &home).env("TERM", "xterm").env(name, value);
        (run.args(["check", "--ai-detect", "--jobs", "1", "--acp-command", &command]), dir)
    };
    let (watched, _dir) = run("CI", "");
    let watched = watched.in_terminal_of(100).run();
    for count in ["0 of 2 files", "1 of 2 files"] {
        assert!(watched.stdout.contains(count), "{count}: {:?}", watched.stdout);
    }
    let (quiet, _dir) = run("CI", "");
    let (in_ci, _ci_dir) = run("CI", "true");
    let (piped, _piped_dir) = run("CI", "");
    for output in
        [quiet.args(["-q"]).in_terminal_of(100).run(), in_ci.in_terminal_of(100).run(), piped.run()]
    {
        let all = output.stdout + &output.stderr;
        assert!(!all.contains(" of 2 files  "), "{all:?}");
        assert!(!all.contains("asking probity"), "{all:?}");
    }
}

#[test]
fn quiet_prints_findings_and_errors_and_nothing_else() {
    let dir = project();
    let help = probity().args(["check", "--help"]).run().code(0).stdout;
    assert!(help.contains("Print results and errors only: no summaries, warnings or progress"));
    let loud = run_in(dir.path(), &["check", "Dockerfile"]).run().code(1);
    let quiet = run_in(dir.path(), &["check", "-q", "Dockerfile"]).run().code(1);
    let summary = loud.stdout.find("\n\n8 findings in").or(loud.stdout.rfind("\n\n")).unwrap();
    assert_eq!(quiet.stdout, loud.stdout[..summary + 2], "only the summary is missing");
    assert_eq!(quiet.stderr, "");
    let clean = directory(&[("Dockerfile", "FROM debian:12\nUSER 1000\n")]);
    let output = probity().dir(&clean).args(["check", "-q"]).run().code(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    let missing = run_in(dir.path(), &["check", "-q", "no-such-file"]).run().code(2);
    insta::assert_snapshot!(missing.stderr, @"
    error: `no-such-file` does not exist
      help: pass an existing file; without a path, probity checks every Dockerfile below this directory
    ");
    let fixed = run_in(dir.path(), &["check", "-q", "--fix", "Dockerfile"]).run();
    assert_eq!(fixed.stderr, "", "what was fixed is a summary");
    // Another name has its own flags.
    let tally = named("tally").dir(&dir).args(["lint", "-q"]).run().code(1);
    insta::assert_snapshot!(tally.stderr, @"
    error: unexpected argument '-q' found

      tip: to pass '-q' as a value, use '-- -q'

    Usage: tally lint [OPTIONS] [PATH]...

    For more information, try '--help'.
    ");
}
