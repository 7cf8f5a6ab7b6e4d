//! Nothing but the one thing changes: for objectives that have one place to change.

use probity_dockerfile::{Base, ImageContract, Setting, Step};

use super::{Change, Check, Issue};

pub(crate) const ONLY_HEALTHCHECK: Check =
    Check::new("runtime-invariants-except-healthcheck", only_healthcheck)
        .once_called("only-healthcheck-changes");
pub(crate) const ONLY_BASE: Check = Check::new("only-base-changes", only_base);
pub(crate) const ONLY_RUNS: Check = Check::new("only-runs-change", only_runs);

/// Takes out of a contract what an objective may change; the number is that of the stage at the
/// bottom of the final one.
pub(crate) type Forget = fn(&mut ImageContract, Option<usize>);

/// The runtime check knows the setting; here it is out of the way.
pub(crate) fn forget_healthcheck(contract: &mut ImageContract, _: Option<usize>) {
    if let Some(last) = contract.stages.last_mut() {
        last.config.retain(|entry| entry.setting != Setting::Healthcheck);
    }
}

pub(crate) fn forget_base(contract: &mut ImageContract, root: Option<usize>) {
    if let Some(stage) = root.and_then(|root| contract.stages.get_mut(root)) {
        (stage.image, stage.base) = (None, Base::Unknown);
    }
}

pub(crate) fn forget_user(contract: &mut ImageContract, _: Option<usize>) {
    for stage in &mut contract.stages {
        stage.config.retain(|entry| entry.setting != Setting::User);
        stage.steps.retain(|step| !matches!(step, Step::User(_)));
    }
}

pub(crate) fn forget_transfers(contract: &mut ImageContract, _: Option<usize>) {
    for stage in &mut contract.stages {
        stage.steps.retain(|step| !matches!(step, Step::Transfer(_)));
    }
}

pub(crate) fn forget_variables(contract: &mut ImageContract, _: Option<usize>) {
    let is_variable = |step: &Step| matches!(step, Step::Arg { .. } | Step::Env { .. });
    contract.arguments.retain(|step| !is_variable(step));
    for stage in &mut contract.stages {
        stage.config.retain(|entry| entry.setting != Setting::Env);
        stage.steps.retain(|step| !is_variable(step));
    }
}

pub(crate) fn forget_runs(contract: &mut ImageContract, _: Option<usize>) {
    for stage in &mut contract.stages {
        stage.steps.retain(|step| !matches!(step, Step::Run { .. }));
    }
}

fn only_healthcheck(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    compared(check, change, "the HEALTHCHECK")
}

fn only_base(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    compared(check, change, "the base image")
}

fn only_runs(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    compared(check, change, "RUN instructions")
}

/// Puts copies and variables of a stage in one order, where theirs makes no difference: no copy writes below
/// another, and no directory changes between them.
fn settle(contract: &mut ImageContract) {
    for stage in &mut contract.stages {
        let targets: Vec<String> = stage
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Transfer(it) => Some(it.destination.as_ref()?.pattern().to_owned()),
                _ => None,
            })
            .collect();
        let nests = |(place, own): (usize, &String)| {
            let rest = targets.iter().enumerate().filter(|(other, _)| *other != place);
            rest.into_iter()
                .any(|(_, other)| !own.starts_with('/') || own.starts_with(other.as_str()))
        };
        let is_free = |step: &Step| matches!(step, Step::Transfer(_) | Step::Env { .. });
        if targets.iter().enumerate().any(nests) {
            continue;
        }
        for steps in stage.steps.chunk_by_mut(|one, other| is_free(one) && is_free(other)) {
            steps.sort_by_key(Step::to_string);
        }
    }
}

/// What differs between the two once everything is taken out that any met objective may change.
fn compared(check: &Check, change: &Change<'_>, what: &str) -> Vec<Issue> {
    let root = change.before.facts.final_stage().map(|stage| stage.root);
    let mut old = change.before.facts.contract().clone();
    let mut new = change.after.facts.contract().clone();
    for forget in &change.limits.forgotten {
        forget(&mut old, root);
        forget(&mut new, root);
    }
    settle(&mut old);
    settle(&mut new);
    for ((was, is), stages) in old
        .stages
        .iter_mut()
        .zip(&mut new.stages)
        .zip(change.before.facts.stages().iter().zip(change.after.facts.stages()))
    {
        // A version may come from an ARG.
        if stages.0.base == stages.1.base && matches!(stages.0.base, Base::Image(_)) {
            (was.image, is.image) = (None, None);
        }
    }
    let is_used = |step: &Step| matches!(step, Step::Arg { default: Some(_), .. });
    new.arguments.retain(|step| old.arguments.contains(step) || !is_used(step));
    // Another check looks at directives, and nothing refers to the last stage.
    new.syntax.clone_from(&old.syntax);
    if let (Some(was), Some(is)) = (old.stages.last(), new.stages.last_mut())
        && was.name.is_none()
    {
        is.name = None;
    }
    if old == new {
        return Vec::new();
    }
    let differences = old.differences(&new).join("; ");
    let message = format!("only {what} may change, but this does too: {differences}");
    vec![change.issue(check, &message)]
}
