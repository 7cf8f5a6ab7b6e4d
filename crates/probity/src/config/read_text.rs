//! The text of a configuration file, or why there is none.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::fs::FileTypeExt as _,
    path::Path,
};

use probity_scope::{TreeError, TreeFile, WithoutGit, open_file};

use super::error::{ConfigError, Problem, line_and_column};

/// No configuration is larger; what is, was not written by hand.
const LARGEST_FILE: u64 = 1024 * 1024;

/// How a file came to be read, and so where its name may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileReach {
    /// By its name in a repository. What it leads to must lie in the same tree: errors show lines of
    /// it, and a repository must not show those of another file.
    Found,
    /// The user named it, or it is the user's own. It may also be a pipe that is open already:
    /// `/dev/stdin`, or what a shell makes of `<(…)`.
    Named,
}

/// Reads a file of ordinary size. A FIFO might never be written to.
pub(crate) fn read_text(
    path: &Path,
    shown: &Path,
    reach: FileReach,
) -> Result<String, ConfigError> {
    let shown = shown.to_path_buf();
    let unreadable = |error: io::Error| ConfigError::Unreadable {
        path: shown.clone(),
        reason: error.to_string(),
    };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(ConfigError::Directory { path: shown });
    }
    let is_open_already = path.starts_with("/dev") || path.starts_with("/proc");
    if metadata.file_type().is_fifo() && !is_open_already {
        return Err(ConfigError::Fifo { path: shown });
    }
    if !metadata.is_file() && reach == FileReach::Found {
        return Err(ConfigError::Special { path: shown });
    }
    let file = match reach {
        FileReach::Named => open_file(path),
        FileReach::Found => match TreeFile::find(path, WithoutGit::OwnDirectory) {
            Ok(file) => file.open(),
            Err(TreeError::Io(error)) => Err(error),
            Err(TreeError::Outside { .. } | TreeError::GitDirectory(_)) => {
                return Err(ConfigError::Outside { path: shown });
            }
        },
    };
    let mut bytes = Vec::new();
    file.map_err(unreadable)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ConfigError::TooLarge { path: shown, limit: LARGEST_FILE });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..valid).unwrap_or_default());
        let (line, column) = line_and_column(&before, valid);
        let message = "not valid UTF-8".to_owned();
        ConfigError::Invalid { problems: vec![Problem::new(&shown, line, column, message)] }
    })
}
