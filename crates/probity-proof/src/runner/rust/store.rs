//! What Rust packages depend on: fetched, and compiled ahead, by cargo that sees manifests, the lock file
//! and empty sources, and so runs nothing of the repository.

use std::path::{Path, PathBuf};

use probity_scope::{CopiedLinks, HeldDirectory};

use super::{Rust, TARGET, package::Target};
use crate::{
    host, mounts,
    places::{Leaf, read_text},
    runner::{
        Trouble,
        context::{Access, Site, Task},
        store::StoreKey,
        succeeded,
    },
    workshop::Preparation,
};

/// Stands for every source. It compiles as a library, a program, a build script and a test.
const EMPTY: &str = "#![allow(dead_code)]\nfn main() {}\n";

/// Where cargo's own home is seen.
pub(super) const HOME: &str = "cargo-home";

const PUBLIC_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// How the directories of the public registry begin, in the home of cargo.
const PUBLIC_DIRECTORY: &str = "index.crates.io-";

/// Variables of the caller that change what the compiler makes.
const FLAGS: [&str; 1] = ["RUSTFLAGS"];

/// A workspace without its code: what decides which dependencies are compiled, and how.
pub(super) struct Skeleton {
    pub(super) leaf: Leaf,
    /// Of the workspace, in the repository.
    pub(super) directory: PathBuf,
    /// Whether cargo obeys files of the repository, which can name programs and other sources.
    pub(super) has_settings: bool,
}

/// The home and the compiled dependencies of one workspace.
#[derive(Debug)]
pub(super) struct Warm {
    pub(super) directory: PathBuf,
    /// None where the repository has all that it needs.
    pub(super) home: Option<Leaf>,
    /// None if they could not be compiled without the rest.
    pub(super) target: Option<Leaf>,
}

impl Skeleton {
    /// Of a workspace whose targets cargo has listed.
    pub(super) fn of(
        preparation: &Preparation<'_>,
        directory: &Path,
        targets: &[Target],
    ) -> Result<Self, Trouble> {
        let failed = |error| Trouble::at(Path::new("Cargo.toml"), &error);
        let site = preparation.site;
        let leaf = site.context.vault.fresh_leaf("rust-skeleton").map_err(failed)?;
        let mut has_settings = false;
        for file in preparation.tree.files() {
            let is_manifest = file.ends_with("Cargo.toml") || file.ends_with("Cargo.lock");
            has_settings |= file.ends_with(".cargo/config.toml") || file.ends_with(".cargo/config");
            if let (true, Ok(text)) = (is_manifest, read_text(preparation.files, file)) {
                leaf.held.write(file, text.as_bytes()).map_err(failed)?;
            }
        }
        for target in targets {
            if !leaf.held.is_file(&target.source) {
                leaf.held.write(&target.source, EMPTY.as_bytes()).map_err(failed)?;
            }
        }
        Ok(Self { leaf, directory: directory.to_owned(), has_settings })
    }

    fn lock(&self) -> Option<String> {
        read_text(&self.leaf.held, self.directory.join("Cargo.lock")).ok()
    }

    /// All manifests, in the order of their paths.
    fn add_manifests(&self, key: &mut StoreKey) -> Result<(), Trouble> {
        let failed = |error| Trouble::at(Path::new("Cargo.toml"), &error);
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            for entry in self.leaf.held.entries(&directory).map_err(failed)? {
                let path = directory.join(&entry.name);
                if self.leaf.held.is_directory(&path) {
                    pending.push(path);
                } else if path.ends_with("Cargo.toml") {
                    key.add(path.as_os_str().as_encoded_bytes());
                    key.add(read_text(&self.leaf.held, &path).map_err(failed)?);
                }
            }
        }
        Ok(())
    }
}

impl Rust {
    /// Locks the dependencies of a workspace that has no lock file.
    pub(super) fn lock(&self, site: &Site<'_>, skeleton: &Skeleton) -> Result<String, Trouble> {
        if skeleton.lock().is_none() {
            let failed = |error| Trouble::at(Path::new("Cargo.lock"), &error);
            let home = site.context.vault.fresh_leaf("locking").map_err(failed)?;
            self.take_index(&home);
            self.with_network(site, |fetches| {
                self.in_skeleton(site, skeleton, &home, fetches, &["generate-lockfile"])
            })?;
        }
        let missing = || Trouble::Machine("cargo wrote no Cargo.lock".to_owned());
        skeleton.lock().ok_or_else(missing)
    }

    /// The lock file for the manifests as they are, with as many of its versions as fit; none if it is
    /// this one.
    pub(super) fn lock_again(
        &self,
        site: &Site<'_>,
        skeleton: &Skeleton,
        lock: &str,
    ) -> Option<String> {
        let home = site.context.vault.fresh_leaf("locking").ok()?;
        self.take_index(&home);
        let update = ["update", "--workspace"];
        let updated = self.with_network(site, |fetches| {
            self.in_skeleton(site, skeleton, &home, fetches, &update)
        });
        updated.ok()?;
        skeleton.lock().filter(|renewed| renewed != lock)
    }

