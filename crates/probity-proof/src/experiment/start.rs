//! For a test that did not begin: whether anything could begin in its place, and what is missing.

use super::staged::Version;
use crate::{
    Outcome, RunDetail, Verdict, Why,
    places::{Vault, read_text},
    repository::copies::Copies,
    runner::{Missing, Placed, Trial},
};

/// Endings of files in which a repository names what it needs.
const NAMING: [&str; 11] =
    ["cfg", "gradle", "in", "ini", "java", "kts", "lock", "mod", "py", "toml", "txt"];

/// Finds out whether tests can start in a place. If an empty test does not pass there either, it is not
/// the agent's fault. Nor is it if the test needs what the repository needs as well, and the machine
/// lacks.
pub(super) fn check_start(
    as_it_is: Version<'_>,
    placed: &Placed,
    vault: &Vault,
    verdict: &mut Verdict,
) {
    let Why::Ran(detail) = &verdict.why else { return };
    verdict.can_start = detail.began();
    if verdict.can_start.is_some() {
        return;
    }
    let Some(trial) = run_empty(as_it_is, placed, vault) else { return };
    verdict.can_start = Some(trial.outcome == Outcome::Passed);
    if trial.outcome != Outcome::Passed {
        let missing = as_it_is.runner.missing(&trial.output);
        let shown = missing.map_or(trial.detail, Missing::into_detail);
        verdict.output = trial.output;
        return verdict.end(Outcome::HarnessError, Why::Unstarted(shown));
    }
    let missing = as_it_is.runner.missing(&verdict.output);
    if let Some(missing) = missing.filter(|missing| is_named(as_it_is.copies, &missing.name)) {
        verdict.can_start = Some(false);
        verdict.end(Outcome::HarnessError, Why::Ran(Missing::into_detail(missing)));
    }
}

/// Runs a test that does nothing, if anybody knows how to write one.
pub(super) fn run_empty(as_it_is: Version<'_>, placed: &Placed, vault: &Vault) -> Option<Trial> {
    let empty = as_it_is.runner.empty_test(&as_it_is.copies.root, placed)?;
    Some(match as_it_is.build(&empty, vault, "empty") {
        Ok(staged) => staged.run().trial,
        Err(trial) => *trial,
    })
}

/// Whether a repository needs this, too, as its sources or manifests say.
fn is_named(copies: &Copies, name: &str) -> bool {
    let ending = |path: &std::path::PathBuf| Some(path.extension()?.to_str()?.to_owned());
    let is_naming = |path: &&std::path::PathBuf| {
        ending(path).is_some_and(|ending| NAMING.contains(&ending.as_str()))
    };
    copies.tree.files().iter().filter(is_naming).any(|path| {
        let text = read_text(&copies.root, path).unwrap_or_default();
        text.match_indices(name).any(|(at, _)| {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    })
}

impl Missing {
    fn into_detail(self) -> RunDetail {
        RunDetail::Missing { what: self.what, help: self.help }
    }
}
