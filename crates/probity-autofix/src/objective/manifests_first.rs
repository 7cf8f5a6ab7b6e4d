//! Dependencies before sources, for builds that need not install them again.

use super::{ObjectiveKind, Retry, no_hints};
use crate::checks::{contract, manifests};

pub(crate) const MANIFESTS_FIRST: ObjectiveKind = ObjectiveKind {
    name: "manifests-first",
    goal: "Copy the manifest and the lock file of the dependencies first, install the dependencies, \
           and copy the other sources afterwards.",
    constraints: &[
        "Add one COPY of the manifest and the lock file to the directory that the sources are copied \
         to, and move the COPY of the sources directly behind the install.",
        "For npm use `npm ci` in the place of `npm install` if you copy the lock file.",
        "Answer NO_CHANGE if the install needs other sources, for example workspaces or local packages.",
        "Change nothing else.",
    ],
    hints: no_hints,
    must: manifests::MUST_COPY_MANIFESTS,
    patch_checks: &[],
    after_checks: &[manifests::MANIFESTS_COPIED],
    narrow_checks: &[manifests::ONLY_COPIES_MOVE],
    explains: manifests::explained,
    forgets: &[contract::forget_runs, contract::forget_transfers],
    settings: &[],
    addresses: &[],
    retry: Retry::USUAL,
};
