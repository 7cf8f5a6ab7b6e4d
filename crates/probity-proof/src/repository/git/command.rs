//! Running git so that nothing but git runs: the one place in the project that builds its commands.
//!
//! A repository can have git run programs by its configuration, by hooks, and by attributes that
//! choose filters of the configuration. None of these is overridden here, since a list of overrides
//! has gaps: git gets a git directory of ours ([`Private`]), with the repository's history and
//! index, and a configuration of harmless settings. Attributes of the tree still convert line
//! endings, as everybody expects; a filter that they name does not exist, so files come out as they
//! are stored.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::{Backend, Exit, Limits, SpawnError, Spec, run};

use super::{GitError, private::Private};
use crate::{host, text::one_line};

/// Of one command; a repository that takes longer cannot be reviewed in a CI step anyway.
const PATIENCE: Duration = Duration::from_secs(120);
const OUTPUT_BYTES: u64 = 64 << 20;

/// git in one directory. It reads; only [`Commits`](super::Commits) write into the repository.
#[derive(Debug)]
pub(crate) struct Git {
    directory: PathBuf,
    pub(super) private: Private,
}

impl Git {
    /// The repository around a directory. Whoever owns it: nothing of it is run.
    pub(crate) fn open(directory: &Path) -> Result<Self, GitError> {
        // A process is started in a directory by its full name only.
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let private = Private::of(&real)?;
        let git = Self { directory: real, private };
        match git.ask(&["rev-parse", "--is-inside-work-tree"]) {
            Ok(answer) if answer.trim() == "true" => Ok(git),
            Err(GitError::NotInstalled) => Err(GitError::NotInstalled),
            Ok(_) | Err(_) => Err(GitError::NoRepository(super::directory_name(directory))),
        }
    }

