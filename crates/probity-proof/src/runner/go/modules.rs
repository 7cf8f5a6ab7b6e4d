//! The modules that a repository depends on, and what is compiled of them before any test: both from
//! stores that see `go.mod` and `go.sum` and no other file of the repository.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use probity_sandbox::Mount;
use probity_scope::{HeldDirectory, HeldEntry, HeldKind};

use super::{Go, MODULES};
use crate::{
    mounts,
    places::{Leaf, read_text},
    runner::{
        Trouble,
        context::{Access, Site, Task},
        store::StoreKey,
        succeeded,
    },
    workshop::Preparation,
};

/// The files of a module that decide what it depends on.
const MANIFESTS: [&str; 2] = ["go.mod", "go.sum"];

/// What the cache of downloads has of one version.
const DOWNLOADED: [&str; 4] = ["info", "mod", "zip", "ziphash"];

/// Variables of the caller that change what compilers make.
const FLAGS: [&str; 4] = ["CGO_ENABLED", "GOEXPERIMENT", "GOFLAGS", "PKG_CONFIG_PATH"];

/// Stores of compiled packages: those of the tool chain, and those of fetched modules.
const STANDARD: &str = "go-standard";
const FOREIGN: &str = "go-foreign";

/// The modules of the repository: their directories, and their manifests in a leaf of their own.
pub(super) struct Skeleton {
    pub(super) leaf: Leaf,
    pub(super) directories: Vec<PathBuf>,
}

impl Skeleton {
    pub(super) fn of(preparation: &Preparation<'_>) -> Result<Self, Trouble> {
        let failed = |error| Trouble::at(Path::new("go.mod"), &error);
        let leaf = preparation.site.context.vault.fresh_leaf("go-skeleton").map_err(failed)?;
        let directories: Vec<PathBuf> =
            preparation.directories_with("go.mod").into_iter().map(Path::to_owned).collect();
        for directory in &directories {
            for name in MANIFESTS {
                let file = directory.join(name);
                if let Ok(text) = read_text(preparation.files, &file) {
                    leaf.held.write(&file, text.as_bytes()).map_err(failed)?;
                }
            }
        }
        Ok(Self { leaf, directories })
    }

    /// Shows the manifests where the repository is otherwise.
    fn mount(&self, site: &Site<'_>) -> Result<Mount, Trouble> {
        let mount = self.leaf.read_write(&mounts::MANIFESTS, &site.seen_repo);
        mount.map_err(|error| Trouble::at(Path::new("go.mod"), &error))
    }

    fn sums(&self) -> impl Iterator<Item = String> {
        self.directories.iter().map(|directory| {
            read_text(&self.leaf.held, directory.join("go.sum")).unwrap_or_default()
        })
    }
}

impl Go {
    /// Fetches what the modules lock. What the machine has of exactly that is taken from there.
    pub(super) fn fetch(&mut self, site: &Site<'_>, skeleton: &Skeleton) -> Result<(), Trouble> {
        let mut key = StoreKey::new();
        key.add(&self.environment.goversion);
        skeleton.sums().for_each(|sum| key.add(sum));
        let filled = site.context.stored(MODULES, key, |leaf| {
            let known = HeldDirectory::open(&self.environment.gomodcache.join("cache/download"));
            if let Ok(known) = known {
                let named: BTreeSet<PathBuf> =
                    skeleton.sums().flat_map(|sum| locked(&sum)).collect();
                for path in named {
                    take(&known, leaf, &path);
                }
            }
            let with_sums = skeleton
                .directories
                .iter()
                .filter(|directory| skeleton.leaf.held.is_file(directory.join("go.sum")));
            for directory in with_sums {
                self.download(site, skeleton, leaf, directory)?;
            }
            Ok(())
        });
        self.modules = Some(filled?);
        Ok(())
    }

    /// Downloading runs nothing of the repository, and sees its manifests alone.
    fn download(
        &self,
        site: &Site<'_>,
        skeleton: &Skeleton,
        modules: &Leaf,
        directory: &Path,
    ) -> Result<(), Trouble> {
        let failed = |error| Trouble::at(Path::new("go.mod"), &error);
        let task = |fetches: bool| -> Result<Task, Trouble> {
            let seen = site.context.seen(MODULES, modules);
            let mut task = self.command(site, directory);
            task.mounts.push(skeleton.mount(site)?);
            task.mounts.push(modules.read_write(&mounts::GO_MODULES, &seen).map_err(failed)?);
            task.variable("GOMODCACHE", seen);
            task.variable("GOFLAGS", "-mod=mod -modcacherw");
            task.fetches = fetches;
            if !fetches {
                task.variable("GOPROXY", "off");
            }
            task.arguments(["mod", "download"]);
            Ok(task)
        };
        let offline = succeeded(site.run(&task(false)?)).map(drop);
        if offline.is_ok() || !site.context.fetching.is_allowed() {
            return offline;
        }
        succeeded(site.run(&task(true)?)).map(drop)
    }

