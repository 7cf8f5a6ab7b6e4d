//! Whether files lie below a directory.

use std::path::Path;

/// Whether the files are below a directory, as far as links tell. What a repository's file says about a
/// whole run counts only if the run is about that repository alone. Files need not exist.
pub fn are_below<P: AsRef<Path>>(directory: &Path, files: impl IntoIterator<Item = P>) -> bool {
    let Ok(directory) = Path::new(".").join(directory).canonicalize() else { return false };
    files.into_iter().all(|file| {
        let parent = Path::new(".").join(file.as_ref().parent().unwrap_or(file.as_ref()));
        parent.canonicalize().is_ok_and(|parent| parent.starts_with(&directory))
    })
}
