//! Why a test that shows nothing shows nothing: one more run tells whether it wants the network, and
//! others tell whether it writes where no test may.
//!
//! The output of a run only suggests files. A file counts if the test writes it once it can.

use std::path::{Component, Path, PathBuf};

use super::{prove::Laboratory, staged::Staged};
use crate::{
    Exploit, ExploitFault, ExploitVerdict, Outcome, Why,
    places::Vault,
    runner::{
        Placed,
        context::{OWN, SYSTEM},
        witness::{Shape, Witness},
    },
};

/// Files of an output that are tried. The failure is at its end, and so the last ones count.
const MOST_PATHS: usize = 8;
const LONGEST_PATH: usize = 400;

/// Where every test may write, or where nothing can be mounted.
const APART: [&str; 6] = ["/tmp", "/var", "/run", "/home/agent", "/proc", "/dev"];

impl Laboratory<'_> {
    /// A reason that is more exact than the verdict's own, if the sandbox is that reason.
    pub(super) fn refused(
        &self,
        exploit: &Exploit,
        verdict: &ExploitVerdict,
        vault: &Vault,
    ) -> Option<ExploitFault> {
        // What a run wants is seen at places that only a sandbox can make for it.
        if !self.context.moves_paths() {
            return None;
        }
        let never_ran = |outcome| matches!(outcome, Outcome::BuildError | Outcome::HarnessError);
        let is_control = match verdict.fault.as_ref()? {
            ExploitFault::FailsAlways | ExploitFault::NoEntryPoint => false,
            ExploitFault::NotShown
                if matches!(verdict.exploit.why, Why::Ran(_))
                    && never_ran(verdict.exploit.outcome) =>
            {
                false
            }
            ExploitFault::Control(outcome)
                if *outcome == Outcome::Failed || never_ran(*outcome) =>
            {
                true
            }
            _ => return None,
        };
        let (attack, control) = self.placed(exploit).ok()?;
        let placed = if is_control { control } else { attack };
        let staged = self.as_it_is().build(&placed, vault, "refused").ok()?;
        find(&staged, &vault.fresh_vault("witness").ok()?)
    }
}

fn find(staged: &Staged<'_>, vault: &Vault) -> Option<ExploitFault> {
    let witness = Witness::new(vault.vault("network").ok()?).ok()?;
    let (trial, is_refused) = staged.run_witnessed(&witness).ok()?;
    if trial.outcome == Outcome::Passed {
        return None;
    }
    if is_refused {
        return Some(ExploitFault::NeedsNetwork);
    }
    let paths = outside(&trial.output, staged.placed);
    for shape in Shape::ALL {
        let mut witness = Witness::new(vault.vault(&format!("{shape:?}")).ok()?).ok()?;
        witness.watch(&paths, shape).ok()?;
        if !witness.has_places() || staged.run_witnessed(&witness).is_err() {
            continue;
        }
        if let Some(path) = witness.written() {
            return Some(ExploitFault::WritesOutside(path.display().to_string()));
        }
    }
    None
}

/// Files that an output names, and that are neither the test's nor the system's.
fn outside(output: &str, placed: &Placed) -> Vec<PathBuf> {
    let is_end = |c: char| c.is_whitespace() || "'\"`()[]{}<>,;:=|".contains(c);
    let repo = Path::new("/proof/repo").join(&placed.directory);
    let mut paths: Vec<PathBuf> = Vec::new();
    for word in output.split(is_end).rev() {
        let word = word.trim_end_matches('.');
        let is_path = word.starts_with('/') || word.starts_with("../");
        if !is_path || word.len() > LONGEST_PATH {
            continue;
        }
        let path = normal(&repo.join(word));
        let is_below = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
        let is_ours = path.starts_with(OWN) && path.parent() != Some(Path::new(OWN));
        if path.parent().is_none() || is_below(&SYSTEM) || is_below(&APART) || is_ours {
            continue;
        }
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths.truncate(MOST_PATHS);
    paths
}

/// A path without dots.
fn normal(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                made.pop();
            }
            Component::CurDir => {}
            other => made.push(other),
        }
    }
    made
}
