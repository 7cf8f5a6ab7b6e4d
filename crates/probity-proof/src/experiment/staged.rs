//! One version of the code with a test in it, built once and run as often as needed.

use std::{
    io,
    path::{Path, PathBuf},
    rc::Rc,
};

use crate::{
    Outcome, RunDetail,
    places::{Vault, read_text},
    repository::copies::Copies,
    runner::{
        Built, Placed, Runner, Trial, Trouble,
        context::{RunnerContext, Site},
        existing::{Existing, Side, Suite, run_existing},
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
    vault: Rc<Vault>,
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
        let (vault, built) = (Rc::clone(&self.vault), self.built.clone());
        Self { version: Version { changes, ..self.version }, placed: self.placed, vault, built }
    }

    pub(super) fn run(&self) -> Observed {
        let failed = |trouble| Observed { trial: Trial::trouble(trouble), wrote_code: None };
        self.try_run().unwrap_or_else(failed)
    }

    /// Runs the test before a witness, and tells whether the sandbox refused it a connection.
    pub(super) fn run_witnessed(&self, witness: &Witness) -> Result<(Trial, bool), Trouble> {
        let mut site = self.version.site(&self.vault)?;
        site.witness = Some(witness);
        place(&site, self.placed)?;
        let trial = self.version.runner.run(&site, self.placed, &self.built)?;
        Ok((trial, site.refused_connection()))
    }

    fn try_run(&self) -> Result<Observed, Trouble> {
        let site = self.version.site(&self.vault)?;
        place(&site, self.placed)?;
        let trial = self.version.runner.run(&site, self.placed, &self.built)?;
        let ran = matches!(trial.outcome, Outcome::Failed | Outcome::Passed | Outcome::Timeout);
        let wrote_code = if ran { site.copy.changed_source() } else { None };
        Ok(Observed { trial, wrote_code })
    }
}

impl<'a> Version<'a> {
    /// Builds a test in this version, in a vault of this name: nothing that was built there before is
    /// taken for this version's.
    pub(super) fn build(
        self,
        placed: &'a Placed,
        claim: &Vault,
        name: &str,
    ) -> Result<Staged<'a>, Box<Trial>> {
        let vault = claim.fresh_vault(name).map_err(|error| Trouble::at(claim.path(), &error))?;
        let site = self.site(&vault)?;
        place(&site, placed)?;
        let built = self.runner.build(&site, placed)?;
        drop(site);
        Ok(Staged { version: self, placed, vault: Rc::new(vault), built })
    }

    fn site(&self, vault: &Vault) -> Result<Site<'a>, Trouble> {
        let copy = self.copies.lend(vault);
        let copy = copy.map_err(|error| Trouble::Machine(error.to_string()))?;
        let site = self.context.site(copy, vault)?;
        for (path, text) in self.changes {
            write(&site, path, text)?;
        }
        Ok(site)
    }

    /// Runs existing tests on this version, in a clean copy without the claim's test.
    pub(super) fn run_existing(
        &self,
        vault: &Vault,
        wanted: Existing<'_>,
        side: Side<'_>,
    ) -> Result<Suite, Trouble> {
        Ok(run_existing(self.runner, &self.site(vault)?, wanted, side))
    }
}

fn place(site: &Site<'_>, placed: &Placed) -> Result<(), Trouble> {
    write(site, &placed.path, &placed.source)?;
    let Some((path, text)) = &placed.added else { return Ok(()) };
    let old = read_text(site.repo(), path).map_err(|error| at(path, &error))?;
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
