//! The installed packages, which no repository tracks and every test needs.
//!
//! In bubblewrap they are shown where they belong, read-only. Vite writes beside them before it reads
//! its own configuration: it gets a directory of its own there, with links to the packages. Landlock
//! shows them where they are, and every copy has such a directory. Without a sandbox each copy gets a
//! link to one copy of them, because a link to the packages themselves would be a way to change them.

use std::{
    io,
    path::{Path, PathBuf},
};

use probity_sandbox::Mount;
use probity_scope::{CopiedLinks, HeldDirectory, HeldKind};
use serde_json::Value;

use crate::{
    host, mounts,
    places::Vault,
    runner::{Trouble, context::Site},
    workshop::Preparation,
};

/// Where a package has those that it uses.
const MODULES: &str = "node_modules";

/// More places with packages than any repository has of its own.
const MOST: usize = 200;

/// What Vite, ava and others keep beside the packages, which is made anew.
const WRITTEN: [&str; 3] = [".cache", ".vite", ".vite-temp"];

#[derive(Debug)]
pub(super) struct Modules {
    /// The directory they are in, relative to the repository, and where they really are.
    places: Vec<(PathBuf, PathBuf)>,
}

impl Modules {
    pub(super) fn find(preparation: &mut Preparation<'_>) -> Result<Self, Trouble> {
        let context = preparation.site.context;
        let mut places = Vec::new();
        for directory in preparation.directories_with("package.json").into_iter().take(MOST) {
            let place = directory.join(MODULES);
            if preparation.is_copied(&place) {
                continue;
            }
            let Some(real) = preparation.installed(&place) else { continue };
            let place = if context.is_sandboxed() {
                real
            } else {
                let name = format!("modules{}", places.len());
                copy(&real, &context.vault, &name).map_err(|error| Trouble::at(&real, &error))?
            };
            places.push((directory.to_owned(), place));
        }
        Ok(Self { places })
    }

    /// The nearest directory, up from this one, that has a package installed.
    pub(super) fn directory(&self, from: &Path, package: &str) -> Option<&Path> {
        let installed = |above: &Path| {
            let here = |(directory, _): &&(PathBuf, PathBuf)| directory == above;
            self.places
                .iter()
                .find(here)
                .filter(|(_, real)| host::is_directory(&real.join(package)))
        };
        from.ancestors().find_map(installed).map(|(directory, _)| directory.as_path())
    }

    pub(super) fn has(&self, from: &Path, package: &str) -> bool {
        self.directory(from, package).is_some()
    }

    /// The settings of an installed package, and where it is, relative to the repository.
    pub(super) fn package(&self, from: &Path, package: &str) -> Option<(PathBuf, Value)> {
        let directory = self.directory(from, package)?;
        let (_, real) = self.places.iter().find(|(place, _)| place == directory)?;
        let text = host::settings(&real.join(package).join("package.json"))?;
        Some((directory.join(MODULES).join(package), serde_json::from_str(&text).ok()?))
    }

    /// Puts the packages into a copy, and gives what has to be mounted for that.
    pub(super) fn install(&self, site: &Site<'_>, beside: Beside) -> Result<Vec<Mount>, Trouble> {
        let mut made = Vec::new();
        for (number, (directory, real)) in self.places.iter().enumerate() {
            let place = directory.join(MODULES);
            let failed = |error| Trouble::at(&place, &error);
            if !site.context.is_sandboxed() {
                if site.repo().kind(&place).is_none() {
                    site.copy.link(&place, real).map_err(failed)?;
                }
                continue;
            }
            if !site.context.moves_paths() {
                if site.repo().kind(&place).is_none() {
                    let held = HeldDirectory::open(real).map_err(failed)?;
                    let links = site.repo().ensure(&place).map_err(failed)?;
                    link_all(&held, real, &links).map_err(failed)?;
                }
                made.push(mounts::PACKAGES.read_only(real, real));
                continue;
            }
            site.copy.make_directory(&place).map_err(failed)?;
            let seen = site.seen_repo.join(&place);
            match beside {
                Beside::Written => {
                    // New for each run: the one before may have left anything there.
                    let links = site.vault.fresh_leaf(&format!("modules{number}"));
                    let links = links.map_err(failed)?;
                    let held = HeldDirectory::open(real).map_err(failed)?;
                    link_all(&held, &packages(number), &links.held).map_err(failed)?;
                    made.push(links.read_write(&mounts::PACKAGE_LINKS, seen).map_err(failed)?);
                    made.push(mounts::PACKAGES.read_only(real, packages(number)));
                }
                Beside::Unwritten => made.push(mounts::PACKAGES.read_only(real, seen)),
            }
        }
        Ok(made)
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
fn link_all(from: &HeldDirectory, seen: &Path, to: &HeldDirectory) -> io::Result<()> {
    for entry in from.entries("")? {
        let (name, seen) = (&entry.name, seen.join(&entry.name));
        if entry.kind == HeldKind::Link {
            to.link(name, &from.read_link(name)?)?;
        } else if entry.kind == HeldKind::Directory && name.as_encoded_bytes().starts_with(b"@") {
            link_all(&from.open_below(name)?, &seen, &to.ensure(name)?)?;
        } else if !WRITTEN.iter().any(|own| name == *own) {
            to.link(name, &seen)?;
        }
    }
    Ok(())
}

/// Copies installed packages with their links as they are, and gives the path of the copy.
fn copy(from: &Path, vault: &Vault, name: &str) -> io::Result<PathBuf> {
    let leaf = vault.fresh_leaf(name)?;
    let modules = leaf.held.ensure(MODULES)?;
    modules.copy_tree(&HeldDirectory::open(from)?, CopiedLinks::Kept, &|_, _| true)?;
    Ok(leaf.own_path().join(MODULES))
}
