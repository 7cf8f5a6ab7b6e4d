//! What in a workspace must stay as it is, since git on the host obeys it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    super::held::{HeldTree, Identity},
    GitDirectories, MOST_LINKS,
    config::{Settings, expanded, is_absolute, users_files, users_other_files},
    nested::{self, FoundKind},
    programs::{Known, Programs},
    real,
    stray::runs_commands,
    without_dots,
};
use crate::Mount;

/// Git directories whose parts are mounted one by one. Any more are read-only as a whole.
const MOST_IN_PARTS: usize = 32;

/// Hooks that are looked at, of which git knows fewer than thirty.
const MOST_HOOKS: usize = 1000;

/// Read at the start of a session, in the order in which paths are mounted.
#[derive(Debug, Default)]
pub(in super::super) struct Protection {
    /// The workspace and its git directory. All that the end looks at or takes away is below.
    pub(in super::super) held: Arc<HeldTree>,
    /// The directories of links and configurations: only these get back what was in them.
    pub(in super::super) parents: BTreeMap<PathBuf, Identity>,
    entries: BTreeMap<PathBuf, How>,
    /// Paths that git would obey if they were there. An empty file or directory is harmless, and
    /// can be mounted.
    missing: Vec<(PathBuf, Shape)>,
    /// Git directories that the process can write to.
    pub(in super::super) directories: Vec<PathBuf>,
    /// Whatever counts as a git directory at the start.
    pub(in super::super) known: BTreeSet<Identity>,
    /// Links on the way to something protected, and where they lead: no mount can hold a link.
    pub(in super::super) links: BTreeMap<PathBuf, PathBuf>,
    /// Configurations as they were. A mount on a file ends when somebody on the host replaces it.
    pub(in super::super) configurations: BTreeMap<PathBuf, Vec<u8>>,
    /// Rebases that would run commands at the start already.
    pub(in super::super) rebasing: Vec<PathBuf>,
    /// Where commands of the configuration look for programs, and those that were there.
    pub(in super::super) programs: Programs,
    pub(in super::super) program_files: BTreeSet<PathBuf>,
    /// Settings that run something of which nobody knows what it is.
    undecided: BTreeSet<String>,
    /// What the user has to know.
    pub(in super::super) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// Writable, but neither moved nor replaced: nobody can do that to a mount. Without it, the
    /// directory could be moved away, read-only parts and all, and another put in its place.
    InPlace,
    ReadOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    File,
    Directory,
}

impl Protection {
    pub(in super::super) fn of(root: &Path, outside: Option<&GitDirectories>) -> Self {
        let mut protection = Self::default();
        match held(root, outside) {
            Ok(held) => protection.held = Arc::new(held),
            Err(error) => protection.notes.push(format!("{}: {error}", root.display())),
        }
        let held = Arc::clone(&protection.held);
        protection.users(root);
        let search = nested::search(&held, root, nested::Closed::PassOver);
        if !search.is_complete {
            protection.notes.push(format!(
                "{} has too many files: repositories deep in it are not protected",
                root.display()
            ));
        }
        for found in &search.found {
            protection.known.insert(found.identity);
            let parent = found.path.parent().unwrap_or(root);
            match found.kind {
                FoundKind::Directory => {
                    protection.directory(root, &found.path, &found.path, Some(parent));
                }
                FoundKind::Bare => protection.directory(root, &found.path, &found.path, None),
                FoundKind::File => {
                    protection.set(&found.path, How::ReadOnly);
                    protection.named_by(root, parent);
                }
                FoundKind::Other => protection.linked(root, &found.path, parent),
            }
        }
        protection
    }

    /// The user's own files of git and of this program, where they are files of the workspace: some
    /// people keep them in a repository, and have links to it in their home.
    fn users(&mut self, root: &Path) {
        let users = users_files();
        for path in users.iter().chain(&users_other_files()) {
            self.hold(root, path, Some(Shape::File));
        }
        let settings = Settings::read(&users);
        self.included(root, &settings);
        self.commands(root, &settings, root);
        let hooks = settings.all("core", "hookspath").filter(|value| is_absolute(value));
        for value in hooks.chain(settings.all("init", "templatedir")) {
            let Some(directory) = expanded(value, root) else { continue };
            self.hold(root, &directory, Some(Shape::Directory));
        }
    }

