//! Where managers and compilers keep what they download, and what empties it.

use std::borrow::Cow;

use probity_dockerfile::{Action, Instruction, Manager, PackageCall};
use probity_finding::Span;
use probity_shell::{Call, Word};

/// What one kind of program downloads into.
#[derive(Debug)]
pub(super) struct Cache {
    /// The programs that fill it.
    programs: &'static [&'static str],
    /// Subcommands that fill it; those of package managers that are known otherwise need none.
    verbs: &'static [&'static str],
    pub(super) mounts: &'static [Mount],
    /// The directories are below root's home.
    pub(super) at_home: bool,
    /// Flags that go around it.
    pub(super) flags: &'static [&'static str],
    /// Subcommands that empty it, by their first words.
    cleaning: &'static [&'static str],
}

#[derive(Debug)]
pub(super) struct Mount {
    id: &'static str,
    pub(super) target: &'static str,
    /// Two builds must not use it at the same time.
    locked: bool,
}

impl Mount {
    pub(super) fn flag(&self) -> String {
        let Self { id, target, locked } = self;
        let sharing = if *locked { ",sharing=locked" } else { "" };
        format!("--mount=type=cache,target={target},id={id}{sharing}")
    }
}

/// The cache that a call fills.
pub(super) fn of(call: &Call<'_>, package: Option<&PackageCall>) -> Option<&'static Cache> {
    let is_filling = |package: &PackageCall| {
        matches!(package.action, Action::Install | Action::Upgrade)
            || package.action == Action::Update
                && matches!(package.manager, Manager::AptGet | Manager::Apt)
    };
    CACHES.iter().find(|cache| {
        let by_verb =
            || call.subcommand(&[]).is_some_and(|verb| cache.verbs.contains(&verb.as_ref()));
        let is_pip = package.is_some_and(|package| package.manager == Manager::Pip);
        let is_named = cache.fills(call) || is_pip && cache.programs.contains(&"pip");
        // `uv pip install` has the cache of uv.
        let is_own = !is_pip || cache.programs.contains(&"pip") || call.is_any(&["uv"]);
        is_named && is_own && (package.is_some_and(is_filling) || by_verb())
    })
}

impl Cache {
    /// Whether a call is one of its programs.
    pub(super) fn fills(&self, call: &Call<'_>) -> bool {
        call.is_any(self.programs)
    }

    /// Whether a `RUN` mounts a cache for these programs in another place, which they are told of.
    pub(super) fn is_elsewhere(&self, run: &Instruction) -> bool {
        let is_known = |target: &str| self.mounts.iter().any(|mount| mount.target == target);
        run.flags_named("mount")
            .filter(|flag| flag.option("type").is_some_and(|kind| kind.text == "cache"))
            .flat_map(|flag| ["id", "target", "dst", "destination"].map(|key| flag.option(key)))
            .flatten()
            .filter(|word| !is_known(&word.text))
            .flat_map(|word| names_in(&word.text))
            .any(|part| self.programs.contains(&part))
    }

    /// Whether a variable of the image turns it off.
    pub(super) fn is_off(&self, is_set: impl Fn(&str) -> bool) -> bool {
        self.programs.contains(&"pip") && is_set("PIP_NO_CACHE_DIR")
            || self.programs.contains(&"uv") && is_set("UV_NO_CACHE")
    }

    /// What a call empties of it: by the program itself, or by removing the directory.
    pub(super) fn is_emptied_by(&self, call: &Call<'_>) -> Emptied {
        if call.is_any(&["rm"]) {
            let paths = call.positional(&[]);
            let is_cache = |word: &&&Word| {
                let path = word.pattern().unwrap_or_default();
                let path = path.trim_end_matches(['*', '/']);
                self.mounts.iter().any(|mount| {
                    path.strip_prefix(mount.target)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            };
            let own: Vec<Span> = paths.iter().filter(is_cache).map(|word| word.span()).collect();
            return match own.len() {
                0 => Emptied::No,
                all if all == paths.len() => Emptied::Whole,
                _ => Emptied::Words(own),
            };
        }
        let words: Vec<Cow<'_, str>> =
            call.positional(&[]).iter().filter_map(|word| word.literal()).collect();
        let said = words.join(" ");
        let begins = |subcommand: &&&str| {
            said.strip_prefix(**subcommand)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let is_cleaning =
            self.fills(call) && self.cleaning.iter().any(|subcommand| begins(&subcommand));
        if is_cleaning { Emptied::Whole } else { Emptied::No }
    }
}

/// What a command does to a cache.
#[derive(Debug)]
pub(super) enum Emptied {
    No,
    /// It does nothing else.
    Whole,
    /// These of its words name the cache, and others do not.
    Words(Vec<Span>),
}

/// Where apt keeps the packages that it downloads.
pub(super) const APT_ARCHIVES: &str = "/var/cache/apt";

const fn mount(id: &'static str, target: &'static str, locked: bool) -> Mount {
    Mount { id, target, locked }
}

const PLAIN: Cache =
    Cache { programs: &[], verbs: &[], mounts: &[], at_home: false, flags: &[], cleaning: &[] };

static CACHES: [Cache; 18] = [
    Cache {
        programs: &["apt-get", "apt"],
        mounts: &[mount("apt", APT_ARCHIVES, true), mount("aptlib", "/var/lib/apt", true)],
        cleaning: &["clean", "autoclean", "distclean"],
        ..PLAIN
    },
    Cache {
        programs: &["apk"],
        mounts: &[mount("apk", "/var/cache/apk", true)],
        flags: &["--no-cache"],
        cleaning: &["cache clean"],
        ..PLAIN
    },
    Cache {
        programs: &["yum"],
        mounts: &[mount("yum", "/var/cache/yum", true)],
        cleaning: &["clean"],
        ..PLAIN
    },
    Cache {
        programs: &["dnf"],
        mounts: &[mount("dnf", "/var/cache/dnf", true)],
        cleaning: &["clean"],
        ..PLAIN
    },
    Cache {
        programs: &["zypper"],
        mounts: &[mount("zypper", "/var/cache/zypp", true)],
        cleaning: &["clean", "cc"],
        ..PLAIN
    },
    Cache {
        programs: &["uv"],
        verbs: &["sync"],
        mounts: &[mount("uv", "/root/.cache/uv", false)],
        at_home: true,
        flags: &["--no-cache"],
        cleaning: &["cache clean", "cache prune"],
    },
    Cache {
        programs: &["pip", "pip2", "pip3"],
        mounts: &[mount("pip", "/root/.cache/pip", false)],
        at_home: true,
        flags: &["--no-cache-dir"],
        cleaning: &["cache purge"],
        ..PLAIN
    },
    Cache {
        programs: &["npm"],
        mounts: &[mount("npm", "/root/.npm", false)],
        at_home: true,
        cleaning: &["cache clean"],
        ..PLAIN
    },
    Cache {
        programs: &["yarn", "yarnpkg"],
        mounts: &[mount("yarn", "/usr/local/share/.cache/yarn", false)],
        cleaning: &["cache clean"],
        ..PLAIN
    },
    Cache {
        programs: &["pnpm"],
        mounts: &[mount("pnpm", "/root/.pnpm-store", false)],
        at_home: true,
        cleaning: &["store prune"],
        ..PLAIN
    },
    Cache {
        programs: &["bun"],
        verbs: &["install", "add"],
        mounts: &[mount("bun", "/root/.bun/install/cache", false)],
        at_home: true,
        flags: &["--no-cache"],
        cleaning: &["pm cache rm"],
    },
    Cache {
        programs: &["composer", "composer.phar"],
        mounts: &[mount("composer", "/root/.cache/composer", false)],
        at_home: true,
        flags: &["--no-cache"],
        cleaning: &["clear-cache", "clearcache"],
        ..PLAIN
    },
    Cache {
        programs: &["bundle"],
        verbs: &["install"],
        mounts: &[mount("gem", "/root/.gem", false)],
        at_home: true,
        ..PLAIN
    },
    Cache {
        programs: &["dotnet"],
        verbs: &["restore", "build", "publish"],
        mounts: &[mount("nuget", "/root/.nuget/packages", false)],
        at_home: true,
        cleaning: &["nuget locals"],
        ..PLAIN
    },
    Cache {
        programs: &["go"],
        verbs: &["mod"],
        mounts: &[mount("gomod", "/go/pkg/mod", false)],
        ..PLAIN
    },
    Cache {
        programs: &["go"],
        verbs: &["build", "install", "get", "test"],
        mounts: &[
            mount("gomod", "/go/pkg/mod", false),
            mount("gobuild", "/root/.cache/go-build", false),
        ],
        at_home: true,
        cleaning: &["clean"],
        ..PLAIN
    },
    // What is built lies beside the sources; a cache over it would take the result along.
    Cache {
        programs: &["cargo"],
        verbs: &["build", "install", "test", "fetch"],
        mounts: &[
            mount("cargo-git", "/usr/local/cargo/git/db", false),
            mount("cargo-registry", "/usr/local/cargo/registry", false),
        ],
        ..PLAIN
    },
    Cache {
        programs: &["microdnf"],
        mounts: &[mount("microdnf", "/var/cache/yum", true)],
        cleaning: &["clean"],
        ..PLAIN
    },
];

/// The words of a path or an id.
fn names_in(place: &str) -> impl Iterator<Item = &str> {
    place.split(['/', '-', '_', '.'])
}
