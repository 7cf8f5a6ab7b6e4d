//! A workspace has two names: its path on the host, and the one that agents are told.
//!
//! A path is translated only if it is the root or below it. What an agent wants the editor to read
//! or write must be there too, links followed: the editor would do it with all the user's rights.

mod uri;

use std::path::{Component, Path, PathBuf};

use probity_sandbox::is_dot_git;

/// Where every workspace is for the agent in it.
pub const INSIDE: &str = "/home/agent/workspace";

/// One workspace, as the editor named it and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The root, real and without links.
    pub root: PathBuf,
    /// The working directory as the editor gave it.
    pub cwd: PathBuf,
    /// Directories beside it that its agent may work in, under their own names, real and without
    /// links.
    pub directories: Vec<PathBuf>,
    /// Places in it that an agent must not change, since programs on the host obey them.
    pub read_only: Vec<PathBuf>,
    /// Whether an agent may have commands run by the editor, which runs them on the host.
    pub terminals: bool,
    /// Whether an agent may have the editor read and write files. Between our check of a path and
    /// the editor's access a link can change, and lead it anywhere.
    pub files: bool,
    /// Whether it is empty and thrown away: an agent in it is only asked what it can do.
    pub is_scratch: bool,
    /// Whether agents see it where it is, since their sandbox can show it nowhere else.
    pub is_in_place: bool,
    /// The root in the spelling of the editor, where a link led to it.
    spelled: Option<PathBuf>,
}

impl Workspace {
    #[must_use]
    pub fn new(root: PathBuf, cwd: PathBuf) -> Self {
        let spelled = spelled_root(&root, &cwd);
        Self {
            root,
            cwd,
            directories: Vec::new(),
            read_only: Vec::new(),
            terminals: false,
            files: false,
            is_scratch: false,
            is_in_place: false,
            spelled,
        }
    }

    /// An empty one, which is thrown away.
    #[must_use]
    pub fn scratch() -> Self {
        Self { is_scratch: true, ..Self::new(INSIDE.into(), INSIDE.into()) }
    }

    /// Where its agents see it.
    fn seen(&self) -> &Path {
        if self.is_in_place { &self.root } else { Path::new(INSIDE) }
    }

    /// Whether a message that does not mention this says nothing about files of the workspace.
    pub(crate) fn seen_in_text(&self) -> &str {
        // Where it is no text, every message is looked at.
        self.seen().to_str().unwrap_or_default()
    }

    /// The name inside of a path on the host.
    pub(crate) fn inside(&self, host: &str) -> Option<String> {
        if let Some(uri) = uri::split(host) {
            return Some(uri.joined(&self.inside(&uri.path)?));
        }
        let path = plain(Path::new(host))?;
        let roots = [Some(&self.root), self.spelled.as_ref()];
        let below = roots.into_iter().flatten().find_map(|root| path.strip_prefix(root).ok())?;
        join(self.seen(), below)
    }

    /// The name inside of a directory that a session may work in beside its working directory.
    pub(crate) fn directory_inside(&self, host: &str) -> Option<String> {
        if let Some(inside) = self.inside(host) {
            return Some(inside);
        }
        let real = Path::new(host).canonicalize().ok()?;
        self.has_directory(&real).then(|| real.to_str().map(str::to_owned))?
    }

    /// Whether a real path is in one of the directories beside the root.
    fn has_directory(&self, real: &Path) -> bool {
        self.directories.iter().any(|directory| real.starts_with(directory))
    }

    /// Whether an agent in this workspace has all that one in the other has.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.root == other.root && other.directories.iter().all(|more| self.has_directory(more))
    }

    /// The name on the host of a path inside, in the spelling of the editor.
    pub(crate) fn outside(&self, inside: &str) -> Option<String> {
        if let Some(uri) = uri::split(inside) {
            return Some(uri.joined(&self.outside(&uri.path)?));
        }
        let path = plain(Path::new(inside))?;
        let below = path.strip_prefix(self.seen()).ok()?;
        join(self.spelled.as_deref().unwrap_or(&self.root), below)
    }

    /// The path on the host that an agent means, if it may have the editor touch it.
    pub(crate) fn confined(&self, path: &str, access: Access) -> Option<String> {
        let host = match self.outside(path) {
            Some(host) => host,
            None => plain(Path::new(path))?.to_str()?.to_owned(),
        };
        let real = real(Path::new(&host))?;
        let is_root_own = real.starts_with(&self.root) || self.has_directory(&real);
        let is_protected = access == Access::Write
            && (is_of_git(real.strip_prefix(&self.root).unwrap_or(&real))
                || self.read_only.iter().any(|place| {
                    real.starts_with(place)
                        || place.starts_with(&real)
                            && real != self.root
                            && !self.directories.contains(&real)
                }));
        (is_root_own && !is_protected).then_some(host)
    }

    /// What a message must mention for a path in it to need translation; `None` if its spelling in
    /// JSON is not certain.
    pub(crate) fn mentioned(&self) -> Option<[&str; 2]> {
        let root = self.root.to_str()?;
        let spelled = self.spelled.as_ref().map_or(Some(root), |path| path.to_str())?;
        let certain = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'%'))
        };
        (certain(root) && certain(spelled)).then_some([root, spelled])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Whether a path is in a git directory, or would make one.
fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| is_dot_git(part.as_os_str()))
}