    /// Compiles the standard library and what the packages use of fetched modules, each once for all
    /// reviews, and lets the workshop's own cache begin with both.
    pub(super) fn compile_ahead(
        &mut self,
        site: &Site<'_>,
        skeleton: &Skeleton,
    ) -> Result<(), Trouble> {
        let standard = site.context.stored(STANDARD, self.key(site), |leaf| {
            let mut task = self.task_with(site, Path::new(""), leaf)?;
            task.mounts.push(skeleton.mount(site)?);
            task.arguments(["list", "-e", "-export", "-f", "", "std"]);
            succeeded(site.run(&task)).map(drop)
        })?;
        self.begin_with(site, &self.cache, STANDARD, &standard)?;
        self.compiled.push((STANDARD, standard));
        let mut used = Vec::new();
        for directory in &skeleton.directories {
            let packages = self.foreign_packages(site, directory)?;
            if !packages.is_empty() {
                used.push((directory, packages));
            }
        }
        if used.is_empty() {
            return Ok(());
        }
        let mut key = self.key(site);
        skeleton.sums().for_each(|sum| key.add(sum));
        for (_, packages) in &used {
            key.add(packages.join("\n"));
        }
        let foreign = site.context.stored(FOREIGN, key, |leaf| {
            for (name, store) in &self.compiled {
                self.begin_with(site, leaf, name, store)?;
            }
            for (directory, packages) in &used {
                let mut task = self.task_with(site, directory, leaf)?;
                task.mounts.push(skeleton.mount(site)?);
                task.variable("GOFLAGS", "-mod=mod");
                task.arguments(["list", "-e", "-export", "-deps", "-f", ""]);
                task.arguments(packages);
                succeeded(site.run(&task))?;
            }
            Ok(())
        })?;
        self.begin_with(site, &self.cache, FOREIGN, &foreign)?;
        self.compiled.push((FOREIGN, foreign));
        Ok(())
    }

    /// What all compiled packages depend on.
    fn key(&self, site: &Site<'_>) -> StoreKey {
        let mut key = StoreKey::new();
        key.add(&self.environment.goversion);
        for name in FLAGS {
            key.add(site.context.variable(name).map_or(&b""[..], |value| value.as_encoded_bytes()));
        }
        key
    }

    /// Lets a cache of builds begin with what a store has: with links, since the store is shown
    /// read-only beside it and copies of a whole library would cost each review a second.
    fn begin_with(
        &self,
        site: &Site<'_>,
        cache: &Leaf,
        name: &str,
        store: &Leaf,
    ) -> Result<(), Trouble> {
        let seen = site.context.seen(name, store);
        let link = || -> io::Result<()> {
            for HeldEntry { name: part, kind } in store.held.entries("")? {
                if kind != HeldKind::Directory {
                    continue;
                }
                let (from, to) = (store.held.open_below(&part)?, cache.held.ensure(&part)?);
                for HeldEntry { name, kind } in from.entries("")? {
                    if kind == HeldKind::File && to.kind(&name).is_none() {
                        to.link(&name, &seen.join(&part).join(&name))?;
                    }
                }
            }
            // Without it go removes whatever it finds to be old.
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            cache.held.write("trim.txt", now.unwrap_or_default().as_secs().to_string().as_bytes())
        };
        link().map_err(|error| Trouble::at(Path::new(name), &error))
    }

    /// The packages of fetched modules that a module uses.
    fn foreign_packages(&self, site: &Site<'_>, module: &Path) -> Result<Vec<String>, Trouble> {
        let mut list = self.task_with(site, module, &self.cache)?;
        list.arguments([
            "list",
            "-e",
            "-deps",
            "-test",
            "-f",
            "{{.ImportPath}}\t{{.Dir}}",
            "./...",
        ]);
        let told = succeeded(site.run(&list))?;
        let modules = self.modules.as_ref().map(|leaf| site.context.seen(MODULES, leaf));
        let foreign = |line: &str| {
            let (name, directory) = line.split_once('\t')?;
            let is_foreign =
                modules.as_ref().is_some_and(|modules| Path::new(directory).starts_with(modules));
            let is_plain =
                !name.starts_with('-') && !name.contains(' ') && !name.ends_with(".test");
            (is_foreign && is_plain).then(|| name.to_owned())
        };
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        let names: BTreeSet<String> = text.lines().filter_map(foreign).collect();
        Ok(names.into_iter().collect())
    }

    /// The command itself, which is told where everything is.
    pub(super) fn command(&self, site: &Site<'_>, directory: &Path) -> Task {
        let limit = site.context.build_timeout;
        let program = self.environment.goroot.join("bin/go");
        let mut task = Task::new([program], directory, Access::Compiles, limit);
        task.tools.push(self.environment.goroot.clone());
        task.variable("GOROOT", &self.environment.goroot);
        task.variable("GOTOOLCHAIN", "local");
        task.variable("GOTELEMETRY", "off");
        task
    }
}

/// The files of the versions that a `go.sum` names, as the cache of downloads has them.
fn locked(sum: &str) -> Vec<PathBuf> {
    let version = |line: &str| {
        let mut words = line.split_whitespace();
        let (module, version) = (words.next()?, words.next()?);
        let version = version.strip_suffix("/go.mod").unwrap_or(version);
        Some(format!("{}/@v/{}", escaped(module), escaped(version)))
    };
    let versions = sum.lines().filter_map(version);
    versions
        .flat_map(|version| DOWNLOADED.map(|ending| PathBuf::from(format!("{version}.{ending}"))))
        .collect()
}

/// Where file systems do not tell small letters from large ones, a mark does.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(letter.to_ascii_lowercase());
    }
    escaped
}

/// A file that is missing, or is no plain file of that directory, is fetched.
fn take(known: &HeldDirectory, leaf: &Leaf, path: &Path) {
    leaf.held.copy_file(known, path, &Path::new("cache/download").join(path)).ok();
}

#[cfg(test)]
mod tests {
    use super::locked;

    #[test]
    fn only_what_is_locked_is_taken_and_nothing_leads_out() {
        let sum = "github.com/Masterminds/semver v1.5.0 h1:a=\n\
                   github.com/Masterminds/semver v1.5.0/go.mod h1:b=\nodd\n";
        let paths: Vec<String> =
            locked(sum).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(paths.len(), 8);
        assert_eq!(paths[2], "github.com/!masterminds/semver/@v/v1.5.0.zip");
    }
}