    /// What a `.git` file names. A directory outside is the workspace's own only if its root says
    /// so; what a nested repository has outside is not seen inside anyway.
    fn named_by(&mut self, root: &Path, parent: &Path) {
        let Some(git) = GitDirectories::find(parent, root) else { return };
        if parent == root || git.common.starts_with(root) {
            self.directory(root, &git.own, &git.common, Some(parent));
        }
    }

    fn linked(&mut self, root: &Path, link: &Path, parent: &Path) {
        if let Ok(target) = self.held.read_link(link) {
            self.note_parent(link);
            self.links.insert(link.to_owned(), target);
        }
        if let Ok(real) = link.canonicalize()
            && real.starts_with(root)
            && real.is_dir()
        {
            self.directory(root, &real, &real, Some(parent));
        }
    }

    /// One repository: `own` is of this working tree alone, `common` has the rest, and is often the
    /// same.
    fn directory(&mut self, root: &Path, own: &Path, common: &Path, tree: Option<&Path>) {
        if self.directories.iter().any(|known| known == own) {
            return;
        }
        for directory in [own, common] {
            self.known.extend(self.held.identity(directory));
        }
        for directory in BTreeSet::from([own, common]) {
            self.rebasing.push(directory.join("rebase-merge"));
        }
        let held = Arc::clone(&self.held);
        self.rebasing.retain(|rebase| runs_commands(&held, rebase));
        self.directories.push(own.to_owned());
        if own != common {
            self.directories.push(common.to_owned());
        }
        let mut files = users_files();
        files.extend([common.join("config"), own.join("config.worktree")]);
        let settings = Settings::read(&files);
        let named = settings.all("core", "worktree").find_map(|value| {
            let tree = expanded(value, common)?.canonicalize().ok()?;
            tree.starts_with(root).then_some(tree)
        });
        self.named(root, &settings, named.as_deref().or(tree));
        for path in [common.join("config"), own.join("config.worktree")] {
            if let Ok(bytes) = held.read(&path, u64::MAX) {
                self.note_parent(&path);
                self.configurations.insert(path, bytes);
            }
        }
        let enabled = settings.all("extensions", "worktreeconfig").next().is_some();
        let modules = nested::modules(&held, common);
        let is_too_many = self.directories.len() + modules.len() > MOST_IN_PARTS;
        for part in ["config", "hooks", "info", "info/attributes"] {
            if is_link(&common.join(part)) {
                self.hold(root, &common.join(part), None);
            }
        }
        let is_nested = common.starts_with(root) && own != root.join(".git");
        if (is_too_many && is_nested) || has_links(own, common) {
            // A link could be replaced, and so nothing may change.
            self.set(common, How::ReadOnly);
            self.set(own, How::ReadOnly);
            return;
        }
        self.hook_links(root, &common.join("hooks"));
        self.parts(root, own, common, enabled);
        self.submodules(root, common, &modules);
    }

    fn parts(&mut self, root: &Path, own: &Path, common: &Path, enabled: bool) {
        self.keep(&common.join("config"), Shape::File);
        self.keep(&common.join("hooks"), Shape::Directory);
        // `sparse-checkout` and `exclude` stay the process's to change.
        self.need(&common.join("info"), Shape::Directory);
        self.set(&common.join("info"), How::InPlace);
        self.keep(&common.join("info/attributes"), Shape::File);
        // These files tell the other working trees where their repository is.
        let trees = common.join("worktrees");
        let entries = fs::read_dir(&trees).into_iter().flatten().flatten();
        let others: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        if others.len() > MOST_IN_PARTS {
            self.set(&trees, How::ReadOnly);
        } else if trees.symlink_metadata().is_ok() {
            self.set(&trees, How::InPlace);
        }
        let of_trees = [common, own].into_iter().chain(others.iter().map(PathBuf::as_path));
        for tree in BTreeSet::from_iter(of_trees) {
            let is_others = tree != own && tree != common;
            if is_others && !tree_of(tree).is_some_and(|tree| tree.starts_with(root)) {
                // Nobody works in that tree here, and git on the host obeys its submodules.
                self.keep(&tree.join("modules"), Shape::Directory);
                if !self.directories.iter().any(|known| known == tree) {
                    self.directories.push(tree.to_owned());
                    self.known.extend(self.held.identity(tree));
                    for module in nested::modules(&self.held, tree) {
                        self.known.extend(self.held.identity(&module));
                    }
                    let rebase = tree.join("rebase-merge");
                    if runs_commands(&self.held, &rebase) {
                        self.rebasing.push(rebase);
                    }
                }
            }
            self.set(tree, How::InPlace);
            let configuration = tree.join("config.worktree");
            if enabled || configuration.symlink_metadata().is_ok() {
                self.keep(&configuration, Shape::File);
            }
            // These two say where the rest is.
            for path in [tree.join("commondir"), tree.join("gitdir")] {
                if path.symlink_metadata().is_ok() {
                    self.set(&path, How::ReadOnly);
                }
            }
        }
    }

