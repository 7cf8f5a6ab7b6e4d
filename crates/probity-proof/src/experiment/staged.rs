//! One version of the code with a test in it, built once and run as often as needed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    Outcome, RunDetail,
    repository::copies::Copies,
    runner::{
        self, Built, Existing, Placed, Runner, Suite, Trial, Trouble,
        context::{RunnerContext, Site},
        witness::Witness,
    },
};

/// A version of the code: a tree, the texts of files that are other there, and what runs its tests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version<'a> {
    pub(super) context: &'a RunnerContext,
    pub(super) runner: &'a dyn Runner,
    pub(super) copies: &'a Copies,
    pub(super) changes: &'a [(String, String)],
}

/// A version that a test can be run on, each time in a clean copy and a process of its own.
#[derive(Debug)]
pub(super) struct Staged<'a> {
    pub(super) version: Version<'a>,
    pub(super) placed: &'a Placed,
    /// This version's own.
    directory: PathBuf,
    built: Built,
}

/// A run, and the file of code that the test has written over, if it has.
pub(super) struct Observed {
    pub(super) trial: Trial,
    pub(super) wrote_code: Option<PathBuf>,
}

impl<'a> Staged<'a> {
    /// What was built here, beside these texts of the files.
    pub(super) fn beside(&self, changes: &'a [(String, String)]) -> Self {
        let (directory, built) = (self.directory.clone(), self.built.clone());
        Self { version: Version { changes, ..self.version }, placed: self.placed, directory, built }
    }

    pub(super) fn run(&self) -> Observed {
        let failed = |trouble| Observed { trial: Trial::trouble(trouble), wrote_code: None };
        self.try_run().unwrap_or_else(failed)
    }

    /// Runs the test before a witness, and tells whether the sandbox refused it a connection.
    pub(super) fn run_witnessed(&self, witness: &Witness) -> Result<(Trial, bool), Trouble> {
        let mut site = self.version.site(&self.directory)?;
        site.witness = Some(witness);
        place(&site, self.placed)?;
        let trial = self.version.runner.run(&site, self.placed, &self.built)?;
        Ok((trial, site.refused_connection()))
    }

    fn try_run(&self) -> Result<Observed, Trouble> {
        let site = self.version.site(&self.directory)?;
        place(&site, self.placed)?;
        let trial = self.version.runner.run(&site, self.placed, &self.built)?;
        let ran = matches!(trial.outcome, Outcome::Failed | Outcome::Passed | Outcome::Timeout);
        let wrote_code = if ran { site.copy.changed_source() } else { None };
        Ok(Observed { trial, wrote_code })
    }
}

impl<'a> Version<'a> {
    /// Builds a test in this version. `directory` does not exist yet.
    pub(super) fn build(
        self,
        placed: &'a Placed,
        directory: PathBuf,
    ) -> Result<Staged<'a>, Box<Trial>> {
        let site = self.site(&directory)?;
        place(&site, placed)?;
        let built = self.runner.build(&site, placed)?;
        drop(site);
        Ok(Staged { version: self, placed, directory, built })
    }

    fn site(&self, directory: &Path) -> Result<Site<'a>, Trouble> {
        fs::create_dir_all(directory).map_err(|error| Trouble::at(directory, &error))?;
        let copy = self.copies.lend(directory);
        let copy = copy.map_err(|error| Trouble::Machine(error.to_string()))?;
        let site = self.context.site(copy, directory)?;
        for (path, text) in self.changes {
            write(&site, path, text)?;
        }
        Ok(site)
    }

    /// Runs existing tests on this version, in a clean copy without the claim's test.
    pub(super) fn run_existing(
        &self,
        directory: &Path,
        wanted: Existing<'_>,
    ) -> Result<Suite, Box<Trial>> {
        runner::run_existing(self.runner, &self.site(directory)?, wanted)
    }
}

fn place(site: &Site<'_>, placed: &Placed) -> Result<(), Trouble> {
    write(site, &placed.path, &placed.source)?;
    let Some((path, text)) = &placed.added else { return Ok(()) };
    let old = fs::read_to_string(site.copy.repo.join(path));
    let old = old.map_err(|error| at(path, &error))?;
    write(site, path, &format!("{old}{text}"))
}

fn write(site: &Site<'_>, path: &str, text: &str) -> Result<(), Trouble> {
    site.copy.write(path, text).map_err(|error| at(path, &error))
}

fn at(path: &str, error: &io::Error) -> Trouble {
    Trouble::at(Path::new(path), error)
}

impl Trial {
    /// Whether the code is at fault, as far as one run can tell.
    pub(super) fn is_failure(&self) -> bool {
        self.outcome == Outcome::Failed
            || (self.outcome == Outcome::Timeout && matches!(self.detail, RunDetail::Timeout(_)))
    }
}
