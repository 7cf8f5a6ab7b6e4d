//! A git directory of unknown origin, made harmless.

use std::{io, os::unix::ffi::OsStrExt as _, path::Path};

use rustix::fs::FileType;

use super::{
    super::held::HeldTree,
    config::{Entry, held_text, parse, text},
};

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
pub fn clean_git_directory(held: &HeldTree, directory: &Path) -> io::Result<()> {
    for part in REMOVED {
        remove(held, directory, part)?;
    }
    let config = directory.join("config");
    let kept = harmless(&held_text(held, &config).unwrap_or_default());
    held.remove_all(&config)?;
    held.write_new(&config, kept.as_bytes())?;
    clean_below(held, &directory.join("modules"))
}

/// Makes the directory of a working tree, below `worktrees`, harmless: it belongs to the repository
/// around it and to the working tree with this `.git` file, and to nothing else.
pub fn clean_worktree(held: &HeldTree, directory: &Path, dot_git: &Path) -> io::Result<()> {
    for part in REMOVED.iter().chain(&["config", "gitdir", "modules"]) {
        remove(held, directory, part)?;
    }
    held.write_new(&directory.join("commondir"), b"../..\n")?;
    let mut named = dot_git.as_os_str().as_bytes().to_owned();
    named.push(b'\n');
    held.write_new(&directory.join("gitdir"), &named)
}

/// The settings of a configuration by which git runs no program and reads no other file, as text of
/// a configuration. None of one that is a link.
pub fn harmless_git_settings(config: &Path) -> String {
    let is_file = config.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file { harmless(&text(config).unwrap_or_default()) } else { String::new() }
}

fn harmless(text: &str) -> String {
    parse(text).iter().filter(|entry| entry.is_harmless()).map(Entry::written).collect()
}

/// Whether git would run nothing that this directory names, if it took it for a repository.
pub fn runs_nothing(held: &HeldTree, directory: &Path) -> bool {
    let is_there = |part: &str| held.kind(&directory.join(part)).is_some();
    // What is in it cannot be told.
    if held.kind(&directory.join("info")) == Some(FileType::Symlink) {
        return false;
    }
    let led_elsewhere = ["config.worktree", "commondir", "info/attributes", "hooks", "modules"];
    let config = directory.join("config");
    let is_plain = held.kind(&config).is_none_or(|_| {
        held_text(held, &config).is_some_and(|text| parse(&text).iter().all(Entry::is_harmless))
    });
    is_plain && !led_elsewhere.iter().any(|part| is_there(part))
}

/// Takes the commands out of the steps of a rebase.
pub fn without_commands(held: &HeldTree, rebase: &Path) -> io::Result<()> {
    let todo = rebase.join("git-rebase-todo");
    let text = held_text(held, &todo).unwrap_or_default();
    let kept: String = text.split_inclusive('\n').filter(|line| !is_command(line)).collect();
    held.remove_all(&todo)?;
    held.write_new(&todo, kept.as_bytes())
}

/// Whether a step of a rebase is a command.
pub(super) fn is_command(step: &str) -> bool {
    matches!(step.split_whitespace().next(), Some("x" | "exec"))
}

fn clean_below(held: &HeldTree, directory: &Path) -> io::Result<()> {
    match held.kind(directory) {
        None => return Ok(()),
        Some(FileType::Directory) => {}
        Some(_) => return held.remove_all(directory),
    }
    for entry in held.entries(directory)? {
        let path = directory.join(entry.name);
        if entry.kind != FileType::Directory {
            continue;
        }
        if held.kind(&path.join("HEAD")).is_some() {
            clean_git_directory(held, &path)?;
        } else {
            clean_below(held, &path)?;
        }
    }
    Ok(())
}

/// A directory with all that is in it, a file or a link, also one on the way to the part.
fn remove(held: &HeldTree, directory: &Path, part: &str) -> io::Result<()> {
    let mut reached = directory.to_owned();
    for name in Path::new(part) {
        reached.push(name);
        if held.kind(&reached) == Some(FileType::Symlink) {
            break;
        }
    }
    held.remove_all(&reached)
}