    /// Fetches what is locked, and compiles it if that is all that the compiler has to know.
    pub(super) fn warm(
        &self,
        site: &Site<'_>,
        skeleton: &Skeleton,
        lock: &str,
    ) -> Result<Warm, Trouble> {
        let settings = self.settings(site);
        let mut key = StoreKey::new();
        key.add(&self.version);
        key.add(&settings);
        key.add(lock);
        let home = site.context.stored(HOME, key, |home| {
            self.take_index(home);
            self.take_locked(home, lock);
            if !settings.is_empty() {
                let written = home.held.write("config.toml", settings.as_bytes());
                written.map_err(|error| Trouble::at(Path::new("config.toml"), &error))?;
            }
            self.with_network(site, |fetches| {
                // What only other platforms need is not needed here.
                let mut words = vec!["fetch", "--locked"];
                let host = self.version.lines().find_map(|line| line.strip_prefix("host: "));
                words.extend(host.into_iter().flat_map(|host| ["--target", host]));
                self.in_skeleton(site, skeleton, home, fetches, &words)
            })
        })?;
        let mut key = StoreKey::new();
        key.add(&self.version);
        key.add(&settings);
        key.add(lock);
        skeleton.add_manifests(&mut key)?;
        for name in FLAGS {
            key.add(site.context.variable(name).map_or(&b""[..], |value| value.as_encoded_bytes()));
        }
        let shared = if skeleton.has_settings || !is_public(lock) {
            None
        } else {
            site.context
                .stored("rust-target", key, |target| {
                    let words =
                        ["test", "--no-run", "--workspace", "--quiet", "--locked", "--offline"];
                    let mut task = self.skeleton_task(site, skeleton, &home, false, &words)?;
                    self.compile_into(site, target, &mut task)
                })
                .ok()
        };
        Ok(Warm { directory: skeleton.directory.clone(), home: Some(home), target: shared })
    }

    /// Compiles a workspace as it is, for this workshop alone: its settings, its own vendored packages
    /// and those of git repositories may run code that nobody else should get the results of.
    pub(super) fn warm_alone(&self, site: &Site<'_>, workspace: &Path) -> Result<Leaf, Trouble> {
        let vault = &site.context.vault;
        let name = format!("rust-target-{}", self.warm.len());
        let target = vault.fresh_leaf(&name).map_err(|error| Trouble::at(vault.path(), &error))?;
        let mut task = self.task(site, workspace);
        task.arguments(["test", "--no-run", "--workspace", "--quiet"]);
        self.compile_into(site, &target, &mut task)?;
        Ok(target)
    }

    fn compile_into(&self, site: &Site<'_>, target: &Leaf, task: &mut Task) -> Result<(), Trouble> {
        let failed = |error| Trouble::at(Path::new(TARGET), &error);
        let seen = site.context.seen("rust-target", target);
        task.mounts.push(target.read_write(&mounts::RUST_TARGET, &seen).map_err(failed)?);
        task.variable("CARGO_TARGET_DIR", seen);
        succeeded(site.run(task)).map(drop)
    }

    /// Whether cargo finds everything that a workspace needs in the repository itself.
    pub(super) fn is_vendored(&self, site: &Site<'_>, workspace: &Path) -> bool {
        let mut ask = self.task(site, workspace);
        ask.arguments(["metadata", "--locked", "--format-version=1"]);
        succeeded(site.run(&ask)).is_ok()
    }

    /// Without network first: what the machine has needs none.
    fn with_network(
        &self,
        site: &Site<'_>,
        run: impl Fn(bool) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        match run(false) {
            Err(trouble) if !site.context.fetching.is_allowed() => Err(trouble),
            Err(_) => run(true),
            Ok(()) => Ok(()),
        }
    }

    fn in_skeleton(
        &self,
        site: &Site<'_>,
        skeleton: &Skeleton,
        home: &Leaf,
        fetches: bool,
        words: &[&str],
    ) -> Result<(), Trouble> {
        let task = self.skeleton_task(site, skeleton, home, fetches, words)?;
        succeeded(site.run(&task)).map(drop)
    }

