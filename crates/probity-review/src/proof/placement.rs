//! Where a new test may be: inside the copy, not over a file, and named as tests are.

use std::path::{Component, Path, PathBuf};

use super::{
    Claim,
    runner::{Flagged, Refusal},
    site::Site,
    untrusted::through_link,
};

/// More than any test has, and a bound for what is parsed and stored.
const MOST_CODE: usize = 512 * 1024;

/// Checks the parts of a claim that are the same in every language.
pub(super) fn flagged(site: &Site, claim: &Claim) -> Result<Flagged, Refusal> {
    if claim.test_code.trim().is_empty() {
        return Err(Refusal::not_run("the claim comes without a test"));
    }
    if claim.test_code.len() > MOST_CODE {
        return Err(Refusal::rejected(format!("the test has more than {MOST_CODE} bytes")));
    }
    if claim.test_code.contains('\0') {
        return Err(Refusal::rejected("the test holds a NUL byte"));
    }
    let file = relative(&claim.file).ok_or_else(|| {
        Refusal::rejected(format!("the flagged file {:?} is not a path inside", claim.file))
    })?;
    if !site.repo.join(&file).is_file() {
        return Err(Refusal::rejected(format!("the flagged file {:?} does not exist", claim.file)));
    }
    let last = claim.end_line.unwrap_or(claim.line).max(claim.line);
    Ok(Flagged { file: slashes(&file), first: claim.line, last })
}

/// The directory that a claim's test goes into. `is_test` knows how a language names its tests.
pub(super) fn directory(
    site: &Site,
    claim: &Claim,
    flagged: &Flagged,
    is_test: impl Fn(&str) -> bool,
) -> Result<PathBuf, Refusal> {
    let Some(wanted) = claim.test_file.as_deref().filter(|wanted| !wanted.is_empty()) else {
        return Ok(Path::new(&flagged.file).parent().unwrap_or(Path::new("")).to_owned());
    };
    let path = relative(wanted).ok_or_else(|| {
        Refusal::rejected(format!("the test's path {wanted:?} is not a path inside"))
    })?;
    let parent = path.parent().unwrap_or(Path::new(""));
    // The parents come first: through a link even looking would be looking elsewhere.
    if through_link(&site.repo, parent) {
        return Err(Refusal::rejected(format!("{wanted:?} goes through a link or a file")));
    }
    if site.repo.join(&path).symlink_metadata().is_ok() {
        return Err(Refusal::rejected(format!("the test's path {wanted:?} is an existing file")));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    if !name.as_deref().is_some_and(is_test) {
        return Err(Refusal::rejected(format!("{wanted:?} is not the name of a test file")));
    }
    Ok(parent.to_owned())
}

/// A path of the copy that no link leads out of.
pub(super) fn inside(site: &Site, path: &str) -> Option<PathBuf> {
    let path = relative(path)?;
    let file = site.repo.join(&path);
    let linked = through_link(&site.repo, path.parent()?) || file.is_symlink();
    (!linked).then_some(file)
}

/// A path in a directory that does not exist yet.
pub(super) fn unused(site: &Site, directory: &Path, name: impl Fn(&str) -> String) -> String {
    let mut path = directory.join(name(""));
    for number in 2.. {
        if site.repo.join(&path).symlink_metadata().is_err() {
            break;
        }
        path = directory.join(name(&number.to_string()));
    }
    slashes(&path)
}

/// The letters and digits of a claim's name, for the names of its files and functions.
pub(super) fn plain(id: &str) -> String {
    let plain: String = id.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    if plain.is_empty() { "claim".to_owned() } else { plain }
}

/// A relative path without dots that has a name.
fn relative(path: &str) -> Option<PathBuf> {
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

pub(super) fn slashes(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
