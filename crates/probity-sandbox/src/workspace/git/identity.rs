//! Who commits in a workspace: the name and the address that git on the host would use, read from its
//! files alone.

use std::path::{Path, PathBuf};

use super::{
    GitDirectories,
    config::{Entry, expanded, parse, text, users_files},
};

/// Files that include files.
const MOST_DEPTH: usize = 10;

/// A variable that git reads, and the key that means the same.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("GIT_AUTHOR_NAME", "author", "name"),
    ("GIT_AUTHOR_EMAIL", "author", "email"),
    ("GIT_COMMITTER_NAME", "committer", "name"),
    ("GIT_COMMITTER_EMAIL", "committer", "email"),
];

/// The variables that give git inside the identity that it has on the host.
pub(in super::super) fn identity(git: Option<&GitDirectories>) -> Vec<(&'static str, String)> {
    let mut files = users_files();
    if let Some(git) = git {
        files.extend([git.common.join("config"), git.own.join("config.worktree")]);
    }
    let directory = git.map(|git| git.own.as_path());
    let mut entries = Vec::new();
    for file in &files {
        read(file, directory, 0, &mut entries);
    }
    // The last one counts, and those of `author` before those of `user`.
    let value = |section: &str, key: &str| {
        let is = |entry: &&Entry| {
            entry.section == section && entry.key == key && entry.subsection.is_none()
        };
        entries.iter().rev().find(is).map(|entry| entry.value.clone())
    };
    let given = VARIABLES.iter().filter_map(|(variable, section, key)| {
        let value = value(section, key).or_else(|| value("user", key))?;
        let is_usable = !value.trim().is_empty() && !value.contains(char::is_control);
        is_usable.then_some((*variable, value))
    });
    given.collect()
}

/// The entries of a file, with those of included files in their place.
fn read(file: &Path, directory: Option<&Path>, depth: usize, entries: &mut Vec<Entry>) {
    if depth >= MOST_DEPTH {
        return;
    }
    let Some(text) = text(file) else { return };
    let near = file.parent().unwrap_or(Path::new("/"));
    for entry in parse(&text) {
        let is_included = entry.key == "path"
            && match (entry.section.as_str(), entry.subsection.as_deref()) {
                ("include", None) => true,
                ("includeif", Some(condition)) => holds(condition, near, directory),
                _ => false,
            };
        match expanded(&entry.value, near) {
            Some(included) if is_included => read(&included, directory, depth + 1, entries),
            _ => entries.push(entry),
        }
    }
}

/// Whether a condition is about this git directory. Conditions about branches and remotes do not
/// count: they change while a session lasts.
fn holds(condition: &str, near: &Path, directory: Option<&Path>) -> bool {
    let Some(directory) = directory else { return false };
    let (pattern, is_caseless) = match condition.split_once(':') {
        Some(("gitdir", pattern)) => (pattern, false),
        Some(("gitdir/i", pattern)) => (pattern, true),
        _ => return false,
    };
    let mut pattern = if pattern.starts_with("~/") || pattern.starts_with("./") {
        let path = expanded(pattern.trim_start_matches("./"), near).unwrap_or_default();
        // The slash at the end has a meaning, and paths do not keep it.
        let slash = if pattern.ends_with('/') { "/" } else { "" };
        format!("{}{slash}", path.display().to_string().trim_end_matches('/'))
    } else if pattern.starts_with('/') {
        pattern.to_owned()
    } else {
        format!("**/{pattern}")
    };
    if pattern.ends_with('/') {
        pattern.push_str("**");
    }
    let real = directory.canonicalize().unwrap_or_default();
    [directory.to_owned(), real].iter().any(|path: &PathBuf| {
        let mut path = path.display().to_string();
        if is_caseless {
            pattern.make_ascii_lowercase();
            path.make_ascii_lowercase();
        }
        fits(pattern.as_bytes(), path.as_bytes())
    })
}

/// `*` stands for anything but a slash, and `**` for anything.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', b'*', rest @ ..] => {
            (0..=text.len()).any(|at| fits(rest, text.get(at..).unwrap_or_default()))
        }
        [b'*', rest @ ..] => {
            let end = text.iter().position(|byte| *byte == b'/').unwrap_or(text.len());
            (0..=end).any(|at| fits(rest, text.get(at..).unwrap_or_default()))
        }
        [b'?', rest @ ..] => {
            matches!(text, [first, more @ ..] if *first != b'/' && fits(rest, more))
        }
        [letter, rest @ ..] => {
            matches!(text, [first, more @ ..] if first == letter && fits(rest, more))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_of_directories_fit_as_for_git() {
        for (pattern, path, expected) in [
            ("/srv/me/code/**", "/srv/me/code/a/.git", true),
            ("/srv/me/code/**", "/srv/me/private/.git", false),
            ("**/code/**", "/srv/me/code/a/.git", true),
            ("/srv/*/code/.git", "/srv/me/code/.git", true),
            ("/srv/*/.git", "/srv/me/code/.git", false),
            ("/srv/m?/.git", "/srv/me/.git", true),
        ] {
            assert_eq!(fits(pattern.as_bytes(), path.as_bytes()), expected, "{pattern} {path}");
        }
    }
}
