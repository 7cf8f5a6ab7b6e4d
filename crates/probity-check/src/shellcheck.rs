//! An installed ShellCheck: asked about all texts of a batch of files at once.
//!
//! A process costs more than what it finds out about a text, so that what it said is remembered: the
//! files of a batch are opened and looked at before they are linted, and only texts that fixing has
//! changed are asked about later.

mod directory;
mod wire;

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use probity_lint::{ScriptFinding, ShellChecker, ShellScript, shell_scripts};
use probity_sandbox::{Backend, Exit, SpawnError, Spec};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use self::directory::PrivateDirectory;
use crate::{CheckError, job::Job, opened::Opened};

/// Texts for one process.
const AT_ONCE: usize = 256;

/// Codes about files that are not at hand, and about shells that a Dockerfile tells by other means.
const LEFT_OUT: &str = "SC1090,SC1091,SC2148,SC2187";

/// More than this about so many texts is no report.
const MOST_OUTPUT: u64 = 256 * 1024 * 1024;

/// The program, and what it has said so far.
#[derive(Debug)]
pub struct ShellcheckProgram {
    path: PathBuf,
    timeout: Duration,
    known: Mutex<HashMap<ShellScript, Vec<ScriptFinding>>>,
    /// Why it could not be asked, the first time that it could not.
    failure: Mutex<Option<ShellcheckError>>,
}

/// Why the program at this path gave no report.
#[derive(Debug, thiserror::Error)]
pub enum ShellcheckError {
    #[error("{}: {error}", path.display())]
    Directory { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Start { path: PathBuf, error: SpawnError },
    #[error("{} took more than {} s (`shellcheck.timeout`)", path.display(), limit.as_secs_f64())]
    Timeout { path: PathBuf, limit: Duration },
    #[error("{} failed with {code}: {said}", path.display())]
    Exit { path: PathBuf, code: i32, said: String },
    #[error("{} wrote no report: {error}", path.display())]
    Report { path: PathBuf, error: serde_json::Error },
}

/// Asks about all texts of these files that want it.
pub(crate) fn learn(batch: &[Job], directory: &Path) -> Result<(), CheckError> {
    let Some(program) = batch.iter().find_map(|job| job.rules.shellcheck.as_ref()) else {
        return Ok(());
    };
    let scripts = |job: &Job| -> Vec<ShellScript> {
        if job.rules.shellcheck.is_none() {
            return Vec::new();
        }
        let (opened, scripts) = match Opened::of(job, directory) {
            Opened::Text(source, parsed) => {
                let parsed = parsed.attached(&source.text);
                let scripts = shell_scripts(&parsed, &job.rules.set);
                let parsed = Box::new(parsed.detached());
                (Opened::Text(source, parsed), scripts)
            }
            problem @ Opened::Problem(_) => (problem, Vec::new()),
        };
        job.keep_opened(opened);
        scripts
    };
    let scripts: Vec<ShellScript> = batch.par_iter().flat_map_iter(scripts).collect();
    program.ask(&scripts);
    refuse_failure(batch)
}

/// An error where the program failed, since findings would be missing.
pub(crate) fn refuse_failure(batch: &[Job]) -> Result<(), CheckError> {
    let program = batch.iter().find_map(|job| job.rules.shellcheck.as_ref());
    match program.and_then(|program| lock(&program.failure).take()) {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

impl ShellcheckProgram {
    /// The first `shellcheck` of the search path.
    ///
    /// # Errors
    ///
    /// If no ShellCheck is installed.
    pub fn find(timeout: Duration) -> Result<Arc<Self>, CheckError> {
        let search = std::env::var_os("PATH").unwrap_or_default();
        // A relative directory would be one of whoever wrote the files that are checked.
        let places = std::env::split_paths(&search).filter(|path| path.is_absolute());
        let path = places.map(|place| place.join("shellcheck")).find(|path| path.is_file());
        let Some(path) = path else {
            return Err(CheckError::NoShellcheck);
        };
        Ok(Arc::new(Self { path, timeout, known: Mutex::default(), failure: Mutex::default() }))
    }

    /// Asks about those that are not known yet.
    fn ask(&self, scripts: &[ShellScript]) {
        let new: Vec<&ShellScript> = {
            let known = lock(&self.known);
            let new: BTreeSet<&ShellScript> =
                scripts.iter().filter(|script| !known.contains_key(*script)).collect();
            new.into_iter().collect()
        };
        let parts: Vec<&[&ShellScript]> = new.chunks(AT_ONCE).collect();
        let answers: Vec<Result<Vec<Vec<ScriptFinding>>, ShellcheckError>> =
            parts.par_iter().map(|part| self.run(part)).collect();
        for (part, answer) in parts.iter().zip(answers) {
            match answer {
                Ok(found) => {
                    let part = part.iter().map(|&script| script.clone());
                    lock(&self.known).extend(part.zip(found));
                }
                Err(what) => {
                    lock(&self.failure).get_or_insert(what);
                }
            }
        }
    }

    /// One process for these texts.
    fn run(&self, scripts: &[&ShellScript]) -> Result<Vec<Vec<ScriptFinding>>, ShellcheckError> {
        let path = || self.path.clone();
        let failed = |error| ShellcheckError::Directory { path: path(), error };
        let directory = PrivateDirectory::create().map_err(failed)?;
        let mut argv: Vec<OsString> = vec![self.path.clone().into()];
        let options = ["--norc", "--format=json1", "--severity=style", "--exclude", LEFT_OUT, "--"];
        argv.extend(options.iter().map(OsString::from));
        for (number, script) in scripts.iter().enumerate() {
            let name = number.to_string();
            directory.write(&name, &wire::file(script)).map_err(failed)?;
            argv.push(name.into());
        }
        let mut spec = Spec::new(argv, directory.path());
        spec.env =
            vec![("LC_ALL".into(), "C.UTF-8".into()), ("HOME".into(), directory.path().into())];
        spec.limits.wall = Some(self.timeout);
        spec.limits.output = Some(MOST_OUTPUT);
        let outcome = probity_sandbox::run(&Backend::None, &spec, &[])
            .map_err(|error| ShellcheckError::Start { path: path(), error })?;
        match outcome.exit {
            // 1 says that something was found.
            Exit::Code(0 | 1) => {}
            Exit::Timeout => {
                return Err(ShellcheckError::Timeout { path: path(), limit: self.timeout });
            }
            exit => {
                let said = String::from_utf8_lossy(&outcome.stderr_tail);
                let said = said.lines().next().unwrap_or_default().trim().to_owned();
                return Err(ShellcheckError::Exit { path: path(), code: exit.code(), said });
            }
        }
        wire::findings(&outcome.stdout, scripts)
            .map_err(|error| ShellcheckError::Report { path: path(), error })
    }
}

impl ShellChecker for ShellcheckProgram {
    fn check(&self, scripts: &[ShellScript]) -> Vec<Vec<ScriptFinding>> {
        self.ask(scripts);
        let known = lock(&self.known);
        scripts.iter().map(|script| known.get(script).cloned().unwrap_or_default()).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
