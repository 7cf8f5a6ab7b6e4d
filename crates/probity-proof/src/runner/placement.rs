//! Where a new test may be: inside the copy, not over a file, and named as tests are.

use std::path::{Component, Path, PathBuf};

use probity_scope::{HeldDirectory, HeldKind};

use crate::{Claim, Refusal, claim::FlaggedLines};

/// More than any test has, and a bound for what is parsed and stored.
const MOST_CODE: usize = 512 * 1024;

/// Checks the parts of a claim that are the same in every language.
pub(crate) fn flagged(repo: &HeldDirectory, claim: &Claim) -> Result<FlaggedLines, Refusal> {
    if claim.test_code.trim().is_empty() {
        return Err(Refusal::NoTest);
    }
    if claim.test_code.len() > MOST_CODE {
        return Err(Refusal::TestTooLarge { limit: MOST_CODE });
    }
    if claim.test_code.contains('\0') {
        return Err(Refusal::NulInTest);
    }
    let file =
        relative(&claim.file).ok_or_else(|| Refusal::FlaggedPathOutside(claim.file.clone()))?;
    if !repo.is_file(&file) {
        return Err(Refusal::FlaggedFileMissing(claim.file.clone()));
    }
    let last = claim.end_line.unwrap_or(claim.line).max(claim.line);
    Ok(FlaggedLines { file: slashes(&file), first: claim.line, last })
}

/// The directory that a claim's test goes into. `is_test` knows how a language names its tests.
pub(crate) fn directory(
    repo: &HeldDirectory,
    claim: &Claim,
    flagged: &FlaggedLines,
    is_test: impl Fn(&str) -> bool,
) -> Result<PathBuf, Refusal> {
    let Some(wanted) = claim.test_file.as_deref().filter(|wanted| !wanted.is_empty()) else {
        return Ok(Path::new(&flagged.file).parent().unwrap_or(Path::new("")).to_owned());
    };
    let path = relative(wanted).ok_or_else(|| Refusal::TestPathOutside(wanted.to_owned()))?;
    let parent = path.parent().unwrap_or(Path::new(""));
    // The parents come first: through a link even looking would be looking elsewhere.
    if repo.is_blocked(parent) {
        return Err(Refusal::TestPathThroughLink(wanted.to_owned()));
    }
    if repo.kind(&path).is_some() {
        return Err(Refusal::TestFileExists(wanted.to_owned()));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    if !name.as_deref().is_some_and(is_test) {
        return Err(Refusal::NotATestFileName(wanted.to_owned()));
    }
    Ok(parent.to_owned())
}

/// Whether a path is that of a file, or of nothing, and no link is on the way to it.
pub(crate) fn is_plain(repo: &HeldDirectory, path: &str) -> bool {
    let Some(path) = relative(path) else { return false };
    let is_blocked = path.parent().is_some_and(|parent| repo.is_blocked(parent));
    !is_blocked && repo.kind(&path) != Some(HeldKind::Link)
}

/// A path in a directory that does not exist yet.
pub(crate) fn unused(
    repo: &HeldDirectory,
    directory: &Path,
    name: impl Fn(&str) -> String,
) -> String {
    let mut path = directory.join(name(""));
    for number in 2.. {
        if repo.kind(&path).is_none() {
            break;
        }
        path = directory.join(name(&number.to_string()));
    }
    slashes(&path)
}

/// The letters and digits of a claim's name, for the names of its files and functions.
pub(crate) fn plain(id: &str) -> String {
    let plain: String = id.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    if plain.is_empty() { "claim".to_owned() } else { plain }
}

/// A relative path without dots that has a name.
pub(crate) fn relative(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if name != ".git" => plain.push(name),
            _ => return None,
        }
    }
    let whole = !plain.as_os_str().is_empty() && !path.to_string_lossy().contains('\0');
    whole.then_some(plain)
}

pub(crate) fn slashes(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