    /// `git status` goes into every submodule and obeys its configuration there.
    fn submodules(&mut self, root: &Path, common: &Path, modules: &[PathBuf]) {
        let all = common.join("modules");
        if all.symlink_metadata().is_err() {
            return;
        }
        if modules.len() > MOST_IN_PARTS {
            for module in modules {
                self.known.extend(self.held.identity(module));
            }
            return self.set(&all, How::ReadOnly);
        }
        self.set(&all, How::InPlace);
        for module in modules {
            // A module that is called `a/b` could be moved with its parent.
            for parent in module.ancestors().skip(1).take_while(|parent| *parent != all) {
                self.set(parent, How::InPlace);
            }
            self.directory(root, module, module, None);
        }
    }

    /// What the configuration names: hooks, other configurations, and programs in the workspace.
    fn named(&mut self, root: &Path, settings: &Settings, tree: Option<&Path>) {
        self.included(root, settings);
        let Some(tree) = tree else { return };
        for value in settings.all("core", "hookspath") {
            let Some(hooks) = expanded(value, tree) else { continue };
            self.hold(root, &hooks, Some(Shape::Directory));
            self.hook_links(root, &hooks);
            // husky keeps the hooks that call the user's scripts in a directory beside them.
            if hooks.ends_with("_")
                && let Some(scripts) = hooks.parent()
            {
                self.hold(root, scripts, None);
            }
        }
        self.commands(root, settings, tree);
    }

    fn included(&mut self, root: &Path, settings: &Settings) {
        for included in &settings.included {
            self.hold(root, included, Some(Shape::File));
        }
    }

    /// Files that commands of the configuration run in this working tree.
    fn commands(&mut self, root: &Path, settings: &Settings, tree: &Path) {
        let mut programs = Programs::default();
        for command in settings.entries.iter().filter(|entry| entry.is_command()) {
            if programs.add(root, tree, &command.value) == Known::NotAll {
                self.undecided.insert(command.name());
            }
        }
        for path in programs.files(root) {
            self.hold(root, &path, None);
            self.program_files.insert(path);
        }
        self.programs.paths.append(&mut programs.paths);
        self.programs.names.append(&mut programs.names);
    }

