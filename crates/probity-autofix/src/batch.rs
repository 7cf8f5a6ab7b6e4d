//! All objectives of one file: one session, one prompt, one proposal.

use probity_finding::Objective;

use crate::{
    checks::{AFTER, Change, Check, Explained, Issue, Limits, PATCH},
    objective::{ObjectiveKind, Retry},
};

/// One objective of one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub rule: String,
    pub priority: i32,
    pub objective: Objective,
}

/// The members that want the same thing.
pub(crate) struct Group<'m> {
    pub(crate) kind: &'static ObjectiveKind,
    pub(crate) members: Vec<&'m Member>,
}

/// Groups in the order in which the agent is told of them: by priority, then by rule.
pub(crate) struct Batch<'m> {
    pub(crate) groups: Vec<Group<'m>>,
}

/// What the checks say of a proposal.
pub(crate) enum Verdict {
    /// Taken; the kinds of objectives that it meets.
    Accepted(Vec<&'static str>),
    /// The same, but these checks suspect harm, which only a proof of both images can refute.
    Suspected(Vec<&'static str>, Vec<Issue>),
    /// It fails checks of what was changed.
    PatchRejected(Vec<Issue>),
    /// It fails checks of what came of it.
    Invalid(Vec<Issue>),
}

impl<'m> Batch<'m> {
    /// Members whose objective nobody here knows are left out.
    pub(crate) fn of(members: &'m [Member]) -> Self {
        let mut ordered: Vec<&Member> = members.iter().collect();
        ordered.sort_by(|a, b| (a.priority, &a.rule).cmp(&(b.priority, &b.rule)));
        let mut groups: Vec<Group<'m>> = Vec::new();
        for member in ordered {
            let Some(kind) = ObjectiveKind::named(member.objective.kind) else { continue };
            match groups.iter_mut().find(|group| group.kind.name == kind.name) {
                Some(group) => group.members.push(member),
                None => groups.push(Group { kind, members: vec![member] }),
            }
        }
        Self { groups }
    }

    pub(crate) fn retry(&self) -> Retry {
        let kinds = || self.groups.iter().map(|group| group.kind.retry);
        Retry {
            rounds: kinds().map(|retry| retry.rounds).max().unwrap_or(1),
            malformed: kinds().map(|retry| retry.malformed).max().unwrap_or_default(),
        }
    }

    /// What the objectives allow together.
    pub(crate) fn limits(&self) -> Limits {
        limits_of(&self.groups.iter().collect::<Vec<_>>())
    }

    pub(crate) fn judge(&self, change: &Change<'_>) -> Verdict {
        let attempts: Vec<(&Group<'_>, Vec<Issue>)> =
            self.groups.iter().map(|group| (group, group.kind.must.faults(change))).collect();
        let groups: Vec<&Group<'_>> = attempts
            .iter()
            .filter(|(_, faults)| faults.is_empty())
            .map(|(group, _)| *group)
            .collect();
        // What nobody tried to meet allows nothing.
        let limits = if groups.is_empty() { self.limits() } else { limits_of(&groups) };
        let met: Vec<&'static ObjectiveKind> = groups.iter().map(|group| group.kind).collect();
        let change = &Change { limits: &limits, ..*change };
        let mut issues = faults(PATCH, change);
        if met.is_empty() {
            issues.extend(attempts.into_iter().flat_map(|(_, faults)| faults));
        }
        issues.extend(met.iter().flat_map(|kind| faults(kind.patch_checks, change)));
        if !issues.is_empty() {
            return Verdict::PatchRejected(issues);
        }
        let mut issues = faults(AFTER, change);
        issues.extend(own_faults(&met, change));
        let names = met.into_iter().map(|kind| kind.name).collect();
        if issues.is_empty() {
            return Verdict::Accepted(names);
        }
        if issues.iter().all(|issue| issue.is_heuristic) {
            Verdict::Suspected(names, issues)
        } else {
            Verdict::Invalid(issues)
        }
    }
}

fn limits_of(groups: &[&Group<'_>]) -> Limits {
    let mut limits = Limits { churn: Some(0), ..Limits::default() };
    for group in groups {
        limits.settings.extend(group.kind.settings);
        limits.forgotten.extend(group.kind.forgets);
        limits.addresses.extend(group.kind.addresses);
        for member in &group.members {
            let churn = limits.churn.zip(member.objective.max_churn);
            limits.churn = churn.map(|(so_far, more)| so_far.max(more));
        }
    }
    limits
}

/// What the checks of the objectives find, each beside what the changes for the others explain. Narrow
/// checks do not run if one objective may change anything.
fn own_faults(met: &[&'static ObjectiveKind], change: &Change<'_>) -> Vec<Issue> {
    let is_narrow = met.iter().all(|kind| !kind.narrow_checks.is_empty());
    let (mut issues, mut narrow) = (Vec::new(), Vec::new());
    let mut known: Vec<&str> = Vec::new();
    for kind in met {
        let others = met.iter().copied().filter(|other| other.name != kind.name);
        let limits = Limits { explained: explained_by(others, change), ..change.limits.clone() };
        let change = Change { limits: &limits, ..*change };
        let is_new = |check: &&Check| !known.contains(&check.name);
        let own: Vec<Check> = kind.after_checks.iter().filter(is_new).copied().collect();
        known.extend(own.iter().map(|check| check.name));
        issues.extend(faults(&own, &change));
        if is_narrow {
            narrow.extend(faults(kind.narrow_checks, &change));
        }
    }
    issues.extend(narrow);
    issues
}

fn explained_by<'k>(
    kinds: impl Iterator<Item = &'k ObjectiveKind>,
    change: &Change<'_>,
) -> Explained {
    let mut explained = Explained::default();
    kinds.for_each(|kind| explained.extend((kind.explains)(change)));
    explained
}

fn faults(checks: &[Check], change: &Change<'_>) -> Vec<Issue> {
    checks.iter().flat_map(|check| check.faults(change)).collect()
}
