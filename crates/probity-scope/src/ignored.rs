//! Which files git ignores: what a repository's author does not share is not shown to an agent.
//!
//! The patterns of `.gitignore`, `info/exclude` and the user's global excludes count, for files that git
//! does not track. Without a repository nothing is ignored. Files of patterns are read by descriptor,
//! and one that is a link counts for nothing, as for git.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::{HeldDirectory, ordinary::read_text, tracked::tracked};

/// More than this is no list of patterns. Everything beside it counts as ignored.
const MOST_BYTES: u64 = 1 << 20;

/// A longer index is not read: a million files have one of 100 MB.
const MOST_INDEX_BYTES: u64 = 256 << 20;

/// Whether files that git ignores are served.
#[derive(Debug, Clone, Copy)]
pub enum Ignored {
    Shown,
    LeftOut {
        /// Names of directories that are served with all below them: installed dependencies.
        except: &'static [&'static str],
    },
}

/// The patterns of one work tree.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    /// The work tree; where the user names an ignored directory, that directory.
    top: HeldDirectory,
    /// Where the root is below it.
    prefix: PathBuf,
    except: &'static [&'static str],
    /// Files and directories, relative to the top.
    tracked: HashSet<PathBuf>,
    exclude: Gitignore,
    global: Gitignore,
    /// By their directories, relative to the top.
    read: Mutex<HashMap<PathBuf, Arc<Gitignore>>>,
}

impl IgnoreRules {
    /// The patterns of the repository around a root, if there is one.
    pub(crate) fn of(root: &Path, except: &'static [&'static str]) -> io::Result<Option<Self>> {
        let (global, _) = GitignoreBuilder::new("").build_global();
        let top = root.ancestors().find(|top| top.join(".git").symlink_metadata().is_ok());
        let Some(top) = top else { return Ok(None) };
        let rules = Self::below(top, root, except, global)?;
        // Whoever names an ignored directory wants to see it, by the patterns that are in it.
        let is_itself_ignored = !rules.tracked.contains(&rules.prefix)
            && rules.matches(Path::new(""), &rules.prefix, true);
        if is_itself_ignored {
            return Self::below(root, root, except, rules.global).map(Some);
        }
        Ok(Some(rules))
    }

    fn below(
        top: &Path,
        root: &Path,
        except: &'static [&'static str],
        global: Gitignore,
    ) -> io::Result<Self> {
        let held = HeldDirectory::open(top)?;
        let (exclude, tracked) = match git_directories(top, &held) {
            Some((own, common)) => {
                let index = own.read("index", MOST_INDEX_BYTES).unwrap_or_default();
                (patterns(&common, Path::new("info/exclude")), tracked(&index))
            }
            None => (Gitignore::empty(), HashSet::new()),
        };
        let prefix = root.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
        Ok(Self { top: held, prefix, except, tracked, exclude, global, read: Mutex::default() })
    }

    /// Whether git ignores a path below the root, or a directory on the way to it.
    pub(crate) fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        !self.tracked.contains(&self.prefix.join(path))
            && self.matches(&self.prefix, path, is_directory)
    }

    fn matches(&self, start: &Path, path: &Path, is_directory: bool) -> bool {
        let mut reached = start.to_owned();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { continue };
            reached.push(name);
            let is_directory = is_directory || parts.peek().is_some();
            if is_directory && self.except.iter().any(|kept| name == *kept) {
                return false;
            }
            if self.is_matched(&reached, is_directory) {
                return true;
            }
        }
        false
    }

    /// The nearest pattern decides; of one file, the last.
    fn is_matched(&self, path: &Path, is_directory: bool) -> bool {
        for directory in path.ancestors().skip(1) {
            let Ok(below) = path.strip_prefix(directory) else { continue };
            match self.of_directory(directory).matched(below, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        match self.exclude.matched(path, is_directory) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => self.global.matched(path, is_directory).is_ignore(),
        }
    }

    fn of_directory(&self, directory: &Path) -> Arc<Gitignore> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(directory) {
            return Arc::clone(known);
        }
        let found = Arc::new(patterns(&self.top, &directory.join(".gitignore")));
        read.insert(directory.to_owned(), Arc::clone(&found));
        found
    }
}

/// What lies in a directory where a walk by the crate `ignore` looks for patterns, and is no file. The
/// walk would open it, and wait for ever for the other end of a FIFO.
pub fn unreadable_patterns(directory: &Path) -> Option<PathBuf> {
    let is_pipe =
        |path: &PathBuf| path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    let beside = [".gitignore", ".ignore"].map(|name| directory.join(name)).into_iter();
    beside.chain(git_patterns(&directory.join(".git"))).find(is_pipe)
}

fn git_patterns(named: &Path) -> Vec<PathBuf> {
    let Ok(found) = named.metadata() else { return Vec::new() };
    let led = |file: &Path, start: &str| {
        let text = read_text(file, MOST_BYTES).ok()?;
        Some(file.parent()?.join(text.lines().next()?.strip_prefix(start)?.trim()))
    };
    let own = led(named, "gitdir:").filter(|_| found.is_file()).unwrap_or_else(|| named.to_owned());
    let pointer = own.join("commondir");
    let common = led(&pointer, "").unwrap_or_else(|| own.clone());
    vec![named.to_owned(), pointer, common.join("info/exclude")]
}

/// The git directories of a work tree and of its repository. A linked work tree has one of its own.
fn git_directories(top: &Path, held: &HeldDirectory) -> Option<(HeldDirectory, HeldDirectory)> {
    if held.is_directory(".git") {
        return Some((held.open_below(".git").ok()?, held.open_below(".git").ok()?));
    }
    let pointer = held.read_text(".git", MOST_BYTES).ok()?;
    let own = top.join(pointer.lines().next()?.strip_prefix("gitdir:")?.trim());
    let held = HeldDirectory::open(&own).ok()?;
    let common = match held.read_text("commondir", MOST_BYTES) {
        Ok(common) => HeldDirectory::open(&own.join(common.trim())).ok()?,
        Err(_) => held.again().ok()?,
    };
    Some((held, common))
}

/// The patterns of one file; none if it cannot be read. A line that is not valid counts for nothing,
/// as for git.
fn patterns(directory: &HeldDirectory, file: &Path) -> Gitignore {
    let Ok(bytes) = directory.read(file, MOST_BYTES + 1) else { return Gitignore::empty() };
    let mut builder = GitignoreBuilder::new("");
    let text = String::from_utf8_lossy(&bytes);
    let is_whole = bytes.len() as u64 <= MOST_BYTES;
    let lines = if is_whole { &*text } else { "*" };
    for line in lines.lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
