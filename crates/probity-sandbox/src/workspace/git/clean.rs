//! A git directory of unknown origin, made harmless.

use std::{fs, io, os::unix::ffi::OsStrExt as _, path::Path};

use super::config::{Entry, parse, text};

/// Parts by which git runs programs or is led elsewhere.
const REMOVED: &[&str] = &[
    "hooks",
    "config.worktree",
    "commondir",
    "info/attributes",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "worktrees",
];

/// Leaves history, branches and remotes, and nothing by which git would run a program: in the
/// directory, and in those of submodules below it. Links are removed, not followed.
pub fn clean_git_directory(directory: &Path) -> io::Result<()> {
    for part in REMOVED {
        remove(&directory.join(part))?;
    }
    let config = directory.join("config");
    let kept = harmless_git_settings(&config);
    remove(&config)?;
    fs::write(&config, kept)?;
    clean_below(&directory.join("modules"))
}

/// Makes the directory of a working tree, below `worktrees`, harmless: it belongs to the repository
/// around it and to the working tree with this `.git` file, and to nothing else.
pub fn clean_worktree(directory: &Path, dot_git: &Path) -> io::Result<()> {
    for part in REMOVED.iter().chain(&["config", "gitdir", "modules"]) {
        remove(&directory.join(part))?;
    }
    fs::write(directory.join("commondir"), "../..\n")?;
    let mut named = dot_git.as_os_str().as_bytes().to_owned();
    named.push(b'\n');
    fs::write(directory.join("gitdir"), named)
}

/// The settings of a configuration by which git runs no program and reads no other file, as text of
/// a configuration. None of one that is a link.
pub fn harmless_git_settings(config: &Path) -> String {
    let is_file = config.symlink_metadata().is_ok_and(|found| found.is_file());
    let entries = if is_file { parse(&text(config).unwrap_or_default()) } else { Vec::new() };
    entries.iter().filter(|entry| entry.is_harmless()).map(Entry::written).collect()
}

/// Whether git would run nothing that this directory names, if it took it for a repository.
pub fn runs_nothing(directory: &Path) -> bool {
    let is_there = |part: &str| directory.join(part).symlink_metadata().is_ok();
    let led_elsewhere = ["config.worktree", "commondir", "info/attributes", "hooks", "modules"];
    let config = directory.join("config");
    let is_plain = match config.symlink_metadata() {
        Err(_) => true,
        Ok(found) => {
            let text = text(&config).unwrap_or_default();
            found.is_file() && parse(&text).iter().all(Entry::is_harmless)
        }
    };
    is_plain && !led_elsewhere.iter().any(|part| is_there(part))
}

/// Takes the commands out of the steps of a rebase.
pub fn without_commands(rebase: &Path) -> io::Result<()> {
    let todo = rebase.join("git-rebase-todo");
    let text = text(&todo).unwrap_or_default();
    let kept: String = text.split_inclusive('\n').filter(|line| !is_command(line)).collect();
    remove(&todo)?;
    fs::write(&todo, kept)
}

/// Whether a step of a rebase is a command.
pub(super) fn is_command(step: &str) -> bool {
    matches!(step.split_whitespace().next(), Some("x" | "exec"))
}

fn clean_below(directory: &Path) -> io::Result<()> {
    if !directory.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return remove(directory);
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            continue;
        }
        if path.join("HEAD").symlink_metadata().is_ok() {
            clean_git_directory(&path)?;
        } else {
            clean_below(&path)?;
        }
    }
    Ok(())
}

/// A directory with all that is in it, or a file or link.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
