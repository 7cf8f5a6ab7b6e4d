//! The fix that comes with a claim, applied to a copy, strictly or not at all.

use std::fs;

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};

use super::{comments, placement, site::Site};

/// Applies a unified diff that mends this file. All of its files are worked out before the first is
/// written.
pub(super) fn apply(site: &Site, patch: &str, flagged: &str) -> Result<(), String> {
    let of_git = patch.lines().any(|line| line.starts_with("diff --git "));
    let options = if of_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut changed = Vec::new();
    for file in PatchSet::parse(patch, options) {
        let file = file.map_err(|error| error.to_string())?;
        let (path, old) = match file.operation() {
            FileOperation::Modify { original, modified } => {
                let path = stripped(original, "a/");
                if path != stripped(modified, "b/") {
                    return Err(format!("it moves {path}, which a fix need not"));
                }
                let text = fs::read_to_string(inside(site, path)?);
                (path.to_owned(), text.map_err(|error| format!("{path}: {error}"))?)
            }
            FileOperation::Create(path) => {
                let path = stripped(path, "b/");
                if inside(site, path)?.exists() {
                    return Err(format!("it creates {path}, which exists"));
                }
                (path.to_owned(), String::new())
            }
            _ => return Err("it deletes, renames or copies files".to_owned()),
        };
        let hunks = file.patch().as_text().ok_or_else(|| format!("{path} is binary"))?;
        let new = diffy::apply(&old, hunks).map_err(|error| format!("{path}: {error}"))?;
        if path == flagged && comments::is_same_code(&path, &old, &new) {
            return Err(format!("it changes nothing but comments in {flagged}"));
        }
        changed.push((path, new));
    }
    if changed.is_empty() {
        return Err("it changes no file".to_owned());
    }
    // What makes the test pass elsewhere says nothing about the code that is accused.
    if !changed.iter().any(|(path, _)| path == flagged) {
        return Err(format!("it leaves {flagged} as it is"));
    }
    for (path, text) in changed {
        site.write(&path, &text)?;
    }
    Ok(())
}

fn stripped<'a>(path: &'a str, prefix: &str) -> &'a str {
    path.strip_prefix(prefix).unwrap_or(path)
}

fn inside(site: &Site, path: &str) -> Result<std::path::PathBuf, String> {
    placement::inside(site, path).ok_or_else(|| format!("{path:?} is not a path inside"))
}
