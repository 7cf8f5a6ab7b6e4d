//! What a proof shows to sandboxed processes: one row for each mount, with who may write there and why
//! it is shown. No mount is made without its row, and the threat model prints the table.

use std::path::PathBuf;

use probity_sandbox::Mount;

/// Who may write in a mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writers {
    Nobody,
    /// What compiles or fills it; tests see it read-only.
    Compilers,
    Everybody,
}

/// One kind of mount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Where it is inside.
    at: &'static str,
    /// What it is on the host.
    what: &'static str,
    writers: Writers,
    why: &'static str,
}

use Writers::{Compilers, Everybody, Nobody};

const fn shown(at: &'static str, what: &'static str, writers: Writers, why: &'static str) -> Shown {
    Shown { at, what, writers, why }
}

pub(crate) const COPY: Shown = shown(
    "`/proof/repo`",
    "a copy of the repository's files, without `.git`",
    Everybody,
    "the code that is tested; a copy that a run changed serves no other run",
);
pub(crate) const BUILD: Shown = shown(
    "`/proof/build`",
    "what was built of one version of the code",
    Compilers,
    "no test can change the program of the next run",
);
pub(crate) const SCRATCH: Shown = shown(
    "`/proof/out`",
    "an empty directory, new for each run",
    Everybody,
    "reports and temporary files",
);
pub(crate) const KIT: Shown =
    shown("`/proof/kit`", "reporters and plugins of probity", Nobody, "runners load them");
pub(crate) const TOOL: Shown = shown(
    "its own path",
    "the tool chain: what interpreters and compilers of the machine say of themselves",
    Nobody,
    "tests run with it; a home directory or one above it is never shown",
);
pub(crate) const PACKAGES: Shown = shown(
    "its place in `/proof/repo`",
    "`node_modules`, `vendor`, `build/packages`, and `.venv` and other environments of the repository",
    Nobody,
    "installed packages; only a real directory below the repository, never one behind a link",
);
pub(crate) const PACKAGE_LINKS: Shown = shown(
    "`node_modules` in `/proof/repo`",
    "a directory of links to the packages, new for each run",
    Everybody,
    "Vite writes beside the packages",
);
pub(crate) const MANIFESTS: Shown = shown(
    "`/proof/repo`, while dependencies are fetched or compiled ahead",
    "manifests and lock files, with empty sources",
    Compilers,
    "no code of the repository runs there",
);
pub(crate) const CARGO_HOME: Shown = shown(
    "`/proof/cargo-home`",
    "packages that `Cargo.lock` names, in the cache of probity",
    Compilers,
    "filled once for each lock file; tests see it read-only",
);
pub(crate) const RUST_TARGET: Shown = shown(
    "`/proof/rust-target`",
    "compiled dependencies, in the cache of probity",
    Compilers,
    "filled once for each lock file, tool chain and flags; copies get copies of it. Settings of cargo in \
     the repository may run its code there, so it then serves one review and is not in the cache",
);
pub(crate) const GO_MODULES: Shown = shown(
    "`/proof/go-modules`",
    "modules that `go.sum` names, in the cache of probity",
    Compilers,
    "filled once for each set of sums; tests see it read-only",
);
pub(crate) const GO_COMPILED: Shown = shown(
    "`/proof/go-standard`, `/proof/go-foreign`",
    "the compiled standard library and modules, in the cache of probity",
    Compilers,
    "filled once for each tool chain, flags and sums; the build cache has links to it",
);
pub(crate) const GO_BUILD: Shown = shown(
    "`/proof/go-build`",
    "the build cache of one review",
    Compilers,
    "the go command needs one; test programs do not see it",
);
pub(crate) const FETCH_FILE: Shown = shown(
    "its own path, or its place in the home",
    "files that your own settings give to fetches",
    Nobody,
    "private registries; tests do not see them",
);
pub(crate) const LOOKUPS: Shown = shown(
    "`/etc/nsswitch.conf`, `/etc/resolv.conf`",
    "settings of probity",
    Nobody,
    "a run that shows whether a test wants the network",
);
pub(crate) const WITNESSED: Shown = shown(
    "a path that a failing exploit named",
    "an empty directory or file",
    Everybody,
    "a run that shows whether a test writes outside of the copy",
);

const ALL: [&Shown; 16] = [
    &COPY,
    &BUILD,
    &SCRATCH,
    &KIT,
    &TOOL,
    &PACKAGES,
    &PACKAGE_LINKS,
    &MANIFESTS,
    &CARGO_HOME,
    &RUST_TARGET,
    &GO_MODULES,
    &GO_COMPILED,
    &GO_BUILD,
    &FETCH_FILE,
    &LOOKUPS,
    &WITNESSED,
];

impl Shown {
    #[expect(clippy::disallowed_methods, reason = "this is where mounts get their rows")]
    pub(crate) fn read_only(
        &'static self,
        host: impl Into<PathBuf>,
        inside: impl Into<PathBuf>,
    ) -> Mount {
        Mount::read_only(host, inside)
    }

    /// Only what the table says to be writable is.
    #[expect(clippy::disallowed_methods, reason = "this is where mounts get their rows")]
    pub(crate) fn read_write(
        &'static self,
        host: impl Into<PathBuf>,
        inside: impl Into<PathBuf>,
    ) -> Mount {
        if self.writers == Nobody {
            return self.read_only(host, inside);
        }
        Mount::read_write(host, inside)
    }
}

/// The table, as Markdown.
#[must_use]
pub fn mounts_as_markdown() -> String {
    let row = |shown: &&Shown| {
        let writable = match shown.writers {
            Nobody => "no",
            Compilers => "by compilers only",
            Everybody => "yes",
        };
        format!("| {} | {} | {writable} | {} |\n", shown.at, shown.what, shown.why)
    };
    let rows: String = ALL.iter().map(row).collect();
    format!("| inside | what it is | writable | why |\n|---|---|---|---|\n{rows}")
}
