//! `--prove`: where the exploits of an audit run.

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use probity_audit::ReadScope;
use probity_proof::{ProofError, ProofOptions, Workshop, wording};
use probity_text::visible;

use super::provider;
use crate::{
    commands::stop::Stop,
    config::{Settings, table::audit::Audit},
    failure::Failure,
    test_place::{fetches, proof_caches, test_sandbox},
};

/// Refuses what cannot be proven, before anything is read.
pub(super) fn check(settings: &Audit, provider: &str) -> Result<(), Failure> {
    if provider::asks_no_model(provider) {
        let what = format!("--prove needs a model, and the provider '{provider}' asks none");
        let way_out = "name one, for example `--provider openai`, or leave out --prove";
        return Err(Failure::new(what, way_out));
    }
    // A test can print any file of the project, and the model sees what tests print.
    if settings.interactive_permissions || settings.read_scope == ReadScope::Strict {
        return Err(Failure::new(
            "--prove shows the output of tests to the model, and tests can read every file of the \
             project",
            "leave out --interactive-permissions and `--read-scope strict`, or leave out --prove",
        ));
    }
    Ok(())
}

/// A copy of the project with everything that its tests need.
pub(super) fn workshop(root: &Path, settings: &Settings, stop: &Stop) -> anyhow::Result<Workshop> {
    let mut options = options(root, settings, stop)?;
    options.proof_timeout = Some(settings.audit.prove_timeout);
    options.withheld = Some(if settings.audit.allow_sensitive { is_our_own } else { is_withheld });
    prepared(options)
}

/// What exploits run with, in any command.
pub(super) fn options(
    root: &Path,
    settings: &Settings,
    stop: &Stop,
) -> Result<ProofOptions, Failure> {
    let sandbox = test_sandbox(settings.audit.sandbox, "--sandbox")?;
    let mut options = ProofOptions::new(root, sandbox);
    options.runners = settings.review.runner.read();
    options.caches = proof_caches();
    options.fetch = fetches(&settings.review);
    options.withheld = Some(is_our_own);
    options.cancel = Arc::clone(&stop.tests);
    Ok(options)
}

pub(super) fn prepared(options: ProofOptions) -> anyhow::Result<Workshop> {
    let workshop = Workshop::prepare(options, &|step| tracing::info!("{step}"));
    let workshop = workshop.map_err(|error: ProofError| {
        Failure::new(format!("cannot prepare the tests: {error}"), "see the cause")
    });
    let workshop = workshop.context("no exploit can be run")?;
    for note in workshop.notes() {
        tracing::warn!("{}", visible::line(&wording::prepare_note(note)));
    }
    Ok(workshop)
}

/// What a model may not read, and what we wrote ourselves.
fn is_withheld(path: &Path) -> bool {
    is_our_own(path) || probity_scope::is_sensitive(path)
}

fn is_our_own(path: &Path) -> bool {
    path.starts_with(".tx3")
}
