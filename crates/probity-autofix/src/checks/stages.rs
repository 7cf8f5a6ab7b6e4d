//! Stages: how many there are, who needs them, and what they name.

use std::collections::BTreeSet;

use probity_dockerfile::{Facts, Stage, StageReference, StageReferenceKind, Target};
use probity_lint::{LintOptions, Pattern, RuleSet};

use super::{Change, Check, Issue, View};

pub(crate) const STAGE_COUNT: Check = Check::new("stage-count", stage_count);
pub(crate) const REFERENCES: Check = Check::new("stage-references", references);
pub(crate) const UNREACHABLE: Check = Check::new("tally/no-unreachable-stages", unreachable);
pub(crate) const FINAL_STAGE_BUILDS: Check = Check::new("final-stage-builds", final_stage_builds);

/// One stage more than before.
fn stage_count(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let count = |view: &View<'_>| view.facts.stages().len();
    if count(change.after) > count(change.before) {
        return Vec::new();
    }
    vec![change.issue(check, "the file must have more stages than before")]
}

/// What is copied or mounted comes from a stage before, or from where the original had something
/// from; a new stage by the name of an image would put itself in the image's place.
fn references(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let outside = |reference: &&StageReference| {
        !matches!(reference.target, Target::Stage(_) | Target::StageIndex(_))
    };
    let olds = change.before.facts.graph().references().iter().filter(outside);
    let known: BTreeSet<&str> = olds.map(|reference| reference.text.as_str()).collect();
    let wrong = |reference: &&StageReference| match &reference.target {
        Target::StageIndex(stage) => *stage >= reference.stage,
        Target::Stage(stage) => {
            *stage >= reference.stage || known.contains(reference.text.as_str())
        }
        Target::Image(_) | Target::Scratch | Target::Unknown => {
            let mut allowed = change.limits.addresses.iter();
            !known.contains(reference.text.as_str())
                && !allowed.any(|address| reference.text.starts_with(address))
        }
    };
    let all = change.after.facts.graph().references().iter();
    let inner = all.filter(|reference| reference.kind != StageReferenceKind::From);
    inner
        .filter(wrong)
        .map(|reference| {
            let wrong = if known.contains(reference.text.as_str()) {
                "named an image of the original, and now names a stage"
            } else {
                "names neither an earlier stage nor an image that the original names"
            };
            let message = format!("`from={}` {wrong}", reference.text);
            change.issue(check, &message).at(change.after, reference.span)
        })
        .collect()
}

/// A stage that nobody needs is what is left of a conversion that went wrong.
fn unreachable(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let known: Vec<String> = idle(&change.before.facts).map(label).collect();
    let new = idle(&change.after.facts).filter(|stage| !known.contains(&label(stage)));
    new.map(|stage| {
        let name = label(stage);
        let message = format!("the final image does not need the stage `{name}`");
        let issue = change.issue(check, &message);
        match stage.name_span.or(stage.image_span) {
            Some(span) => issue.at(change.after, span),
            None => issue,
        }
    })
    .collect()
}

fn idle(facts: &Facts) -> impl Iterator<Item = &Stage> {
    facts.stages().iter().filter(|stage| !facts.graph().is_reachable(stage.index))
}

fn label(stage: &Stage) -> String {
    stage.key().unwrap_or_else(|| stage.image.pattern().to_owned())
}

/// Whether a finding is about more than packages of headers, which libraries may come with.
fn builds(finding: &probity_finding::Finding) -> bool {
    let objectives = finding.fixes.iter().filter_map(|fix| fix.objective.as_ref());
    let mut signals = objectives.flat_map(|objective| &objective.signals);
    signals.any(|signal| {
        let is_headers = |name: &String| name.ends_with("-dev") || name.ends_with("-devel");
        signal.packages.is_empty() || !signal.packages.iter().all(is_headers)
    })
}

/// The final stage by itself must not be what the rule objected to.
fn final_stage_builds(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    const RULE: &str = "tally/prefer-multi-stage-build";
    let after = change.after;
    if after.facts.stages().len() < 2 {
        return Vec::new();
    }
    let Some(stage) = after.facts.final_stage() else { return Vec::new() };
    let from = after.file.instructions.get(stage.instruction);
    let Some((start, text)) =
        from.and_then(|from| Some((from.span.start, after.text.get(from.span.start..)?)))
    else {
        return Vec::new();
    };
    let mut rules = RuleSet::default();
    rules.select(&[Pattern::new(RULE)]);
    let options = LintOptions { rules: &rules, ..change.fix.lint };
    let found = probity_lint::lint(text, &options).into_iter().find(builds);
    let place = found.and_then(|finding| finding.span);
    let message = "the final stage still builds; build in an earlier stage and copy the result";
    place
        .map(|span| {
            let span = probity_finding::Span::new(start + span.start, start + span.end);
            change.issue(check, message).at(after, span)
        })
        .into_iter()
        .collect()
}
