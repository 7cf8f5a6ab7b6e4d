//! Paths that a repository's file names: they begin at the directory of that file and stay below it.

use std::path::{Component, Path, PathBuf};

use super::Guard;
use crate::config::{
    layer::Layer,
    table,
    value::{Origin, Sourced, Value},
};

/// Whether a path stays below the directory that it begins at, by its words; links are for those who
/// open it.
pub(super) fn is_below(path: &str, words: &[&str]) -> bool {
    is_word(path, words)
        || Path::new(path).components().all(|part| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            Component::CurDir => true,
            _ => false,
        })
}

/// Whether a path of a repository's file goes through a link below the directory of that file. Who
/// opens the path refuses links again; here they are only said early.
pub(super) fn is_linked(guard: Guard, setting: &Sourced<Value>) -> bool {
    let (Guard::Below(words), Some(directory)) = (guard, directory_of(&setting.origin)) else {
        return false;
    };
    let is_linked = |path: &String| !is_word(path, words) && goes_through_link(&directory, path);
    match &setting.value {
        Value::List(paths) => paths.iter().any(is_linked),
        other => is_linked(&other.plain()),
    }
}

/// Lets the paths of a repository's files begin at the directories of these files.
pub(crate) fn begin_at_files(layer: &mut Layer) {
    for key in table::keys() {
        let (Guard::Below(words), Some(setting)) = (key.guard, layer.settings.get_mut(key.path))
        else {
            continue;
        };
        let Some(directory) = directory_of(&setting.origin) else { continue };
        let placed = |path: &mut String| {
            if !is_word(path, words) {
                *path = directory.join(&*path).to_string_lossy().into_owned();
            }
        };
        match &mut setting.value {
            Value::Text(path) => placed(path),
            Value::List(paths) => paths.iter_mut().for_each(placed),
            _ => {}
        }
    }
}

/// The directory of the repository's file that a value comes from, as seen from the working directory;
/// none if the user says it.
pub(crate) fn directory_of(origin: &Origin) -> Option<PathBuf> {
    let (file, _) = origin.place().filter(|_| origin.is_repository())?;
    Some(file.parent().unwrap_or(Path::new("")).to_owned())
}

fn is_word(path: &str, words: &[&str]) -> bool {
    words.iter().any(|word| path == *word || (word.ends_with(':') && path.starts_with(word)))
}

/// Whether a path that nobody named is below the working directory, and neither goes through a link
/// that a repository may have brought nor into a git directory.
pub(crate) fn stays_here(path: &Path) -> bool {
    let path = path.to_string_lossy();
    is_below(&path, &[]) && !goes_through_link(Path::new(""), &path)
}

fn goes_through_link(directory: &Path, path: &str) -> bool {
    let mut here = directory.to_owned();
    Path::new(path).components().any(|part| {
        here.push(part);
        here.symlink_metadata().is_ok_and(|found| found.is_symlink())
    })
}
