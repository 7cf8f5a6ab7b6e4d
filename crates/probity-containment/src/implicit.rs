//! Files that tools on the host run by themselves: what a session changed among them.
//!
//! No mount can forbid these, since changing them is often the very work. So they are looked at
//! before and after, and the user is told, or has them kept until `cai accept`.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use probity_sandbox::{Identity, is_dot_git};
use probity_scope::{HeldDirectory, HeldEntry, HeldKind};
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
    pub(crate) root: PathBuf,
    /// The same, open since the session began: what is below is reached from here, and by no link.
    pub(crate) top: HeldDirectory,
    /// What was which directory, by their places.
    pub(crate) directories: BTreeMap<PathBuf, Identity>,
    pub(crate) before: BTreeMap<PathBuf, Content>,
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
    /// Where it is in the workspace, without a link on the way.
    pub(crate) place: PathBuf,
    pub(crate) run_by: &'static str,
    /// `None` where there was none.
    pub(crate) before: Option<Content>,
}

impl Implicit {
    pub(crate) fn look(root: &Path, top: HeldDirectory) -> Self {
        let (mut before, mut kept) = (BTreeMap::new(), 0);
        let mut directories = BTreeMap::new();
        visit(root, &top, |Seen { path, place, content, directory }| {
            if let Some(around) = place.parent() {
                directories.insert(around.to_owned(), directory);
            }
            let content = match content {
                Content::Bytes(bytes) if kept + bytes.len() > KEPT => Content::Digest(hex(&bytes)),
                content => content,
            };
            if let Content::Bytes(bytes) = &content {
                kept += bytes.len();
            }
            before.insert(path, content);
        });
        Self { root: root.to_owned(), top, directories, before }
    }

    /// What is new or another; what is gone runs nothing.
    pub(crate) fn changed(&self) -> Changes {
        let mut files = Vec::new();
        // One at a time: a session can leave more than fits into memory.
        let is_complete = visit(&self.root, &self.top, |Seen { path, place, content, .. }| {
            let before = self.before.get(&path);
            if before.is_some_and(|before| is_same(&path, before, &content)) {
                return;
            }
            let below = path.strip_prefix(&self.root).unwrap_or(&path);
            let run_by = run_by(below).unwrap_or("tools that look through the link");
            files.push(Changed { path, place, run_by, before: before.cloned() });
        });
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Changes { files, is_complete }
    }
}

impl Content {
    /// What has a name in a directory. What a link leads to counts if that is a file below the
    /// workspace: it is what is run, and nothing else can be of the session.
    pub(crate) fn read(
        directory: &HeldDirectory,
        name: &Path,
        led: Option<(&HeldDirectory, PathBuf)>,
    ) -> io::Result<Self> {
        let stat = directory.stat(name).ok_or(io::ErrorKind::NotFound)?;
        match stat.kind {
            HeldKind::Link => {
                let there = led.filter(|(top, place)| top.is_file(place));
                let there = there.and_then(|(top, place)| Self::read(top, &place, None).ok());
                Ok(Self::Link(directory.read_link(name)?, there.map(|there| there.digest())))
            }
            HeldKind::File if stat.size <= LARGEST => {
                Ok(Self::Bytes(directory.read(name, LARGEST)?))
            }
            _ => Ok(Self::Large(stat.size)),
        }
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

/// A file that tools run.
struct Seen {
    /// As tools find it, which may be through a link.
    path: PathBuf,
    place: PathBuf,
    content: Content,
    /// Which directory it is in.
    directory: Identity,
}

/// A directory that is to be looked at.
struct Waiting {
    path: PathBuf,
    place: PathBuf,
    depth: usize,
    reached: Reached,
}

/// Looks at every file that tools run; false if there are too many files to look at all of them.
fn visit(root: &Path, top: &HeldDirectory, mut see: impl FnMut(Seen)) -> bool {
    let (path, place) = (root.to_owned(), PathBuf::new());
    let mut waiting = vec![Waiting { path, place, depth: 0, reached: Reached::Plain }];
    let mut seen = 0;
    while let Some(Waiting { path: around, place: at, depth, reached }) = waiting.pop() {
        let Ok(directory) = top.open_below(&at) else { continue };
        let Some(stat) = directory.stat("") else { continue };
        let identity = (stat.device, stat.number);
        for HeldEntry { name, kind } in directory.entries("").unwrap_or_default() {
            seen += 1;
            if seen > ENTRIES {
                return false;
            }
            let (path, place) = (around.join(&name), at.join(&name));
            let Ok(below) = path.strip_prefix(root) else { continue };
            if kind == HeldKind::Directory {
                if depth < DEPTH && !is_passed_over(&place) {
                    waiting.push(Waiting { path, place, depth: depth + 1, reached });
                }
                continue;
            }
            let leads_on = kind == HeldKind::Link && leads_on(below);
            let led = || (kind == HeldKind::Link).then(|| led(root, &root.join(&place))).flatten();
            if (leads_on || run_by(below).is_some())
                && let Ok(content) =
                    Content::read(&directory, Path::new(&name), led().map(|led| (top, led)))
            {
                let (path, place) = (path.clone(), place.clone());
                see(Seen { path, place, content, directory: identity });
            }
            // Once: links that lead in circles would hide the rest.
            if leads_on
                && reached == Reached::Plain
                && let Some(place) = led().filter(|place| top.is_directory(place))
                && !place.iter().any(is_dot_git)
            {
                let reached = Reached::ThroughLink;
                waiting.push(Waiting { path, place, depth: depth + 1, reached });
            }
        }
    }
    true
}

/// How a directory was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    Plain,
    ThroughLink,
}

fn is_passed_over(place: &Path) -> bool {
    let name = place.file_name().unwrap_or_default();
    PASSED_OVER.iter().any(|passed| name.eq_ignore_ascii_case(passed))
}

/// The place in the workspace that a link leads to now. It is no more than a name, and is reached
/// from the open workspace like any other.
fn led(root: &Path, link: &Path) -> Option<PathBuf> {
    Some(link.canonicalize().ok()?.strip_prefix(root).ok()?.to_owned())
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
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn look(root: &Path) -> Implicit {
        Implicit::look(root, HeldDirectory::open(root).unwrap())
    }

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
        let before = look(dir.path());
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
        let before = look(dir.path());
        write("real.mk", "all: evil\n");
        assert_eq!(changed(&before), ["linked/Makefile"]);
        // A file that is found through a link to a directory, and links that lead in circles.
        fs::create_dir_all(at(".github")).unwrap();
        symlink("../ci", at(".github/workflows")).unwrap();
        for link in [".idea", ".zed", ".claude"] {
            symlink(".", at(link)).unwrap();
        }
        write("ci/old.yml", "on: push\n");
        let before = look(dir.path());
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
