//! Doors that open for one crate only: the network, the database, the command line, the pure crates.

use super::{
    Problem,
    inner_attributes::turns_on,
    lexer,
    manifest::Kind,
    workspace::{Member, Workspace},
};

/// What is behind a lock, the packages that open it, and the crates that may.
const DIRECT: &[(&str, &[&str], &[&str])] = &[
    ("the HTTP client", &["reqwest"], &["probity-agent", "probity-registry", "probity-review"]),
    ("the database", &["sqlx", "rusqlite", "tokio-postgres"], &["probity-review"]),
    ("the command line", &["clap", "clap_complete", "clap_mangen"], &["probity"]),
    ("the language server", &["lsp-server", "gen-lsp-types"], &["probity-lsp"]),
];

/// The ACP SDK's crates all begin so.
const SDK: &str = "agent-client-protocol";

/// Crates that take values and return values, and touch nothing else.
const PURE: &[&str] =
    &["probity-finding", "probity-shell", "probity-dockerfile", "probity-secrets", "probity-lint"];

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &workspace.members {
        direct_dependencies(member, &mut problems);
        if PURE.contains(&member.name.as_str()) {
            purity(workspace, member, &mut problems);
        }
    }
    problems
}

fn direct_dependencies(member: &Member, problems: &mut Vec<Problem>) {
    for dependency in &member.manifest.dependencies {
        let package = dependency.package.as_str();
        for (thing, packages, owners) in DIRECT {
            if packages.contains(&package) && !owners.contains(&member.name.as_str()) {
                let owner = owners.join(" and ");
                problems.push(Problem::new(
                    member.manifest_path(),
                    dependency.line,
                    format!("{} -> {package}: {thing} belongs to {owner} alone", member.name),
                    format!(
                        "one room holds it, so that one room has to be watched: ask {owner} for \
                         what you need, or move the code there"
                    ),
                ));
            }
        }
        if package.starts_with(SDK) && dependency.kind != Kind::Development {
            problems.push(Problem::new(
                member.manifest_path(),
                dependency.line,
                format!("{} -> {package}: the ACP SDK may only be a dev-dependency", member.name),
                "its types lose what they do not know and change often: the wire types are \
                 probity-acp's own, and the SDK is the peer that tests talk to",
            ));
        }
    }
}

fn purity(workspace: &Workspace, member: &Member, problems: &mut Vec<Problem>) {
    let path = format!("{}/src/lib.rs", member.directory);
    let is_on = workspace
        .source(&path)
        .is_some_and(|source| turns_on(&lexer::tokens(&source.text), "disallowed_methods"));
    if !is_on {
        problems.push(Problem::new(
            path,
            None,
            format!("{} is a pure crate without `disallowed_methods` at its root", member.name),
            format!(
                "clippy keeps files, processes and clocks out only where it is told to; write \
                 #![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = \"{} is pure\"))]",
                member.name
            ),
        ));
    }
}