    /// A hook is often a link to a script of the workspace. What it leads to is a hook, too.
    fn hook_links(&mut self, root: &Path, hooks: &Path) {
        let entries = fs::read_dir(hooks).into_iter().flatten().flatten().take(MOST_HOOKS);
        let links: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| is_link(path)).collect();
        for link in links {
            let target = fs::read_link(&link).unwrap_or_default();
            self.hold(root, &real(&hooks.join(target)), Some(Shape::File));
        }
    }

    /// Protects a path of the workspace, links on the way to it included.
    fn hold(&mut self, root: &Path, path: &Path, if_missing: Option<Shape>) {
        let path = without_dots(path);
        self.links_on_the_way(root, &path, 0);
        let real = real(&path);
        if root.starts_with(&real) {
            self.notes.push(format!(
                "git's configuration has it run files of the whole workspace ({})",
                path.display()
            ));
            return;
        }
        if !real.starts_with(root) {
            return;
        }
        match if_missing {
            Some(shape) => self.keep(&real, shape),
            None if real.exists() => self.set(&real, How::ReadOnly),
            None => return,
        }
        for above in real.ancestors().skip(1).take_while(|above| *above != root) {
            self.set(above, How::InPlace);
        }
    }

    /// Links of the workspace that lead to a path, which may begin outside of it.
    fn links_on_the_way(&mut self, root: &Path, path: &Path, depth: usize) {
        if depth > MOST_LINKS {
            return;
        }
        let (mut here, mut parts) = (PathBuf::new(), path.components());
        while let Some(part) = parts.next() {
            let parent = here.clone();
            here.push(part);
            let Ok(target) = fs::read_link(&here) else { continue };
            let next = without_dots(&parent.join(&target).join(parts.as_path()));
            if here.starts_with(root) {
                self.note_parent(&here);
                self.links.insert(here, target);
            }
            return self.links_on_the_way(root, &next, depth + 1);
        }
    }

    fn note_parent(&mut self, path: &Path) {
        let parent = path.parent().and_then(|parent| self.held.identity(parent).ok());
        self.parents.extend(parent.map(|parent| (path.to_owned(), parent)));
    }

    fn keep(&mut self, path: &Path, shape: Shape) {
        self.need(path, shape);
        self.set(path, How::ReadOnly);
    }

    fn need(&mut self, path: &Path, shape: Shape) {
        if path.symlink_metadata().is_err() {
            self.missing.push((path.to_owned(), shape));
        }
    }

    fn set(&mut self, path: &Path, how: How) {
        let entry = self.entries.entry(path.to_owned()).or_insert(how);
        *entry = how.max(*entry);
    }

    /// What the user has to know before a session begins.
    pub(in super::super) fn warnings(&self) -> Vec<String> {
        if self.undecided.is_empty() {
            return Vec::new();
        }
        let names: Vec<&str> = self.undecided.iter().map(String::as_str).collect();
        vec![format!(
            "git runs programs by settings that cannot be read in full ({}); if these programs are \
             files of the workspace, a sandboxed command can change them",
            names.join(", ")
        )]
    }

    /// Paths that must not be written, whether or not they are there.
    pub(in super::super) fn read_only(&self) -> Vec<PathBuf> {
        let fixed = self.entries.iter().filter(|(_, how)| **how == How::ReadOnly);
        fixed.map(|(path, _)| path.clone()).collect()
    }

    /// The mounts, parents first. Creates missing paths, because only existing ones can be mounted.
    pub(in super::super) fn mounts(&self, root: &Path, inside: &Path) -> Vec<Mount> {
        for (path, shape) in &self.missing {
            // Where we cannot write, the process cannot either.
            self.make(path, *shape).ok();
        }
        let mut mounts = Vec::new();
        for (path, how) in &self.entries {
            if path.symlink_metadata().is_err() {
                continue;
            }
            let mut mount = |at: &Path| {
                mounts.push(match how {
                    How::InPlace => Mount::read_write(path, at),
                    How::ReadOnly => Mount::read_only(path, at),
                });
            };
            mount(path);
            if let Ok(rest) = path.strip_prefix(root)
                && inside != root
            {
                mount(&inside.join(rest));
            }
        }
        mounts
    }

    /// Makes an empty file or directory with the owner of its parent.
    fn make(&self, path: &Path, shape: Shape) -> io::Result<()> {
        let Some(parent) = path.parent() else { return Ok(()) };
        if !self.held.is_directory(parent) {
            self.make(parent, Shape::Directory)?;
        }
        match shape {
            Shape::File => self.held.make_file(path),
            Shape::Directory => self.held.make_directory(path),
        }
    }
}

/// Opens what the session can write to: the workspace, and a worktree's git directory elsewhere.
fn held(root: &Path, git: Option<&GitDirectories>) -> io::Result<HeldTree> {
    let mut held = HeldTree::default();
    held.hold(root)?;
    for directory in git.iter().flat_map(|git| [&git.common, &git.own]) {
        held.hold(directory)?;
    }
    Ok(held)
}

/// Whether a part that is protected is a link, which no mount can hold.
fn has_links(own: &Path, common: &Path) -> bool {
    let shared = ["config", "hooks", "info", "info/attributes", "modules", "worktrees"];
    let per_tree = ["config.worktree", "commondir", "gitdir"];
    shared.iter().any(|part| is_link(&common.join(part)))
        || per_tree.iter().any(|part| is_link(&own.join(part)))
}

/// The working tree that a directory below `worktrees` belongs to.
fn tree_of(administration: &Path) -> Option<PathBuf> {
    let named = fs::read_to_string(administration.join("gitdir")).ok()?;
    PathBuf::from(named.trim()).parent()?.canonicalize().ok()
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}
