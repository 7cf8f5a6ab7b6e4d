//! Files that tools on the host run by themselves: what a session changed among them.
//!
//! No mount can forbid these, since changing them is often the very work. So they are looked at
//! before and after, and the user is told, or has them kept until `cai accept`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use probity_seat::hex;

/// A name, and what runs it. Directories end with a slash and stand for all that is in them.
const RUN_BY: &[(&str, &str)] = &[
    (".cargo/config", "cargo"),
    (".cargo/config.toml", "cargo"),
    (".circleci/", "CI"),
    (".claude/", "Claude Code"),
    (".codex/", "Codex"),
    (".containai/config.toml", "probity and ContainAI"),
    (".cursor/", "Cursor"),
    (".dir-locals.el", "Emacs"),
    (".devcontainer/", "the editor's dev container"),
    (".devcontainer.json", "the editor's dev container"),
    (".envrc", "direnv"),
    (".exrc", "Vim"),
    (".gemini/", "Gemini CLI"),
    (".github/actions/", "CI"),
    (".github/workflows/", "CI"),
    (".gitlab-ci.yml", "CI"),
    (".husky/", "git hooks"),
    (".idea/", "JetBrains editors"),
    (".lefthook.yml", "git hooks"),
    (".mcp.json", "agents"),
    (".mise.toml", "mise"),
    (".npmrc", "npm"),
    (".nvim.lua", "Neovim"),
    (".pnpmfile.cjs", "pnpm"),
    (".pre-commit-config.yaml", "pre-commit"),
    (".travis.yml", "CI"),
    (".vscode/launch.json", "VS Code"),
    (".vscode/settings.json", "VS Code"),
    (".vscode/tasks.json", "VS Code"),
    (".yarnrc.yml", "yarn"),
    (".zed/", "Zed"),
    ("azure-pipelines.yml", "CI"),
    ("binding.gyp", "npm"),
    ("bitbucket-pipelines.yml", "CI"),
    ("build.gradle", "Gradle"),
    ("build.gradle.kts", "Gradle"),
    ("build.rs", "cargo"),
    ("cargo.toml", "cargo"),
    ("cmakelists.txt", "CMake"),
    ("conftest.py", "pytest"),
    ("eslint.config.js", "ESLint"),
    ("flake.nix", "Nix"),
    ("gnumakefile", "make"),
    ("gradlew", "Gradle"),
    ("jenkinsfile", "CI"),
    ("justfile", "just"),
    ("lefthook.yml", "git hooks"),
    ("makefile", "make"),
    ("mise.toml", "mise"),
    ("noxfile.py", "nox"),
    ("package.json", "npm scripts"),
    ("probity.toml", "probity"),
    ("pyproject.toml", "Python build tools"),
    ("rakefile", "rake"),
    ("rust-toolchain.toml", "rustup"),
    ("settings.gradle", "Gradle"),
    ("setup.py", "pip"),
    ("sitecustomize.py", "Python"),
    ("taskfile.yml", "task"),
    ("tox.ini", "tox"),
];

/// Directories of what was installed or built, and git's own, which has its own protection.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__"];

const DEPTH: usize = 16;
const ENTRIES: usize = 2_000_000;
const LARGEST: u64 = 1 << 20;
/// Bytes of all files together that are kept to be put back.
const KEPT: usize = 64 << 20;

/// What stands in the place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    /// The digest of the bytes, where there were too many files to keep them.
    Digest(String),
    /// Where it leads, and the digest of what is there.
    Link(PathBuf, Option<String>),
    /// Too large to be kept, by its digest and length.
    Large(u64),
}

/// The files as they were when a session began.
#[derive(Debug)]
pub(crate) struct Implicit {
    pub(super) root: PathBuf,
    pub(super) before: BTreeMap<PathBuf, Content>,
}

/// What a session did to them.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) files: Vec<Changed>,
    /// Whether all of the workspace was looked at.
    pub(crate) is_complete: bool,
}

/// One of them that is another now.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) path: PathBuf,
    pub(crate) run_by: &'static str,
    /// `None` where there was none.
    pub(crate) before: Option<Content>,
}

