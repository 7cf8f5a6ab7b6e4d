//! The installed packages, which no repository tracks and every test needs.
//!
//! In bubblewrap they are shown where they belong, read-only. Vite writes beside them before it reads
//! its own configuration: it gets a directory of its own there, with links to the packages. Without
//! bubblewrap each copy gets a link to one copy of them, because a link to the packages themselves
//! would be a way to change them.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use probity_sandbox::Mount;

use crate::{
    Tree,
    runner::{
        Trouble,
        context::{RunnerContext, Site},
    },
};

/// More places with packages than any repository has of its own.
const MOST: usize = 200;

/// What Vite keeps beside the packages, which is made anew.
const WRITTEN: [&str; 2] = [".vite", ".vite-temp"];

#[derive(Debug)]
pub(super) struct Modules {
    /// The directory they are in, relative to the repository, and where they really are.
    places: Vec<(PathBuf, PathBuf)>,
}

impl Modules {
    pub(super) fn find(context: &RunnerContext, repo: &Path, tree: &Tree) -> Result<Self, Trouble> {
        let packages = tree.files().iter().filter(|file| file.ends_with("package.json"));
        let mut places = Vec::new();
        for directory in packages.filter_map(|file| file.parent()).take(MOST) {
            let tracked = directory.join("node_modules");
            let installed = repo.join(&tracked);
            let copied = tree.files().iter().any(|file| file.starts_with(&tracked));
            let Some(real) = fs::canonicalize(&installed).ok().filter(|real| real.is_dir()) else {
                continue;
            };
            if copied {
                continue;
            }
            let place = if context.is_sandboxed() {
                real
            } else {
                let own = context.kit.join(format!("modules{}/node_modules", places.len()));
                copy(&real, &own).map_err(|error| Trouble::at(&real, &error))?;
                own
            };
            places.push((directory.to_owned(), place));
        }
        Ok(Self { places })
    }

    /// The nearest directory, up from this one, that has a package installed.
    pub(super) fn directory(&self, from: &Path, package: &str) -> Option<&Path> {
        let installed = |above: &Path| {
            let here = |(directory, _): &&(PathBuf, PathBuf)| directory == above;
            self.places.iter().find(here).filter(|(_, real)| real.join(package).is_dir())
        };
        from.ancestors().find_map(installed).map(|(directory, _)| directory.as_path())
    }

    pub(super) fn has(&self, from: &Path, package: &str) -> bool {
        self.directory(from, package).is_some()
    }

    /// Puts the packages into a copy, and gives what has to be mounted for that.
    pub(super) fn install(&self, site: &Site<'_>, beside: Beside) -> Result<Vec<Mount>, Trouble> {
        let mut mounts = Vec::new();
        for (number, (directory, real)) in self.places.iter().enumerate() {
            let place = directory.join("node_modules");
            let failed = |error| Trouble::at(real, &error);
            if !site.context.is_sandboxed() {
                site.copy.link(&place, real).map_err(failed)?;
                continue;
            }
            site.copy.make_directory(&place).map_err(failed)?;
            let seen = site.seen_repo.join(&place);
            match beside {
                Beside::Written => {
                    let links = site.scratch.join(format!("modules{number}"));
                    link_all(real, &packages(number), &links).map_err(failed)?;
                    mounts.push(Mount::read_write(links, seen));
                    mounts.push(Mount::read_only(real, packages(number)));
                }
                Beside::Unwritten => mounts.push(Mount::read_only(real, seen)),
            }
        }
        Ok(mounts)
    }
}

/// Whether a framework writes beside the packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Written,
    Unwritten,
}

/// Where packages are seen that are linked to.
fn packages(number: usize) -> PathBuf {
    PathBuf::from(format!("/proof/packages{number}/node_modules"))
}

/// Fills a directory with links to what is in another one, which is seen elsewhere. What is a link
/// already, as to a package of the same repository, stays the link it is.
fn link_all(from: &Path, seen: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let (seen, to) = (seen.join(&name), to.join(&name));
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, to)?;
        } else if kind.is_dir() && name.as_encoded_bytes().starts_with(b"@") {
            link_all(&entry.path(), &seen, &to)?;
        } else if !WRITTEN.iter().any(|own| name == *own) {
            symlink(seen, to)?;
        }
    }
    Ok(())
}

/// Copies a directory with its links as they are.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
