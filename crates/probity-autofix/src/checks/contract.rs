//! Nothing but the one thing changes: for objectives that have one place to change.

use probity_dockerfile::{Base, ImageContract, Setting, Step};

use super::{Change, Check, Issue};

pub(crate) const ONLY_HEALTHCHECK: Check =
    Check { name: "only-healthcheck-changes", run: only_healthcheck };
pub(crate) const ONLY_BASE: Check = Check { name: "only-base-changes", run: only_base };
pub(crate) const ONLY_RUNS: Check = Check { name: "only-runs-change", run: only_runs };

fn only_healthcheck(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    // The runtime check knows the setting; here it is out of the way.
    compared(check, change, "the HEALTHCHECK", |contract| {
        if let Some(last) = contract.stages.last_mut() {
            last.config.retain(|entry| entry.setting != Setting::Healthcheck);
        }
    })
}

fn only_base(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let root = change.before.facts.final_stage().map(|stage| stage.root);
    compared(check, change, "the base image", |contract| {
        if let Some(stage) = root.and_then(|root| contract.stages.get_mut(root)) {
            (stage.image, stage.base) = (None, Base::Unknown);
        }
    })
}

fn only_runs(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    compared(check, change, "RUN instructions", |contract| {
        for stage in &mut contract.stages {
            stage.steps.retain(|step| !matches!(step, Step::Run { .. }));
        }
    })
}

/// What differs between the two once `forget` has taken out what may.
fn compared(
    check: &Check,
    change: &Change<'_>,
    what: &str,
    forget: impl Fn(&mut ImageContract),
) -> Vec<Issue> {
    let mut old = change.before.facts.contract().clone();
    let mut new = change.after.facts.contract().clone();
    forget(&mut old);
    forget(&mut new);
    if old == new {
        return Vec::new();
    }
    let differences = old.differences(&new).join("; ");
    let message = format!("only {what} may change, but this does too: {differences}");
    vec![change.issue(check, &message)]
}