    /// Cargo among empty sources, with a home that it may fill.
    fn skeleton_task(
        &self,
        site: &Site<'_>,
        skeleton: &Skeleton,
        home: &Leaf,
        fetches: bool,
        words: &[&str],
    ) -> Result<Task, Trouble> {
        let failed = |error| Trouble::at(Path::new(HOME), &error);
        let limit = site.context.build_timeout;
        let cargo = self.sysroot.join("bin/cargo");
        let mut task = Task::new([cargo], &skeleton.directory, Access::Compiles, limit);
        self.surround(site, &mut task);
        let seen = site.context.seen(HOME, home);
        task.mounts.push(home.read_write(&mounts::CARGO_HOME, &seen).map_err(failed)?);
        task.mounts
            .push(skeleton.leaf.read_write(&mounts::MANIFESTS, &site.seen_repo).map_err(failed)?);
        let keys = self.home.join("credentials.toml");
        if fetches && site.context.fetching.gives(&keys) {
            task.mounts.push(mounts::FETCH_FILE.read_only(keys, seen.join("credentials.toml")));
        }
        task.variable("CARGO_HOME", seen);
        self.compile_variables(&mut task, &site.seen_build.join(TARGET));
        task.fetches = fetches;
        task.variable("CARGO_NET_OFFLINE", if fetches { "false" } else { "true" });
        task.arguments(words);
        Ok(task)
    }

    /// The settings of the user's cargo, if the user's own file gives them to fetches: they may hold
    /// the addresses and keys of private registries, and tests see them.
    fn settings(&self, site: &Site<'_>) -> String {
        let file = self.home.join("config.toml");
        let is_given = site.context.fetching.gives(&file);
        is_given.then(|| host::settings(&file)).flatten().unwrap_or_default()
    }

    /// What the machine knows of the public registry. Names of private ones stay where they are.
    fn take_index(&self, home: &Leaf) {
        for (registry, held) in self.public("index") {
            let target = home.held.ensure(Path::new("registry/index").join(&registry));
            if let Ok(target) = target {
                // What is missing is fetched.
                target.copy_tree(&held, CopiedLinks::Dropped, &|_, _| true).ok();
            }
        }
    }

    /// The packages of the public registry that a lock file names. Cargo compares their hashes.
    fn take_locked(&self, home: &Leaf, lock: &str) {
        for (registry, held) in self.public("cache") {
            for (name, version) in locked(lock) {
                let file = format!("{name}-{version}.crate");
                let target = Path::new("registry/cache").join(&registry).join(&file);
                home.held.copy_file(&held, Path::new(&file), &target).ok();
            }
        }
    }

    fn public(&self, kind: &str) -> Vec<(String, HeldDirectory)> {
        let registries = self.home.join("registry").join(kind);
        let names = host::names_in(&registries);
        let public = names.into_iter().filter(|name| name.starts_with(PUBLIC_DIRECTORY));
        public
            .filter_map(|name| {
                let held = HeldDirectory::open(&registries).ok()?.open_below(&name).ok()?;
                Some((name, held))
            })
            .collect()
    }
}

/// The packages of the public registry in a lock file.
fn locked(lock: &str) -> Vec<(String, String)> {
    let field = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim_start_matches([' ', '=']).trim_matches('"').to_owned())
    };
    let package = |block: &str| {
        let source = field(block, "source")?;
        let (name, version) = (field(block, "name")?, field(block, "version")?);
        let is_plain = |text: &str| !text.contains('/') && !text.is_empty();
        (source == PUBLIC_REGISTRY && is_plain(&name) && is_plain(&version))
            .then_some((name, version))
    };
    lock.split("[[package]]").skip(1).filter_map(package).collect()
}

/// Whether all that is locked is the repository's own or of the public registry.
fn is_public(lock: &str) -> bool {
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    sources.into_iter().all(|source| source.trim_matches('"') == PUBLIC_REGISTRY)
}

/// Sources that are not fetched: files of this machine, which the repository names.
pub(super) fn local_source(texts: &[String]) -> Option<String> {
    texts.iter().flat_map(|text| text.lines()).find_map(|line| {
        let at = ["file://", "git+file:", "registry+file:", "sparse+file:"]
            .iter()
            .find_map(|scheme| line.find(scheme))?;
        Some(line.get(at..)?.split(['"', '\'']).next()?.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{is_public, local_source, locked};

    #[test]
    fn only_packages_of_the_public_registry_are_taken() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
            [[package]]\nname = \"serde\"\nversion = \"1.0.2\"\n\
            source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"ab\"\n";
        assert_eq!(locked(lock), [("serde".to_owned(), "1.0.2".to_owned())]);
        assert!(is_public(lock));
        let git = "\n[[package]]\nname = \"x\"\nversion = \"1.0.0\"\n\
            source = \"git+https://example.org/x#0123\"\n";
        assert!(!is_public(&format!("{lock}{git}")));
        assert_eq!(locked(git), []);
    }

    #[test]
    fn sources_on_this_machine_are_named() {
        let manifest = "[dependencies]\nx = { git = \"file:///home/user/private\" }\n";
        let texts = [manifest.to_owned()];
        assert_eq!(local_source(&texts).as_deref(), Some("file:///home/user/private"));
        assert_eq!(local_source(&["x = { git = \"https://example.org/x\" }".to_owned()]), None);
    }
}
