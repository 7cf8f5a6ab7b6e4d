//! `--changed`: which sources differ from the commit that a branch began at.

use std::path::Path;

use probity_text::visible;

use crate::failure::Failure;

/// The sources that are not the same as at the merge base of `base` and the current commit. Files
/// that git does not know yet, and changes that are not committed, count too.
pub(super) fn since(root: &Path, base: &str, sources: &[String]) -> anyhow::Result<Vec<String>> {
    let changed = probity_proof::changed_files(root, base, sources).map_err(|error| {
        let what = format!("cannot find the changes since {}", visible::line(base));
        let way_out = "name a branch, tag or commit that this clone has, or leave out --changed";
        anyhow::Error::new(error).context(Failure::new(what, way_out))
    })?;
    if changed.is_empty() {
        tracing::warn!("no source file changed since {}: no skill is run", visible::line(base));
    }
    Ok(changed)
}