/// The editor's working directory without as much of its end as lies below the root.
fn spelled_root(root: &Path, cwd: &Path) -> Option<PathBuf> {
    let cwd = plain(cwd)?;
    if cwd.starts_with(root) {
        return None;
    }
    let real = cwd.canonicalize().ok()?;
    cwd.ancestors()
        .zip(real.ancestors())
        .find(|(_, real)| *real == root)
        .map(|(spelled, _)| spelled.to_owned())
}

/// An absolute path without dots, as far as the name alone tells.
fn plain(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

fn join(root: &Path, below: &Path) -> Option<String> {
    // Joining nothing would add a slash.
    let joined = if below.as_os_str().is_empty() { root.to_owned() } else { root.join(below) };
    joined.to_str().map(str::to_owned)
}

/// Where a path leads once links are followed; what does not exist yet is where its nearest
/// existing directory leads.
fn real(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut here = path;
    loop {
        match here.symlink_metadata() {
            // A link that leads nowhere would be followed by whoever writes to it.
            Ok(_) => {
                let mut real = here.canonicalize().ok()?;
                real.extend(missing.iter().rev());
                return Some(real);
            }
            Err(_) => {
                missing.push(here.file_name()?.to_owned());
                here = here.parent()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::PathBuf};

    use super::{Access, Workspace};

    #[test]
    fn only_the_root_and_what_is_below_it_has_two_names() {
        let workspace = Workspace::new(PathBuf::from("/w/repo"), PathBuf::from("/w/repo/sub"));
        for (host, inside) in [
            ("/w/repo", Some("/home/agent/workspace")),
            ("/w/repo/", Some("/home/agent/workspace")),
            ("/w/repo/a b/c", Some("/home/agent/workspace/a b/c")),
            ("/w/./repo/x/../y", Some("/home/agent/workspace/y")),
            ("/w/repo/../other", None),
            ("/w/repository", None),
            ("/w", None),
            ("repo/x", None),
            ("--root=/w/repo", None),
            ("file:///w/repo/a%20b#L3", Some("file:///home/agent/workspace/a%20b#L3")),
            ("file://localhost/w/repo", Some("file://localhost/home/agent/workspace")),
            ("file:///w/other", None),
            ("https://w/repo", None),
        ] {
            assert_eq!(workspace.inside(host).as_deref(), inside, "{host}");
        }
        for (inside, host) in [
            ("/home/agent/workspace", Some("/w/repo")),
            ("/home/agent/workspace/../x", None),
            ("/home/agent/workspaces", None),
            ("/home/agent/workspace/a//b/", Some("/w/repo/a/b")),
            ("file:///home/agent/workspace/%C3%A4?q", Some("file:///w/repo/%C3%A4?q")),
            ("/etc/passwd", None),
        ] {
            assert_eq!(workspace.outside(inside).as_deref(), host, "{inside}");
        }
    }

    #[test]
    fn the_editors_spelling_is_understood_and_given_back() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().canonicalize().unwrap();
        fs::create_dir_all(at.join("real/repo/sub")).unwrap();
        symlink(at.join("real"), at.join("link")).unwrap();
        let workspace = Workspace::new(at.join("real/repo"), at.join("link/repo/sub"));
        let spelled = at.join("link/repo/sub/x").to_str().unwrap().to_owned();
        let inside = "/home/agent/workspace/sub/x";
        assert_eq!(workspace.inside(&spelled).as_deref(), Some(inside));
        assert_eq!(workspace.inside(&spelled.replace("link", "real")).as_deref(), Some(inside));
        assert_eq!(workspace.outside(inside), Some(spelled));
    }

    #[test]
    fn neither_dots_nor_links_lead_an_agent_out() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().canonicalize().unwrap();
        let root = at.join("repo");
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(at.join("secret"), "").unwrap();
        fs::write(root.join("own"), "").unwrap();
        symlink("../secret", root.join("leak")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("../not-there", root.join("dangling")).unwrap();
        symlink(".git", root.join("shortcut")).unwrap();
        let mut workspace = Workspace::new(root.clone(), root.clone());
        workspace.read_only = vec![root.join(".git/hooks")];
        let outside = at.join("secret");
        for (path, read, write) in [
            ("/home/agent/workspace/own", true, true),
            ("/home/agent/workspace/new/file", true, true),
            (root.join("own").to_str().unwrap(), true, true),
            ("/home/agent/workspace/../secret", false, false),
            ("/home/agent/workspace/leak", false, false),
            ("/home/agent/workspace/up/secret", false, false),
            ("/home/agent/workspace/up/new", false, false),
            ("/home/agent/workspace/dangling", false, false),
            (outside.to_str().unwrap(), false, false),
            ("/etc/passwd", false, false),
            ("relative", false, false),
            ("/home/agent/workspace/.git/hooks/pre-commit", true, false),
            ("/home/agent/workspace/shortcut/hooks/pre-commit", true, false),
            ("/home/agent/workspace/.git/hooks", true, false),
            ("/home/agent/workspace/.git", true, false),
            ("/home/agent/workspace/.git/info/x", true, false),
            ("/home/agent/workspace/sub/.GIT/config", true, false),
            ("/home/agent/workspace/sub/git~1/config", true, false),
            ("/home/agent/workspace/.gitignore", true, true),
        ] {
            assert_eq!(workspace.confined(path, Access::Read).is_some(), read, "{path}");
            assert_eq!(workspace.confined(path, Access::Write).is_some(), write, "{path}");
        }
    }
}