    /// Standard output of a git command that succeeded.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Result<String, GitError> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let output = self.ask_with(&arguments, &[])?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    pub(super) fn ask_with(
        &self,
        arguments: &[&OsStr],
        variables: &[(&str, &OsStr)],
    ) -> Result<Vec<u8>, GitError> {
        let mut argv: Vec<OsString> =
            ["git", "--no-pager", "-c", "core.quotePath=false"].map(OsString::from).into();
        argv.extend(arguments.iter().map(|&argument| argument.to_owned()));
        let mut spec = Spec::new(argv, &self.directory);
        let path = search_path(&self.private.top);
        let given = [
            ("PATH", path.as_os_str()),
            ("GIT_DIR", self.private.path().as_os_str()),
            ("GIT_WORK_TREE", self.private.top.as_os_str()),
            ("HOME", OsStr::new("/nonexistent")),
            ("LC_ALL", OsStr::new("C")),
            ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
            ("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null")),
            ("GIT_ATTR_NOSYSTEM", OsStr::new("1")),
            ("GIT_TERMINAL_PROMPT", OsStr::new("0")),
            ("GIT_OPTIONAL_LOCKS", OsStr::new("0")),
            ("GIT_NO_REPLACE_OBJECTS", OsStr::new("1")),
            ("GIT_NO_LAZY_FETCH", OsStr::new("1")),
            ("GIT_ALLOW_PROTOCOL", OsStr::new("")),
        ];
        let given = given.iter().chain(variables);
        spec.env = given.map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        spec.limits =
            Limits { wall: Some(PATIENCE), output: Some(OUTPUT_BYTES), ..Limits::default() };
        let what = arguments.first().map(|word| word.to_string_lossy().into_owned());
        let what = what.unwrap_or_default();
        let failed = |why: String| GitError::Failed { what: what.clone(), why };
        let outcome = run(&Backend::None, &spec, b"").map_err(|error| match error {
            SpawnError::NotFound(_) => GitError::NotInstalled,
            other => failed(one_line(&other.to_string(), 300)),
        })?;
        match outcome.exit {
            Exit::Code(0) => Ok(outcome.stdout),
            Exit::Timeout => Err(failed(format!("no answer within {} s", PATIENCE.as_secs()))),
            Exit::OutputLimit => Err(failed("its output is too large".to_owned())),
            _ => Err(failed(one_line(&String::from_utf8_lossy(&outcome.stderr_tail), 300))),
        }
    }

    /// The commit that a name stands for.
    pub(super) fn commit(&self, name: &str) -> Option<String> {
        let wanted = format!("{name}^{{commit}}");
        let answer =
            self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).ok()?;
        let commit = answer.trim();
        // An option that an old git does not know is echoed before the answer.
        let commit = commit.lines().next_back().unwrap_or_default();
        commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| commit.to_owned())
    }

    /// The branch of the head, or one that points at it: CI checks out commits, not branches.
    pub(super) fn branch(&self) -> String {
        if let Ok(branch) = self.ask(&["symbolic-ref", "--short", "-q", "HEAD"]) {
            return branch.trim().to_owned();
        }
        let pointing = self.ask(&[
            "for-each-ref",
            "--points-at=HEAD",
            "--format=%(refname)",
            "refs/heads",
            "refs/remotes/origin",
        ]);
        let pointing = pointing.unwrap_or_default();
        let name = pointing.lines().find_map(|name| {
            let name = name
                .strip_prefix("refs/heads/")
                .or_else(|| name.strip_prefix("refs/remotes/origin/"))?;
            (name != "HEAD").then(|| name.to_owned())
        });
        name.unwrap_or_default()
    }

    /// The commit that all others come from, which names a repository without a remote.
    pub(super) fn first_commit(&self) -> Option<String> {
        if self.is_shallow() {
            return None;
        }
        let roots = self.ask(&["rev-list", "--max-parents=0", "HEAD"]).ok()?;
        roots.lines().last().map(|commit| commit.trim().to_owned())
    }

    pub(super) fn is_shallow(&self) -> bool {
        let answer = self.ask(&["rev-parse", "--is-shallow-repository"]);
        answer.is_ok_and(|answer| answer.trim() == "true")
    }

    /// Whether the working tree differs from the head. Not known where the repository has filters,
    /// since they would have to run to compare.
    pub(super) fn is_dirty(&self) -> Option<bool> {
        if self.private.has_filters {
            return None;
        }
        let answer = self.ask(&[
            "status",
            "--porcelain",
            "--untracked-files=normal",
            "--ignore-submodules=all",
        ]);
        answer.ok().map(|answer| !answer.trim().is_empty())
    }

    /// What is tracked, and what is neither tracked nor ignored.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, GitError> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "."];
        let output = self.ask_with(&arguments.map(OsStr::new), &[])?;
        let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut files: Vec<PathBuf> =
            names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
        // A file in conflict is listed once for each side.
        files.dedup();
        Ok(files)
    }

    /// Writes the tree of a commit into a directory, by an index of its own. Not by `archive`,
    /// which leaves out what a repository wants out of its releases: often the tests.
    pub(crate) fn write_out(
        &self,
        commit: &str,
        into: &Path,
        index: &Path,
    ) -> Result<(), GitError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./~^@".contains(&byte);
        if commit.is_empty() || commit.starts_with('-') || !commit.bytes().all(plain) {
            return Err(GitError::BadName(commit.chars().take(100).collect()));
        }
        fs::create_dir_all(into).map_err(|error| GitError::Failed {
            what: "checkout-index".to_owned(),
            why: format!("{}: {error}", into.display()),
        })?;
        let index = [("GIT_INDEX_FILE", index.as_os_str())];
        let tree = format!("{commit}^{{tree}}");
        self.ask_with(&["read-tree", &tree].map(OsStr::new), &index)?;
        let prefix = [b"--prefix=", into.as_os_str().as_bytes(), b"/"].concat();
        let prefix = OsString::from_vec(prefix);
        let arguments = [OsStr::new("checkout-index"), OsStr::new("--all"), &prefix];
        self.ask_with(&arguments, &index)?;
        Ok(())
    }

    /// Where the directory lies in its working tree; empty for the whole of it.
    pub(crate) fn prefix(&self) -> &Path {
        self.directory.strip_prefix(&self.private.top).unwrap_or(Path::new(""))
    }
}

