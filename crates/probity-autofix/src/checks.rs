//! Checks as small named values: what a proposal must be before anybody else sees it.
//!
//! Patch checks are named `patch/NAME` and look at what was changed; the others look at what came of
//! it. A check that finds fault says so as issues, which are also what the agent is told.

pub(crate) mod additions;
pub(crate) mod addresses;
pub(crate) mod arrival;
pub(crate) mod base_image;
pub(crate) mod base_needs;
pub(crate) mod belongings;
pub(crate) mod commands;
pub(crate) mod conda;
pub(crate) mod conda_image;
pub(crate) mod contract;
mod copy_flags;
pub(crate) mod directives;
pub(crate) mod downloads;
mod endpoints;
pub(crate) mod final_image;
mod foreign;
pub(crate) mod healthcheck;
pub(crate) mod image_kind;
pub(crate) mod issue;
pub(crate) mod kept;
pub(crate) mod kept_packages;
pub(crate) mod manifests;
mod moved;
pub(crate) mod new_bases;
pub(crate) mod packages;
pub(crate) mod patch;
pub(crate) mod probe;
mod probe_code;
mod programs;
pub(crate) mod relint;
pub(crate) mod runtime;
pub(crate) mod scope;
pub(crate) mod search_path;
pub(crate) mod secret_mounts;
pub(crate) mod slim_packages;
pub(crate) mod stages;
pub(crate) mod steps;
pub(crate) mod syntax;
mod system_accounts;
pub(crate) mod tools;
pub(crate) mod user;
pub(crate) mod user_made;
mod view;

use std::{cell::OnceCell, collections::BTreeSet};

use probity_dockerfile::Setting;
use probity_lint::FixOptions;

pub use self::issue::Issue;
pub(crate) use self::view::View;
use probity_finding::patch::Patch;

/// One condition, by the name that reports and agents hear.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// An older name of the same check.
    pub(crate) second_name: Option<&'static str>,
    /// Whether it only suspects harm: what a proof of both images shows outranks it.
    pub(crate) is_heuristic: bool,
    run: fn(&Check, &Change<'_>) -> Vec<Issue>,
}

impl Check {
    pub(crate) const fn new(name: &'static str, run: fn(&Self, &Change<'_>) -> Vec<Issue>) -> Self {
        Self { name, second_name: None, is_heuristic: false, run }
    }

    pub(crate) const fn once_called(self, second_name: &'static str) -> Self {
        Self { second_name: Some(second_name), ..self }
    }

    pub(crate) const fn heuristic(self) -> Self {
        Self { is_heuristic: true, ..self }
    }

    pub(crate) fn faults(&self, change: &Change<'_>) -> Vec<Issue> {
        (self.run)(self, change)
    }
}

/// The original, the proposal, and what the checks of both depend on.
pub(crate) struct Change<'a> {
    pub(crate) file_name: &'a str,
    pub(crate) before: &'a View<'a>,
    pub(crate) after: &'a View<'a>,
    /// From the original to the proposal, whatever the agent sent and in however many rounds.
    pub(crate) patch: &'a Patch,
    pub(crate) limits: &'a Limits,
    pub(crate) fix: &'a FixOptions<'a>,
    /// What the proposal has at another place than the original, which many checks ask for.
    pub(crate) moved: &'a OnceCell<Vec<moved::Moved>>,
}

/// How far a proposal may go: what its objectives allow together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    /// Settings of the final stage that may change.
    pub(crate) settings: Vec<Setting>,
    /// Percent of the lines; any share where it is absent.
    pub(crate) churn: Option<u32>,
    /// What narrow checks leave out of the comparison.
    pub(crate) forgotten: Vec<contract::Forget>,
    /// Beginnings of addresses that may be added.
    pub(crate) addresses: Vec<&'static str>,
    /// What the changes for other objectives explain.
    pub(crate) explained: Explained,
}

/// Instructions of the original and of the proposal, by their indices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Explained {
    pub(crate) before: BTreeSet<usize>,
    pub(crate) after: BTreeSet<usize>,
}

impl Explained {
    pub(crate) fn extend(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
    }
}

/// What every proposal has to pass before it is looked at more closely.
pub(crate) const PATCH: &[Check] = &[patch::SIZE, patch::MAX_CHURN, patch::CHARACTERS];

/// What every proposal has to pass, whatever its objective.
pub(crate) const AFTER: &[Check] = &[
    syntax::PARSES,
    directives::DIRECTIVES,
    runtime::RUNTIME,
    runtime::ONBUILD,
    directives::COMMENTS_KEPT,
    directives::COMMENTS_ADDED,
    stages::REFERENCES,
    stages::UNREACHABLE,
    addresses::NEW_ADDRESS,
    relint::LINT,
];
