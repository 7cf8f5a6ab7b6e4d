//! Variables and files beside a Compose or Bake file.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use probity_builds::{DescribeError, Format, LARGEST_FILE, Source, Surroundings, env_variables};
use probity_scope::{TreeFile, WithoutGit};

/// The surroundings of a description.
pub(super) struct Beside<'d> {
    directory: &'d Path,
    /// Of the `.env` file.
    variables: BTreeMap<String, String>,
}

impl<'d> Beside<'d> {
    pub(super) fn new(directory: &'d Path) -> Self {
        Self { directory, variables: BTreeMap::new() }
    }

    pub(super) fn with_env_file(directory: &'d Path) -> Self {
        let text = read_text(&directory.join(".env")).unwrap_or_default();
        Self { directory, variables: env_variables(&text) }
    }
}

impl Surroundings for Beside<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().or_else(|| self.variables.get(name).cloned())
    }

    fn read(&self, path: &str) -> Option<String> {
        read_text(&self.directory.join(path)).ok()
    }
}

/// The files beside a file of a default name that change its meaning, in their order.
pub(super) fn override_files(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let groups = Format::overrides_of(name).iter();
    let exists = |name: &&str| Some(path.with_file_name(name)).filter(|path| path.is_file());
    groups.filter_map(|names| names.iter().find_map(exists)).collect()
}

/// Reads a description. Its name says whether a Bake file is JSON.
pub(super) fn read(path: &Path, format: Format) -> io::Result<Source> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let format = Format::of_name(&name).unwrap_or(format);
    Ok(Source { text: read_text(path)?, name, format })
}

/// Reads a file of ordinary size; a device or a FIFO would make us wait.
fn read_text(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if usize::try_from(metadata.len()).is_ok_and(|size| size > LARGEST_FILE) {
        return Err(io::Error::other(DescribeError::TooLarge));
    }
    // Errors quote the text, and a link of the repository must not choose another file for that.
    let file = TreeFile::find(path, WithoutGit::OwnDirectory).map_err(io::Error::other)?;
    let mut text = String::new();
    file.open()?.take(LARGEST_FILE as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