impl Implicit {
    pub(crate) fn look(root: &Path) -> Self {
        let (mut before, mut kept) = (BTreeMap::new(), 0);
        visit(root, |path, content| {
            let content = match content {
                Content::Bytes(bytes) if kept + bytes.len() > KEPT => Content::Digest(hex(&bytes)),
                content => content,
            };
            if let Content::Bytes(bytes) = &content {
                kept += bytes.len();
            }
            before.insert(path, content);
        });
        Self { root: root.to_owned(), before }
    }

    /// What is new or another; what is gone runs nothing.
    pub(crate) fn changed(&self) -> Changes {
        let mut files = Vec::new();
        // One at a time: a session can leave more than fits into memory.
        let is_complete = visit(&self.root, |path, content| {
            let before = self.before.get(&path);
            if before.is_some_and(|before| is_same(&path, before, &content)) {
                return;
            }
            let below = path.strip_prefix(&self.root).unwrap_or(&path);
            let run_by = run_by(below).unwrap_or("tools that look through the link");
            files.push(Changed { path, run_by, before: before.cloned() });
        });
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Changes { files, is_complete }
    }
}

impl Content {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        if metadata.is_symlink() {
            // Followed once, and only to a plain file: what it leads to is what is run.
            let there = path.canonicalize().ok().filter(|there| there.is_file());
            let there = there.and_then(|there| Self::read(&there).ok());
            return Ok(Self::Link(fs::read_link(path)?, there.map(|there| there.digest())));
        }
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Ok(Self::Large(metadata.len()));
        }
        // A link or a pipe may have come in its place meanwhile.
        let flags =
            i32::try_from((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits());
        let file = fs::OpenOptions::new().read(true).custom_flags(flags.unwrap_or(0)).open(path)?;
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(Self::Bytes(bytes))
    }

    pub(crate) fn digest(&self) -> String {
        match self {
            Self::Bytes(bytes) => hex(bytes),
            Self::Digest(digest) => digest.clone(),
            Self::Link(target, _) => format!("link {}", target.display()),
            Self::Large(bytes) => format!("{bytes} bytes"),
        }
    }
}

/// Of a `package.json` only the scripts are run.
fn is_same(path: &Path, before: &Content, now: &Content) -> bool {
    let is_package = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("package.json"));
    match (before, now) {
        (Content::Bytes(before), Content::Bytes(now)) if is_package => {
            match (scripts(before), scripts(now)) {
                (Some(before), Some(now)) => before == now,
                _ => before == now,
            }
        }
        (Content::Digest(before), now) => *before == now.digest(),
        (before, now) => before == now,
    }
}

fn scripts(bytes: &[u8]) -> Option<serde_json::Value> {
    let package: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    Some(package.get("scripts").cloned().unwrap_or_default())
}

/// Looks at every file that tools run; false if there are too many files to look at all of them.
fn visit(root: &Path, mut see: impl FnMut(PathBuf, Content)) -> bool {
    let mut waiting = vec![(root.to_owned(), 0, Way::Plain)];
    let mut seen = 0;
    while let Some((directory, depth, way)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES {
                return false;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            let Ok(below) = path.strip_prefix(root) else { continue };
            if kind.is_dir() {
                let is_passed_over =
                    PASSED_OVER.iter().any(|passed| name.eq_ignore_ascii_case(passed));
                if depth < DEPTH && !is_passed_over {
                    waiting.push((path, depth + 1, way));
                }
                continue;
            }
            let leads_on = kind.is_symlink() && leads_on(below);
            if (leads_on || run_by(below).is_some())
                && let Ok(content) = Content::read(&path)
            {
                see(path.clone(), content);
            }
            // Once: links that lead in circles would hide the rest.
            if leads_on && way == Way::Plain && is_directory_of(root, &path) {
                waiting.push((path, depth + 1, Way::ThroughLink));
            }
        }
    }
    true
}

/// How a directory was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    ThroughLink,
}

/// Whether a path leads to a directory of the workspace.
fn is_directory_of(root: &Path, path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real.starts_with(root) && real.is_dir())
}

/// Whether tools that look for a known file go through a directory of this name.
fn leads_on(below: &Path) -> bool {
    let whole = format!("/{}/", below.to_string_lossy().to_ascii_lowercase());
    RUN_BY.iter().any(|(known, _)| {
        known.match_indices('/').any(|(slash, _)| {
            known.get(..=slash).is_some_and(|directory| whole.ends_with(&format!("/{directory}")))
        })
    })
}

