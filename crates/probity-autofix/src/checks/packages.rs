//! What package managers install.

use std::collections::BTreeSet;

use probity_dockerfile::{Action, PackageKind};

use super::View;

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
