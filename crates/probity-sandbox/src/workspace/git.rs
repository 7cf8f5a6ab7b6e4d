//! Where a repository keeps its git directory, read from its files.
//!
//! What a workspace says about places outside itself is not believed: a `.git` file may name any
//! directory. One outside is used only if it names the workspace in return, which only git, or
//! somebody who can write there already, has made it do.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use crate::Mount;

/// Such files hold one line.
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitDirectories {
    /// In the root: the directory itself, or the file that names it.
    dot_git: PathBuf,
    /// Of this working tree alone.
    own: PathBuf,
    /// With the objects, the hooks and the configuration; often the same.
    common: PathBuf,
}

/// A path that must stay what it is, however the rest may change.
pub(super) struct Protected {
    pub(super) path: PathBuf,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    ReadOnly,
    /// Writable, but neither moved nor replaced: nobody can do that to a mount. Without it, the
    /// directory could be moved away, read-only parts and all, and another put in its place.
    InPlace,
    /// Not there: an empty directory in its place is what can be protected.
    Missing,
}

impl Protected {
    pub(super) fn mount_at(&self, inside: &Path) -> Mount {
        match self.how {
            How::ReadOnly => Mount::read_only(&self.path, inside),
            How::InPlace => Mount::read_write(&self.path, inside),
            How::Missing => Mount::Tmpfs { inside: inside.to_owned(), bytes: Some(4096) },
        }
    }
}

impl GitDirectories {
    pub(super) fn find(root: &Path) -> Option<Self> {
        let dot_git = root.join(".git");
        let metadata = dot_git.symlink_metadata().ok()?;
        if metadata.is_dir() {
            return Some(Self { own: dot_git.clone(), common: dot_git.clone(), dot_git });
        }
        if !metadata.is_file() {
            return None;
        }
        let named = line(&dot_git)?.strip_prefix("gitdir:")?.trim().to_owned();
        let own = root.join(named).canonicalize().ok()?;
        let found = if own.join("commondir").is_file() {
            let common = own.join(line(&own.join("commondir"))?).canonicalize().ok()?;
            // The way back: a worktree's directory names the `.git` file it belongs to.
            let back = own.join(line(&own.join("gitdir"))?).canonicalize().ok()?;
            (own.starts_with(common.join("worktrees")) && back == dot_git.canonicalize().ok()?)
                .then_some(Self { dot_git, own, common })?
        } else {
            // A submodule: its configuration names its working tree.
            let tree = own.join(core_worktree(&own.join("config"))?).canonicalize().ok()?;
            (tree == root).then_some(Self { dot_git, common: own.clone(), own })?
        };
        found.is_repository().then_some(found)
    }

    fn is_repository(&self) -> bool {
        self.common.join("objects").is_dir() && self.common.join("HEAD").is_file()
    }

    pub(super) fn outside(&self, root: &Path) -> Option<&Path> {
        (!self.common.starts_with(root)).then_some(&self.common)
    }

    /// What git runs, or obeys, on the host, in the order of mounting.
    pub(super) fn protected(&self) -> Vec<Protected> {
        let kind = |path: &Path| path.symlink_metadata().ok().map(|found| found.file_type());
        let (config, hooks) = (self.common.join("config"), self.common.join("hooks"));
        let per_tree = self.own.join("config.worktree");
        let enabled =
            read(&config).is_some_and(|text| text.to_lowercase().contains("worktreeconfig"));
        let links = [&config, &hooks, &per_tree]
            .iter()
            .any(|path| kind(path).is_some_and(|kind| kind.is_symlink()));
        let mut protected = Vec::new();
        let mut protect =
            |path: &Path, how| protected.push(Protected { path: path.to_owned(), how });
        // A link could be replaced, and a file that is missing made: then nothing may change.
        let all = if links || (enabled && kind(&per_tree).is_none()) {
            How::ReadOnly
        } else {
            How::InPlace
        };
        protect(&self.common, all);
        // The other working trees are told from here where their repository is.
        let trees = self.common.join("worktrees");
        if kind(&trees).is_some() {
            protect(&trees, How::ReadOnly);
        }
        if self.own != self.common {
            protect(&self.own, all);
        }
        if !self.dot_git.starts_with(&self.common) {
            protect(&self.dot_git, How::ReadOnly);
        }
        if kind(&hooks).is_none() && matches!(all, How::InPlace) {
            protect(&hooks, How::Missing);
        }
        // These two say where the rest is.
        let (to_common, back) = (self.own.join("commondir"), self.own.join("gitdir"));
        for path in [&hooks, &config, &per_tree, &to_common, &back] {
            if kind(path).is_some_and(|kind| !kind.is_symlink()) {
                protect(path, How::ReadOnly);
            }
        }
        protect_modules(&self.common, &mut protected);
        protected
    }

    /// Where a `commondir` that was not there before would lead git on the host elsewhere.
    pub(super) fn undirected(&self) -> Vec<PathBuf> {
        let mut directories = vec![self.common.clone(), self.own.clone()];
        directories.dedup();
        directories.retain(|path| path.join("commondir").symlink_metadata().is_err());
        directories
    }
}

/// Beyond this many submodules their directory is read-only as a whole.
const MOST_MODULES: usize = 64;

/// `git status` goes into every submodule and obeys its configuration there.
fn protect_modules(common: &Path, protected: &mut Vec<Protected>) {
    let modules = common.join("modules");
    let is = |path: &Path, wanted: fn(&fs::Metadata) -> bool| {
        path.symlink_metadata().is_ok_and(|found| wanted(&found))
    };
    if !is(&modules, fs::Metadata::is_dir) {
        return;
    }
    let mut inner = Vec::new();
    let mut found = 0;
    let mut pending = vec![modules.clone()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if !is(&path, fs::Metadata::is_dir) {
                continue;
            }
            // A module may be called `a/b`, and then lies a level deeper.
            if !is(&path.join("HEAD"), fs::Metadata::is_file) {
                pending.push(path);
            } else {
                found += 1;
                let (config, hooks) = (path.join("config"), path.join("hooks"));
                let plain = is(&config, fs::Metadata::is_file) && is(&hooks, fs::Metadata::is_dir);
                let how = if plain { How::InPlace } else { How::ReadOnly };
                inner.push(Protected { path: path.clone(), how });
                if plain {
                    inner.push(Protected { path: config, how: How::ReadOnly });
                    inner.push(Protected { path: hooks, how: How::ReadOnly });
                }
                pending.push(path.join("modules"));
            }
        }
        if found + pending.len() > MOST_MODULES {
            protected.push(Protected { path: modules, how: How::ReadOnly });
            return;
        }
    }
    protected.push(Protected { path: modules, how: How::InPlace });
    protected.extend(inner);
}

fn line(path: &Path) -> Option<String> {
    Some(read(path)?.lines().next()?.trim_end().to_owned())
}

fn read(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The value of `core.worktree`, as git itself writes it into a submodule's configuration.
fn core_worktree(config: &Path) -> Option<String> {
    let text = read(config)?;
    let mut in_core = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((key, value)) = line.split_once('=')
            && in_core
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            return Some(value.trim().trim_matches('"').to_owned());
        }
    }
    None
}
