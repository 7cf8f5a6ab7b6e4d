//! Where a repository keeps its git directory, read from its files.
//!
//! What a workspace says about places outside itself is not believed: a `.git` file may name any
//! directory. One outside is used only if it names the workspace in return, which only git, or
//! somebody who can write there already, has made it do.

mod clean;
mod config;
mod identity;
mod name;
mod nested;
mod programs;
mod protection;
mod shell;
mod stray;

use std::{
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
};

use config::{Settings, expanded};

pub use clean::{
    clean_git_directory, clean_worktree, harmless_git_settings, runs_nothing, without_commands,
};
pub(super) use identity::identity;
pub use name::is_dot_git;
pub(super) use protection::Protection;
pub use stray::{Stray, StrayKind};

/// Links that lead to links.
const MOST_LINKS: usize = 32;

/// Such files hold one line.
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitDirectories {
    /// Of this working tree alone.
    own: PathBuf,
    /// With the objects, the hooks and the configuration; often the same.
    common: PathBuf,
}

impl GitDirectories {
    /// Those of the working tree at `tree`, in the workspace at `root`.
    pub(super) fn find(tree: &Path, root: &Path) -> Option<Self> {
        let dot_git = tree.join(".git");
        let metadata = dot_git.symlink_metadata().ok()?;
        if metadata.is_dir() {
            return Some(Self { own: dot_git.clone(), common: dot_git });
        }
        if !metadata.is_file() {
            return None;
        }
        let named = line(&dot_git)?.strip_prefix("gitdir:")?.trim().to_owned();
        let own = tree.join(named).canonicalize().ok()?;
        let found = if own.join("commondir").is_file() {
            let common = own.join(line(&own.join("commondir"))?).canonicalize().ok()?;
            // The way back: a worktree's directory names the `.git` file it belongs to.
            let is_named_back = || {
                let back = own.join(line(&own.join("gitdir"))?).canonicalize().ok()?;
                Some(back == dot_git.canonicalize().ok()?)
            };
            let is_ours =
                own.starts_with(common.join("worktrees")) && is_named_back().unwrap_or_default();
            (is_ours || common.starts_with(root)).then_some(Self { own, common })?
        } else {
            // A submodule: its configuration names its working tree.
            let is_ours = own.starts_with(root) || named_tree(&own).as_deref() == Some(tree);
            is_ours.then_some(Self { common: own.clone(), own })?
        };
        found.is_repository().then_some(found)
    }

    fn is_repository(&self) -> bool {
        self.common.join("objects").is_dir() && self.common.join("HEAD").is_file()
    }

    pub(super) fn outside(&self, root: &Path) -> Option<&Path> {
        (!self.common.starts_with(root)).then_some(&self.common)
    }
}

/// The value of `core.worktree`, as git itself writes it into a submodule's configuration.
fn named_tree(own: &Path) -> Option<PathBuf> {
    let settings = Settings::read(&[own.join("config")]);
    let value = settings.all("core", "worktree").last()?;
    expanded(value, own)?.canonicalize().ok()
}

fn line(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text.lines().next()?.trim_end().to_owned())
}

/// As far as the name alone tells.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Where a path leads, links followed, whether or not it exists.
fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Some((above, target)) = path.ancestors().find_map(|above| {
            let target = match above.canonicalize() {
                Ok(real) => Ok(real),
                // A link that leads to nothing yet.
                Err(_) => Err(above.parent()?.join(fs::read_link(above).ok()?)),
            };
            Some((above, target))
        }) else {
            break;
        };
        let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
        // Joining nothing would add a slash, which a file does not bear.
        let join = |to: PathBuf| if rest.as_os_str().is_empty() { to } else { to.join(rest) };
        match target {
            Ok(real) => return join(real),
            Err(target) => path = without_dots(&join(target)),
        }
    }
    path
}
