//! The commands that run tests: from a file that the user names, from the user's own configuration, and
//! from the repository as it is at the merge base.
//!
//! **Invariant:** nothing of the reviewed change decides how it is tested.

use anyhow::Context as _;
use probity_proof::{CustomRunner, GitError, file_at_merge_base};
use probity_scope::{MOST_BYTES, read_text};

use super::settings::Settings;
use crate::{
    config::runner::{self, Runners},
    failure::Failure,
};

/// The files of a repository that may have them, and the table in them that is ours.
const FILES: [(&str, &[&str]); 2] =
    [("probity.toml", &[]), ("pyproject.toml", &["tool", "probity"])];

const WAY_OUT: &str = "each [[review.runner]] needs `match`, `command` and `report`";

/// All of them; the first that matches a file runs its tests.
pub(super) fn find(
    settings: &Settings,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<CustomRunner>> {
    if let Some(path) = &settings.runners {
        let shown = path.display();
        let text = read_text(path, MOST_BYTES).with_context(|| {
            Failure::new(format!("cannot read {shown}"), "name a file that exists with --runners")
        })?;
        let named = runner::of_text(&text, &[])
            .with_context(|| Failure::new(format!("{shown} is not valid"), WAY_OUT))?;
        if named.is_empty() {
            return Err(Failure::new(format!("{shown} has no [[review.runner]]"), WAY_OUT).into());
        }
        return Ok(named.read());
    }
    let mut all = settings.runner.read();
    all.extend(of_repository(settings, notes)?.read());
    Ok(all)
}

fn of_repository(settings: &Settings, notes: &mut Vec<String>) -> anyhow::Result<Runners> {
    for (name, tables) in FILES {
        let text = match file_at_merge_base(&settings.repo, &settings.base, name) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                notes.extend(unused(settings, &error));
                return Ok(Runners::default());
            }
        };
        let found = runner::of_text(&text, tables).with_context(|| {
            Failure::new(format!("{name} at the merge base is not valid"), WAY_OUT)
        })?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Runners::default())
}

/// What a reader has to know whose repository has such commands, and no merge base.
fn unused(settings: &Settings, error: &GitError) -> Option<String> {
    let has_any = FILES.iter().any(|(name, tables)| {
        let text = read_text(&settings.repo.join(name), MOST_BYTES).unwrap_or_default();
        runner::of_text(&text, tables).is_ok_and(|found| !found.is_empty())
    });
    let told = || {
        format!(
            "[[review.runner]] is ignored, because it is read from the merge base: {error}; name a file with --runners"
        )
    };
    has_any.then(told)
}