/// Where git is looked for: never in the working tree, of which npm and direnv put directories into
/// `PATH`.
fn search_path(top: &Path) -> OsString {
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    env::join_paths(host::search_path(Some(&path), top)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::chown, path::Path, process::Command};

    use tempfile::TempDir;

    use super::Git;

    fn git(at: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut command = Command::new("git");
        command.args(identity).args(arguments).current_dir(at).env("HOME", "/nonexistent");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// One commit with a text file that has attributes.
    fn repository(attributes: &str) -> TempDir {
        let place = tempfile::tempdir().unwrap();
        let at = place.path();
        git(at, &["init", "-q"]);
        fs::write(at.join("file"), "text\n").unwrap();
        fs::write(at.join(".gitattributes"), attributes).unwrap();
        git(at, &["add", "."]);
        git(at, &["commit", "-qm", "first"]);
        place
    }

    fn marks(marker: &Path) -> String {
        format!("touch {}; cat", marker.display())
    }

    /// Everything that is asked of git.
    fn ask_all(at: &Path) -> String {
        let git = Git::open(at).unwrap();
        let base = git.commit("HEAD").unwrap();
        git.branch();
        git.is_dirty();
        git.files().unwrap();
        assert_eq!(super::super::GitFacts::of(at).commit, base);
        super::super::change(at, "HEAD").unwrap();
        drop(super::super::renames(at, &base));
        let into = tempfile::tempdir().unwrap();
        let tree = into.path().join("tree");
        git.write_out(&base, &tree, &into.path().join("index")).unwrap();
        fs::read_to_string(tree.join("file")).unwrap()
    }

    #[test]
    fn nothing_that_a_repository_names_runs() {
        // The last column is what plain git would run it by; empty where that needs a network or a
        // terminal.
        for (attributes, key, alive) in [
            ("", "core.fsmonitor", "status"),
            ("* filter=x", "filter.x.clean", "diff"),
            ("* filter=x", "filter.x.smudge", "checkout -f"),
            ("* filter=x", "filter.x.process", "diff"),
            ("* diff=x", "diff.x.textconv", "diff"),
            ("* diff=x", "diff.x.command", "diff"),
            ("", "diff.external", "diff"),
            ("", "core.editor", "commit -a"),
            ("", "alias.x", "x"),
            ("", "core.pager", ""),
            ("", "core.sshCommand", ""),
            ("", "gpg.program", ""),
            ("", "credential.helper", ""),
            ("", "core.alternateRefsCommand", ""),
            ("", "uploadpack.packObjectsHook", ""),
        ] {
            for is_included in [false, true] {
                let place = repository(attributes);
                let (at, marker) = (place.path(), place.path().join("marker"));
                let command = marks(&marker);
                let command = if key == "alias.x" { format!("!{command}") } else { command };
                let file = at.join(if is_included { "included" } else { ".git/config" });
                git(at, &["config", "--file", file.to_str().unwrap(), key, &command]);
                if is_included {
                    git(at, &["config", "include.path", file.to_str().unwrap()]);
                }
                fs::write(at.join("file"), "TEXT\n").unwrap();
                assert_eq!(ask_all(at), "text\n", "{key}");
                assert!(!marker.exists(), "{key}");
                if !alive.is_empty() {
                    let mut plain = Command::new("git");
                    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
                    plain.args(identity).args(alive.split(' ')).current_dir(at).output().unwrap();
                    assert!(marker.exists(), "{key} is not dangerous");
                }
            }
        }
    }

    #[test]
    fn hooks_do_not_run_and_line_ends_are_converted() {
        let place = repository("file text eol=crlf\n");
        let (hooks, marker) = (place.path().join("hooks"), place.path().join("marker"));
        fs::create_dir(&hooks).unwrap();
        for hook in ["post-checkout", "post-index-change", "pre-commit", "reference-transaction"] {
            let script = format!("#!/bin/sh\n{}\n", marks(&marker));
            for directory in [&hooks, &place.path().join(".git/hooks")] {
                fs::write(directory.join(hook), &script).unwrap();
                let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(directory.join(hook), executable).unwrap();
            }
        }
        assert_eq!(ask_all(place.path()), "text\r\n");
        git(place.path(), &["config", "core.hooksPath", "hooks"]);
        assert_eq!(ask_all(place.path()), "text\r\n");
        assert!(!marker.exists());
    }

    #[test]
    fn repositories_of_other_owners_and_worktrees_are_read() {
        let place = repository("");
        git(place.path(), &["update-index", "--split-index"]);
        git(place.path(), &["worktree", "add", "-q", "tree"]);
        fs::create_dir(place.path().join("sub")).unwrap();
        // Only root can give files away; others see the rest.
        if rustix::process::geteuid().is_root() {
            for path in [".", ".git", ".git/config", "tree", "tree/.git"] {
                chown(place.path().join(path), Some(12345), Some(12345)).unwrap();
            }
        }
        assert_eq!(ask_all(place.path()), "text\n");
        assert_eq!(ask_all(&place.path().join("tree")), "text\n");
        let git = Git::open(&place.path().join("sub")).unwrap();
        assert_eq!(git.prefix(), Path::new("sub"));
    }
}
