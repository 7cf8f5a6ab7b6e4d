//! Variables and files beside a Compose or Bake file.

use std::{
    collections::BTreeMap,
    env,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use probity_builds::{DescribeError, Format, LARGEST_FILE, Source, Surroundings, env_variables};
use probity_lint::names_a_secret;
use probity_scope::{TreeError, TreeFile};
use probity_secrets::{Detector, Options};

/// What a secret of the user becomes. Messages quote what a description makes of variables, and its
/// author may glue anything to them, where nobody could mask the value any more.
const HIDDEN: &str = "hidden-secret";

/// The surroundings of a description: what lies in its tree.
pub(super) struct Beside<'d> {
    directory: &'d Path,
    top: &'d Path,
    /// Of the `.env` file.
    variables: BTreeMap<String, String>,
}

impl<'d> Beside<'d> {
    pub(super) fn new(directory: &'d Path, top: &'d Path) -> Self {
        Self { directory, top, variables: BTreeMap::new() }
    }

    pub(super) fn with_env_file(directory: &'d Path, top: &'d Path) -> Self {
        let mut beside = Self::new(directory, top);
        beside.variables = env_variables(&beside.read(".env").unwrap_or_default());
        beside
    }
}

impl Surroundings for Beside<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let value = env::var(name).ok().or_else(|| self.variables.get(name).cloned())?;
        let is_secret = !value.is_empty() && (names_a_secret(name) || is_secret(name, &value));
        Some(if is_secret { HIDDEN.to_owned() } else { value })
    }

    fn read(&self, path: &str) -> Option<String> {
        let path = self.directory.join(path);
        match read_text(&path, self.top) {
            Ok(text) => Some(text),
            Err(ReadError::Tree(error @ TreeError::Outside { .. })) => {
                tracing::warn!("{} is not read: {error}", path.display());
                None
            }
            Err(_) => None,
        }
    }
}

/// Whether a value shows what it is, whatever its name.
fn is_secret(name: &str, value: &str) -> bool {
    static DETECTOR: LazyLock<Option<Detector>> =
        LazyLock::new(|| Detector::new(&Options::default()).ok());
    DETECTOR.as_ref().is_none_or(|known| !known.find(&format!("{name}={value}")).is_empty())
}

/// The files beside a file of a default name that change its meaning, in their order.
pub(super) fn override_files(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let groups = Format::overrides_of(name).iter();
    let exists = |name: &&str| Some(path.with_file_name(name)).filter(|path| path.is_file());
    groups.filter_map(|names| names.iter().find_map(exists)).collect()
}

/// Reads a description. Its name says whether a Bake file is JSON.
pub(super) fn read(path: &Path, top: &Path, format: Format) -> Result<Source, ReadError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let format = Format::of_name(&name).unwrap_or(format);
    Ok(Source { text: read_text(path, top)?, name, format })
}

/// Why a file beside a description, or the description itself, is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    TooLarge(DescribeError),
}

/// Reads a file of ordinary size. Messages quote the text, and neither a link nor a path of the
/// repository may choose a file outside of its tree for that.
fn read_text(path: &Path, top: &Path) -> Result<String, ReadError> {
    let file = TreeFile::find_in(path, top)?.open()?;
    let mut text = String::new();
    file.take(LARGEST_FILE as u64 + 1).read_to_string(&mut text)?;
    if text.len() > LARGEST_FILE {
        return Err(ReadError::TooLarge(DescribeError::TooLarge));
    }
    Ok(text)
}
