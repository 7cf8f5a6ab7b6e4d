//! The parser of command lines stays in `cli`: commands take option values, and know no flags.

use super::{Problem, workspace::Workspace};

/// Where the rule holds: the parts of the binary below the command line.
const PARTS: &[&str] = &["commands", "config", "containment", "report"];

/// What must not be named there.
const BANNED: &[&str] =
    &["clap::", "use clap", "clap_complete", "clap_mangen", "crate::cli", "cli::"];

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in &workspace.sources {
        let below = source.path.strip_prefix("crates/probity/src/");
        let part = below.and_then(|path| path.split(['/', '.']).next());
        if !part.is_some_and(|part| PARTS.contains(&part)) {
            continue;
        }
        for (index, line) in source.text.lines().enumerate() {
            let code = line.trim_start();
            let is_comment = code.starts_with("//");
            if let Some(word) = BANNED.iter().find(|word| !is_comment && code.contains(**word)) {
                problems.push(Problem::new(
                    &source.path,
                    index + 1,
                    format!("names `{word}`"),
                    "flags are parsed in crates/probity/src/cli, which hands option values down",
                ));
            }
        }
    }
    problems
}
