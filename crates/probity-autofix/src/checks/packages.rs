//! What package managers install.

use std::collections::BTreeSet;

use probity_dockerfile::{Action, PackageKind};

use super::{Change, Check, Issue, View};

pub(crate) const NO_NEW_PACKAGES: Check = Check { name: "no-new-packages", run: no_new_packages };

fn no_new_packages(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let known = installed(change.before);
    let new: Vec<String> = installed(change.after).difference(&known).cloned().collect();
    if new.is_empty() {
        return Vec::new();
    }
    let message = format!("packages must not be added for this: {}", new.join(", "));
    vec![change.issue(check, &message)]
}

/// The names of all packages that any stage installs; what has no name goes by its text.
pub(crate) fn installed(view: &View<'_>) -> BTreeSet<String> {
    let indices = 0..view.file.instructions.len();
    let calls = indices.flat_map(|index| view.facts.package_calls(&view.file, index));
    calls
        .filter(|call| call.action == Action::Install)
        .flat_map(|call| call.packages.iter().chain(&call.files))
        .map(|package| match &package.kind {
            PackageKind::Named { name, .. } => name.clone(),
            _ => package.text.clone(),
        })
        .collect()
}
