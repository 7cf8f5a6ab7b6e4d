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

use super::super::{
    site::{Bench, Site},
    tree::Tree,
};

/// More places with packages than any repository has of its own.
const MOST: usize = 200;

/// What Vite keeps beside the packages, which is made anew.
const WRITTEN: [&str; 2] = [".vite", ".vite-temp"];

#[derive(Debug)]
pub(super) struct Modules {
    contained: bool,
    /// The directory they are in, relative to the repository, and where they really are.
    places: Vec<(PathBuf, PathBuf)>,
}

impl Modules {
    pub(super) fn find(bench: &Bench, repo: &Path, tree: &Tree) -> Result<Self, String> {
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
            let place = if bench.contained() {
                real
            } else {
                let own = bench.kit.join(format!("modules{}/node_modules", places.len()));
                copy(&real, &own).map_err(|error| format!("{}: {error}", real.display()))?;
                own
            };
            places.push((directory.to_owned(), place));
        }
        Ok(Self { contained: bench.contained(), places })
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

    /// `written` says that somebody writes beside the packages.
    pub(super) fn mounts(&self, bench: &Bench, site: &Site, written: bool) -> Vec<Mount> {
        let shown = self.places.iter().enumerate().filter(|_| self.contained);
        let mounts = shown.flat_map(|(number, (directory, real))| {
            let place = site.seen_repo.join(directory).join("node_modules");
            if written {
                let (links, _) = bench.own(site, &links(number));
                vec![Mount::read_write(links, place), Mount::read_only(real, packages(number))]
            } else {
                vec![Mount::read_only(real, place)]
            }
        });
        mounts.collect()
    }

    pub(super) fn link(&self, bench: &Bench, site: &Site, written: bool) -> Result<(), String> {
        for (number, (directory, real)) in self.places.iter().enumerate() {
            let error = |error| format!("{}: {error}", real.display());
            if bench.contained() {
                site.make_directory(&directory.join("node_modules"))?;
                if written {
                    let (own, _) = bench.own(site, &links(number));
                    link_all(real, &packages(number), &own).map_err(error)?;
                }
                continue;
            }
            symlink(real, site.repo.join(directory).join("node_modules")).map_err(error)?;
        }
        Ok(())
    }
}

fn links(number: usize) -> String {
    format!("modules{number}")
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
