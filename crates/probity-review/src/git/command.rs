//! Running git so that nothing but git runs.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::{Backend, Exit, Limits, SpawnError, Spec, run};

use super::GitError;
use crate::clean::one_line;

/// Of one command; a repository whose diff takes longer cannot be reviewed in a CI step anyway.
const PATIENCE: Duration = Duration::from_secs(60);
const OUTPUT_BYTES: u64 = 64 << 20;

/// Settings that stand in front of the repository's own. Each of these could start a program.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "diff.external=",
    "core.attributesFile=/dev/null",
    // The directory may belong to another user in a container; we read it, and run nothing of it.
    "safe.directory=*",
    "core.quotePath=false",
];

pub(super) struct Git {
    directory: PathBuf,
}

impl Git {
    pub(super) fn new(directory: &Path) -> Self {
        // A process is started in a directory by its full name only.
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Self { directory: real }
    }

    /// Standard output of a git command that succeeded.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<String, GitError> {
        let what = arguments.first().copied().unwrap_or_default().to_owned();
        let mut argv = vec!["git".to_owned(), "--no-pager".to_owned()];
        argv.extend(SETTINGS.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]));
        argv.extend(arguments.iter().map(|&argument| argument.to_owned()));
        let mut spec = Spec::new(argv, &self.directory);
        let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        spec.env = vec![
            ("PATH".into(), path),
            ("HOME".into(), "/nonexistent".into()),
            ("LC_ALL".into(), "C".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            ("GIT_OPTIONAL_LOCKS".into(), "0".into()),
            ("GIT_NO_REPLACE_OBJECTS".into(), "1".into()),
            ("GIT_NO_LAZY_FETCH".into(), "1".into()),
        ];
        spec.limits =
            Limits { wall: Some(PATIENCE), output: Some(OUTPUT_BYTES), ..Limits::default() };
        let failed = |why: String| GitError::Failed { what: what.clone(), why };
        let outcome = run(&Backend::None, &spec, b"").map_err(|error| match error {
            SpawnError::NotFound(_) => GitError::NotInstalled,
            other => failed(one_line(&other.to_string(), 300)),
        })?;
        match outcome.exit {
            Exit::Code(0) => Ok(String::from_utf8_lossy(&outcome.stdout).into_owned()),
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

    pub(super) fn is_shallow(&self) -> bool {
        let answer = self.ask(&["rev-parse", "--is-shallow-repository"]);
        answer.is_ok_and(|answer| answer.trim() == "true")
    }

    /// Whether the working tree differs from the head. Not looked at where the repository has
    /// filters, since git would run them to compare.
    pub(super) fn is_dirty(&self) -> Option<bool> {
        let filters = self.ask(&[
            "config",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|smudge|process)$",
        ]);
        if filters.is_ok_and(|names| !names.trim().is_empty()) {
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
}