/// What runs a file of this name, wherever in the workspace it is. File systems that ignore the
/// case of names are about.
fn run_by(below: &Path) -> Option<&'static str> {
    // Names are compared; bytes that are not text are part of none.
    let lower = below.to_string_lossy().to_ascii_lowercase();
    let whole = format!("/{lower}");
    let known = RUN_BY.iter().find(|(name, _)| match name.strip_suffix('/') {
        Some(directory) => whole.contains(&format!("/{directory}/")),
        None => whole.ends_with(&format!("/{name}")),
    });
    known.map(|(_, run_by)| *run_by)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_that_tools_run_are_known_in_any_case_and_place() {
        for (path, expected) in [
            (".envrc", Some("direnv")),
            ("a/b/.ENVRC", Some("direnv")),
            ("Makefile", Some("make")),
            ("my-makefile", None),
            (".husky/_/husky.sh", Some("git hooks")),
            ("docs/.husky.md", None),
            ("web/package.json", Some("npm scripts")),
            (".github/workflows/ci.yml", Some("CI")),
            (".github/CODEOWNERS", None),
            (".vscode/tasks.json", Some("VS Code")),
            (".vscode/extensions.json", None),
            ("src/main.rs", None),
            ("crates/a/build.rs", Some("cargo")),
        ] {
            assert_eq!(run_by(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn changes_are_found_by_content_and_of_packages_only_the_scripts_count() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        write("Makefile", "all:\n");
        write("same/Makefile", "all:\n");
        write("package.json", r#"{"version": "1", "scripts": {"test": "a"}}"#);
        write("web/package.json", r#"{"version": "1", "scripts": {"test": "a"}}"#);
        write("node_modules/x/package.json", "{}");
        write("src/main.c", "");
        let before = Implicit::look(dir.path());
        let changed = |before: &Implicit| -> Vec<String> {
            let changed = before.changed().files.into_iter();
            let path = |changed: Changed| changed.path.strip_prefix(dir.path()).unwrap().to_owned();
            changed.map(|changed| path(changed).display().to_string()).collect()
        };
        assert_eq!(changed(&before), [""; 0]);
        write("Makefile", "all: evil\n");
        // Neither time nor length tells.
        let time = fs::metadata(at("same/Makefile")).unwrap().modified().unwrap();
        fs::File::options().write(true).open(at("Makefile")).unwrap().set_modified(time).unwrap();
        write("same/Makefile", "all:\n");
        write("package.json", r#"{"version": "2", "scripts": {"test": "a"}}"#);
        write("web/package.json", r#"{"version": "1", "scripts": {"test": "evil"}}"#);
        write("node_modules/x/package.json", r#"{"scripts": {"install": "evil"}}"#);
        write("src/main.c", "changed");
        symlink("/etc/passwd", at(".envrc")).unwrap();
        // A link to a directory, and a file behind a link.
        fs::create_dir(at("elsewhere")).unwrap();
        symlink("elsewhere", at(".vscode")).unwrap();
        assert_eq!(changed(&before), [".envrc", ".vscode", "Makefile", "web/package.json"]);
        write("real.mk", "all:\n");
        fs::create_dir_all(at("linked")).unwrap();
        symlink("../real.mk", at("linked/Makefile")).unwrap();
        let before = Implicit::look(dir.path());
        write("real.mk", "all: evil\n");
        assert_eq!(changed(&before), ["linked/Makefile"]);
        // A file that is found through a link to a directory, and links that lead in circles.
        fs::create_dir_all(at(".github")).unwrap();
        symlink("../ci", at(".github/workflows")).unwrap();
        for link in [".idea", ".zed", ".claude"] {
            symlink(".", at(link)).unwrap();
        }
        write("ci/old.yml", "on: push\n");
        let before = Implicit::look(dir.path());
        write("elsewhere/tasks.json", "{}");
        write("elsewhere/notes.json", "{}");
        write("ci/old.yml", "on: evil\n");
        let changed = changed(&before);
        for expected in [".vscode/tasks.json", ".github/workflows/old.yml"] {
            assert!(changed.iter().any(|path| path == expected), "{expected}: {changed:?}");
        }
        assert!(!changed.iter().any(|path| path == ".vscode/notes.json"), "{changed:?}");
    }
}
