//! Trust in a repository's configuration: in its very bytes, so that a change asks again.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use probity_sandbox::Root;
use probity_scope::{MOST_BYTES, TreeFile, WithoutGit, read_text};
use probity_seat::{State, hex};

/// Whether the user trusts a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The workspace has no such file.
    NoFile,
    /// Never given, or given to another text.
    NotGiven,
    Given,
}

impl Trust {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoFile => "no file",
            Self::NotGiven => "not trusted",
            Self::Given => "trusted",
        }
    }
}

/// A file of a repository that counts only if the user trusts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryFile {
    /// Of containai. Only the root's: one root has one container, whichever directory one starts in.
    Configuration,
    /// `devcontainer.json`.
    Devcontainer,
}

/// A configuration has a few lines; whatever is larger is something else.
const LARGEST: u64 = 1 << 20;

const CONFIGURATION: &str = ".containai/config.toml";

/// Where editors look for a `devcontainer.json`, in this order.
const DEVCONTAINERS: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// Why it cannot be told or noted whether a file is trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not a file of at most 1 MiB", path.display())]
    NotAFile { path: PathBuf },
    #[error("cannot make the directory {}", path.display())]
    NoDirectory { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
}

impl RepositoryFile {
    /// The file of a workspace, whether or not it is there.
    #[must_use]
    pub fn path(self, root: &Path) -> PathBuf {
        match self {
            Self::Configuration => root.join(CONFIGURATION),
            Self::Devcontainer => {
                let [usual, other] = DEVCONTAINERS.map(|name| root.join(name));
                if !usual.exists() && other.exists() { other } else { usual }
            }
        }
    }

    /// Whether a path may be that of this file in some workspace.
    #[must_use]
    pub fn is_at(self, path: &Path) -> bool {
        match self {
            Self::Configuration => path.ends_with(CONFIGURATION),
            Self::Devcontainer => DEVCONTAINERS.iter().any(|name| path.ends_with(name)),
        }
    }

    /// # Errors
    ///
    /// Fails if the file is there and cannot be read.
    pub fn trust(self, root: &Root, state: &State) -> Result<Trust, TrustError> {
        let Some(text) = self.text(&root.path)? else { return Ok(Trust::NoFile) };
        let noted = read_text(&self.note(root, state), MOST_BYTES).unwrap_or_default();
        let is_noted = noted.trim() == hex(text.as_bytes());
        Ok(if is_noted { Trust::Given } else { Trust::NotGiven })
    }

    /// The text of a regular file of a sensible size in its own tree: errors show parts of it. A pipe
    /// of that name could keep us waiting.
    ///
    /// # Errors
    ///
    /// Fails if the file is there and cannot be read.
    pub fn text(self, root: &Path) -> Result<Option<String>, TrustError> {
        let path = self.path(root);
        let unreadable = |source| TrustError::Unreadable { path: path.clone(), source };
        let metadata = match fs::metadata(&path) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            other => other.map_err(unreadable)?,
        };
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Err(TrustError::NotAFile { path });
        }
        let file = TreeFile::find(&path, WithoutGit::OwnDirectory)
            .map_err(|error| unreadable(io::Error::other(error)))?;
        let mut text = String::new();
        let file = file.open().map_err(unreadable)?;
        file.take(LARGEST).read_to_string(&mut text).map_err(unreadable)?;
        Ok(Some(text))
    }

    /// Trusts the file with this text, and with no other.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be noted.
    pub fn keep_trust(self, root: &Root, state: &State, text: &str) -> Result<(), TrustError> {
        let note = self.note(root, state);
        if let Some(directory) = note.parent() {
            let failed = |source| TrustError::NoDirectory { path: directory.to_owned(), source };
            fs::create_dir_all(directory).map_err(failed)?;
        }
        let failed = |source| TrustError::Unwritten { path: note.clone(), source };
        fs::write(&note, hex(text.as_bytes())).map_err(failed)
    }

    /// Where it stands which text is trusted.
    fn note(self, root: &Root, state: &State) -> PathBuf {
        let key = State::key(root);
        state.directory.join("trust").join(match self {
            Self::Configuration => key.to_string(),
            Self::Devcontainer => format!("{key}-devcontainer"),
        })
    }
}
