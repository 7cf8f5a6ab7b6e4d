//! What is asked of git, none of which writes into the repository.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::{Backend, Exit, Limits, Spec, run};

/// How long git may take to list or write out a large repository.
const PATIENCE: Duration = Duration::from_secs(120);

/// Output of a listing of more files than are ever copied.
const MOST_OUTPUT: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Git {
    repo: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Git {
    pub(super) fn new(repo: &Path, environment: &[(OsString, OsString)]) -> Self {
        Self { repo: repo.to_owned(), environment: environment.to_vec() }
    }

    /// What is tracked, and what is neither tracked nor ignored.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, String> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "."];
        let output = self.ask(&arguments, &[])?;
        let mut files: Vec<PathBuf> = output
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| PathBuf::from(OsStr::from_bytes(name)))
            .collect();
        // A file in conflict is listed once for each side.
        files.dedup();
        Ok(files)
    }

    /// Writes the tree of a commit into a directory, by an index of its own. Not by `archive`,
    /// which leaves out what a repository wants out of its releases: often the tests.
    pub(super) fn write_out(&self, commit: &str, into: &Path, index: &Path) -> Result<(), String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./~^@".contains(&byte);
        if commit.is_empty() || commit.starts_with('-') || !commit.bytes().all(plain) {
            return Err(format!("{commit}: not the name of a commit"));
        }
        fs::create_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
        let index = [("GIT_INDEX_FILE", index.as_os_str())];
        self.ask(&["read-tree", &format!("{commit}^{{tree}}")], &index)?;
        let mut prefix = OsString::from("--prefix=");
        prefix.push(into);
        prefix.push("/");
        let arguments = [OsStr::new("checkout-index"), OsStr::new("--all"), prefix.as_os_str()];
        self.ask(&arguments, &index)?;
        Ok(())
    }

    /// Where the repository lies in its working tree; empty for the whole of it.
    pub(super) fn prefix(&self) -> Result<PathBuf, String> {
        let mut output = self.ask(&["rev-parse", "--show-prefix"], &[])?;
        output.truncate(output.trim_ascii_end().len());
        Ok(PathBuf::from(OsStr::from_bytes(&output)))
    }

    fn ask(
        &self,
        arguments: &[impl AsRef<OsStr>],
        variables: &[(&str, &OsStr)],
    ) -> Result<Vec<u8>, String> {
        let mut spec = Spec::new(["git"], &self.repo);
        // Neither may the repository's settings start a program of theirs.
        for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null"] {
            spec.argv.extend(["-c".into(), setting.into()]);
        }
        spec.argv.extend(arguments.iter().map(|word| word.as_ref().to_owned()));
        spec.env = self.environment.clone();
        // Variables of a hook that we may run below would lead to another repository.
        spec.env.retain(|(name, _)| !name.as_bytes().starts_with(b"GIT_"));
        spec.env.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        for (name, value) in variables {
            spec.env.push(((*name).into(), (*value).to_owned()));
        }
        spec.limits =
            Limits { wall: Some(PATIENCE), output: Some(MOST_OUTPUT), ..Limits::default() };
        let outcome = run(&Backend::None, &spec, b"").map_err(|error| error.to_string())?;
        match outcome.exit {
            Exit::Code(0) => Ok(outcome.stdout),
            other => {
                let told = String::from_utf8_lossy(&outcome.stderr_tail);
                let first = told.lines().next().unwrap_or_default();
                Err(format!("git {}: {first} ({other:?})", words(arguments)))
            }
        }
    }
}

fn words(arguments: &[impl AsRef<OsStr>]) -> String {
    arguments.first().map_or_else(String::new, |word| word.as_ref().to_string_lossy().into_owned())
}
