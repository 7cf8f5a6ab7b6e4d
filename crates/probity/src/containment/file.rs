//! The bytes of a repository's configuration file, for whoever trusts them.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use anyhow::Context as _;
use probity_scope::{TreeFile, WithoutGit};

/// A configuration has a few lines; whatever is larger is something else.
const LARGEST: u64 = 1 << 20;

/// The text of a regular file of a sensible size in its own tree: errors show parts of it. A pipe of
/// that name could keep us waiting.
pub(super) fn text(path: &Path) -> anyhow::Result<Option<String>> {
    let unreadable = || format!("cannot read {}", path.display());
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        other => other.with_context(unreadable)?,
    };
    anyhow::ensure!(
        metadata.is_file() && metadata.len() <= LARGEST,
        "{} is not a file of at most 1 MiB",
        path.display()
    );
    let file = TreeFile::find(path, WithoutGit::OwnDirectory).with_context(unreadable)?;
    let mut text = String::new();
    let file = file.open().with_context(unreadable)?;
    file.take(LARGEST).read_to_string(&mut text).with_context(unreadable)?;
    Ok(Some(text))
}
