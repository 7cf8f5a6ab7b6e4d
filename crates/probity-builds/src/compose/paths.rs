//! Paths of files that a Compose file names, relative to the description.

use crate::build::is_remote;

/// The directory of a path, with a slash at its end.
pub(super) fn parent(path: &str) -> &str {
    path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or_default()
}

/// The path of a directory, with a slash at its end.
pub(super) fn as_directory(path: &str) -> String {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => String::new(),
        directory => format!("{directory}/"),
    }
}

/// A path without `.` and without a directory that `..` leaves again: one name for one file.
pub(super) fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A path of an included file, relative to the description.
pub(super) fn below(directory: &str, path: &str) -> String {
    if directory.is_empty() || path.starts_with('/') || is_remote(path) {
        return path.to_owned();
    }
    match path {
        "" | "." | "./" => directory.trim_end_matches('/').to_owned(),
        _ => format!("{directory}{path}"),
    }
}
