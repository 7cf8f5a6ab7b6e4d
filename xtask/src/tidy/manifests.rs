//! Manifests say nothing twice: versions and package data are written in the root alone.

use super::{Problem, workspace::Workspace};

const INHERITED: &[&str] = &["edition", "rust-version", "version", "license"];

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &workspace.members {
        let manifest = &member.manifest;
        if !manifest.inherits_lints {
            problems.push(Problem::new(
                member.manifest_path(),
                None,
                "the lints are not inherited",
                "one list of lints for all crates: write `workspace = true` under [lints]",
            ));
        }
        for key in INHERITED.iter().filter(|key| !manifest.inherited.contains(**key)) {
            problems.push(Problem::new(
                member.manifest_path(),
                None,
                format!("`{key}` is not inherited"),
                format!("it is decided once, in the root manifest: write `{key}.workspace = true`"),
            ));
        }
        for dependency in manifest.dependencies.iter().filter(|found| !found.inherited) {
            problems.push(Problem::new(
                member.manifest_path(),
                dependency.line,
                format!("{} is not taken from the workspace", dependency.package),
                "versions and features are chosen once: write the entry in the root manifest's \
                 [workspace.dependencies] and `workspace = true` here",
            ));
        }
    }
    problems
}
