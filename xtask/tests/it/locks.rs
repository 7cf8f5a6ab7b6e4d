//! Doors that open for one crate only.

use crate::workspace::Workspace;

const MIT: &str = "license = \"MIT\"";

#[test]
fn a_locked_package_is_for_its_owner_alone() {
    let cases = [
        (
            "reqwest",
            "probity-agent and probity-registry and probity-review",
            "probity-audit",
            "the HTTP client",
        ),
        ("sqlx", "probity-review", "probity", "the database"),
        ("rusqlite", "probity-review", "probity-audit", "the database"),
        ("clap", "probity", "probity-lint", "the command line"),
        ("lsp-server", "probity-lsp", "probity", "the language server"),
    ];
    for (package, owner, other, thing) in cases {
        let workspace = Workspace::new();
        workspace.vendor(package, MIT, "");
        let dependency = format!("[dependencies]\n{package}.workspace = true\n");
        for member in owner.split(" and ") {
            workspace.append(&format!("crates/{member}/Cargo.toml"), &dependency);
        }
        workspace.expect(&[]);
        workspace.append(&format!("crates/{other}/Cargo.toml"), &dependency);
        let problem = format!(
            "crates/{other}/Cargo.toml:10: {other} -> {package}: {thing} belongs to {owner} alone"
        );
        workspace.expect(&[&problem]);
    }
}

#[test]
fn the_acp_sdk_is_for_tests_alone() {
    let workspace = Workspace::new();
    workspace.vendor("agent-client-protocol-schema", MIT, "");
    let manifest = "crates/probity-acp/Cargo.toml";
    workspace
        .append(manifest, "[dev-dependencies]\nagent-client-protocol-schema.workspace = true\n");
    workspace.expect(&[]);
    workspace.replace(manifest, "[dev-dependencies]", "[dependencies]");
    workspace.expect(&["crates/probity-acp/Cargo.toml:10: probity-acp -> \
                        agent-client-protocol-schema: the ACP SDK may only be a dev-dependency"]);
}

#[test]
fn a_pure_crate_says_so_at_its_root() {
    let pure = ["finding", "shell", "dockerfile", "secrets", "lint"];
    let workspace = Workspace::new();
    let text = "//! Says that it wants #![warn(clippy::disallowed_methods)], and does not.\n";
    for name in pure {
        workspace.write(&format!("crates/probity-{name}/src/lib.rs"), text);
    }
    workspace.write("crates/probity-acp/src/lib.rs", text);
    let mut problems = pure.map(|name| {
        format!(
            "crates/probity-{name}/src/lib.rs: probity-{name} is a pure crate without \
             `disallowed_methods` at its root"
        )
    });
    problems.sort();
    workspace.expect(&problems.each_ref().map(String::as_str));
}
