//! Which files say how a project is built and what it depends on, by their names.

/// How much of such a file is worth showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Manifest {
    /// Written by people: what is built, and how.
    Project,
    /// Written by a tool: exact versions.
    Lock,
}

impl Manifest {
    pub(super) fn of(name: &str) -> Option<Self> {
        if LOCKS.contains(&name) {
            return Some(Self::Lock);
        }
        let is_listed = PROJECTS.contains(&name);
        let is_requirements = name.starts_with("requirements") && name.ends_with(".txt");
        let is_project = [".csproj", ".fsproj", ".sln", ".gemspec", ".cabal"];
        let has_suffix = is_project.iter().any(|suffix| name.ends_with(suffix));
        (is_listed || is_requirements || has_suffix).then_some(Self::Project)
    }

    /// The most bytes of one file.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Project => 16 * 1024,
            Self::Lock => 4 * 1024,
        }
    }
}

const PROJECTS: &[&str] = &[
    ".node-version",
    ".nvmrc",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
    "CMakeLists.txt",
    "Cargo.toml",
    "Gemfile",
    "Makefile",
    "Pipfile",
    "Procfile",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "composer.json",
    "deno.json",
    "go.mod",
    "go.work",
    "lerna.json",
    "meson.build",
    "mix.exs",
    "nx.json",
    "package.json",
    "pnpm-workspace.yaml",
    "pom.xml",
    "pubspec.yaml",
    "pyproject.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
    "turbo.json",
];

const LOCKS: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "composer.lock",
    "deno.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];

#[cfg(test)]
mod tests {
    use super::Manifest;

    #[test]
    fn names_decide() {
        for (name, expected) in [
            ("go.mod", Some(Manifest::Project)),
            ("requirements-dev.txt", Some(Manifest::Project)),
            ("app.csproj", Some(Manifest::Project)),
            ("yarn.lock", Some(Manifest::Lock)),
            ("main.go", None),
            ("notes.txt", None),
        ] {
            assert_eq!(Manifest::of(name), expected, "{name}");
        }
    }
}
