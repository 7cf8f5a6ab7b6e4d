//! Which crate may depend on which: the table, and nothing but the table.
//!
//! A crate exists to make an arrow impossible, so the table is written here by hand and not read
//! from the manifests it judges.

use super::{
    Problem,
    manifest::Kind,
    workspace::{Member, Workspace},
};

/// Every crate of the workspace with the crates it may depend on, in whatever way.
const ARROWS: &[(&str, &[&str])] = &[
    ("probity-finding", &[]),
    ("probity-text", &[]),
    ("probity-builds", &[]),
    ("probity-secrets", &[]),
    ("probity-scope", &[]),
    ("probity-sandbox", &[]),
    ("probity-registry", &[]),
    ("probity-shell", &["probity-finding"]),
    ("probity-dockerfile", &["probity-finding", "probity-shell"]),
    (
        "probity-lint",
        &["probity-dockerfile", "probity-shell", "probity-finding", "probity-secrets"],
    ),
    ("probity-acp", &["probity-sandbox", "probity-secrets", "probity-text"]),
    ("probity-agent", &["probity-acp", "probity-sandbox", "probity-secrets", "probity-text"]),
    ("probity-proxy", &["probity-acp", "probity-sandbox", "probity-secrets"]),
    ("probity-seat", &["probity-agent", "probity-sandbox", "probity-scope"]),
    ("probity-proof", &["probity-sandbox", "probity-scope", "probity-finding", "probity-text"]),
    ("probity-image", &["probity-sandbox", "probity-shell"]),
    ("probity-lsp", &["probity-check", "probity-lint", "probity-dockerfile", "probity-finding"]),
    (
        "probity-autofix",
        &[
            "probity-agent",
            "probity-lint",
            "probity-dockerfile",
            "probity-finding",
            "probity-secrets",
            "probity-scope",
            "probity-shell",
            "probity-text",
        ],
    ),
    (
        "probity-check",
        &[
            "probity-agent",
            "probity-autofix",
            "probity-builds",
            "probity-dockerfile",
            "probity-finding",
            "probity-lint",
            "probity-registry",
            "probity-sandbox",
            "probity-scope",
            "probity-secrets",
            "probity-text",
        ],
    ),
    ("probity-containment", &["probity-sandbox", "probity-scope", "probity-seat", "probity-text"]),
    (
        "probity-audit",
        &[
            "probity-agent",
            "probity-proof",
            "probity-finding",
            "probity-secrets",
            "probity-scope",
            "probity-text",
        ],
    ),
    (
        "probity-review",
        &[
            "probity-agent",
            "probity-proof",
            "probity-sandbox",
            "probity-finding",
            "probity-secrets",
            "probity-scope",
            "probity-text",
        ],
    ),
    (
        "probity-report",
        &[
            "probity-autofix",
            "probity-check",
            "probity-finding",
            "probity-image",
            "probity-lint",
            "probity-review",
            "probity-text",
        ],
    ),
    (
        "probity",
        &[
            "probity-acp",
            "probity-agent",
            "probity-audit",
            "probity-autofix",
            "probity-check",
            "probity-containment",
            "probity-dockerfile",
            "probity-finding",
            "probity-image",
            "probity-lint",
            "probity-lsp",
            "probity-proof",
            "probity-proxy",
            "probity-report",
            "probity-review",
            "probity-sandbox",
            "probity-scope",
            "probity-seat",
            "probity-secrets",
            "probity-shell",
            "probity-text",
        ],
    ),
    ("xtask", &[]),
];

const TABLE_FILE: &str = "xtask/src/tidy/arrows.rs";

const WAY_OUT: &str =
    "A new arrow is a design change: write a numbered decision in docs/decisions first";

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, _) in ARROWS {
        if !workspace.members.iter().any(|member| member.name == *name) {
            problems.push(Problem::new(
                TABLE_FILE,
                None,
                format!("{name}: a row of the arrow table without a crate"),
                "the table describes what exists: take the row out, or restore the crate",
            ));
        }
    }
    for member in &workspace.members {
        match ARROWS.iter().find(|(name, _)| *name == member.name) {
            Some((_, allowed)) => check_member(workspace, member, allowed, &mut problems),
            None => problems.push(Problem::new(
                member.manifest_path(),
                None,
                format!("{}: this crate has no row in the arrow table", member.name),
                format!(
                    "a crate exists to make an arrow impossible, so it says which it needs. \
                     {WAY_OUT}, then add the row to {TABLE_FILE}"
                ),
            )),
        }
    }
    problems
}

fn check_member(
    workspace: &Workspace,
    member: &Member,
    allowed: &[&str],
    problems: &mut Vec<Problem>,
) {
    for dependency in &member.manifest.dependencies {
        let target = &dependency.package;
        let is_ours = workspace.members.iter().any(|other| other.name == *target);
        // A crate may name itself among its dev-dependencies: that is no arrow.
        let is_self = *target == member.name && dependency.kind == Kind::Development;
        if !is_ours || is_self || allowed.contains(&target.as_str()) {
            continue;
        }
        let may = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        problems.push(Problem::new(
            member.manifest_path(),
            dependency.line,
            format!(
                "{} -> {target}: this arrow is not in the table; {} may depend on {may}",
                member.name, member.name
            ),
            WAY_OUT,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::ARROWS;

    #[test]
    fn the_table_has_no_circle_and_names_only_its_own_rows() {
        let mut placed: Vec<&str> = Vec::new();
        let mut waiting: Vec<_> = ARROWS.to_vec();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|(name, allowed)| {
                let ready = allowed.iter().all(|target| placed.contains(target));
                if ready {
                    placed.push(name);
                }
                !ready
            });
            assert_ne!(waiting.len(), before, "a circle or an unknown name among {waiting:?}");
        }
    }
}
