//! Every way of writing a dependency is held against the table.

use crate::workspace::Workspace;

#[test]
fn a_workspace_that_keeps_to_the_table_is_tidy() {
    let workspace = Workspace::new();
    workspace.append(
        "crates/probity-lint/Cargo.toml",
        "[dependencies]\nprobity-finding.workspace = true\n\
         [dev-dependencies]\nprobity-shell.workspace = true\n\
         [target.'cfg(unix)'.dependencies]\nprobity-dockerfile.workspace = true\n",
    );
    workspace.append(
        "crates/probity/Cargo.toml",
        "[dependencies]\nprobity-lint.workspace = true\nprobity-review.workspace = true\n",
    );
    workspace.expect(&[]);
}

#[test]
fn an_arrow_outside_the_table_is_named_however_it_is_written() {
    let forms = [
        "[dependencies]\nprobity-lint.workspace = true\n",
        "[dependencies]\nprobity-lint = { workspace = true }\n",
        "[dev-dependencies]\nprobity-lint.workspace = true\n",
        "[build-dependencies]\nprobity-lint.workspace = true\n",
        "[dependencies]\nrules.workspace = true\n",
        "[target.'cfg(unix)'.dependencies]\nprobity-lint.workspace = true\n",
        "[target.x86_64-pc-windows-msvc.build-dependencies]\nrules.workspace = true\n",
        "[target.'cfg(windows)'.dev-dependencies]\nprobity-lint.workspace = true\n",
    ];
    for form in forms {
        let workspace = Workspace::new();
        workspace.append(
            "Cargo.toml",
            "rules = { package = \"probity-lint\", path = \"crates/probity-lint\" }\n",
        );
        workspace.append("crates/probity-finding/Cargo.toml", form);
        workspace
            .expect(&["crates/probity-finding/Cargo.toml:10: probity-finding -> probity-lint: \
              this arrow is not in the table; probity-finding may depend on nothing"]);
    }
}

#[test]
fn a_rename_in_the_crate_itself_hides_nothing() {
    let workspace = Workspace::new();
    workspace.append(
        "crates/probity-acp/Cargo.toml",
        "[dependencies]\nserde = { package = \"probity-agent\", path = \"../probity-agent\" }\n",
    );
    workspace.expect(&[
        "crates/probity-acp/Cargo.toml:10: probity-acp -> probity-agent: this arrow is not in the \
         table; probity-acp may depend on probity-sandbox, probity-secrets, probity-text",
        "crates/probity-acp/Cargo.toml:10: probity-agent is not taken from the workspace",
    ]);
}

#[test]
fn a_circle_is_reported_as_an_arrow_though_cargo_cannot_resolve_it() {
    let workspace = Workspace::new();
    workspace.append(
        "crates/probity-finding/Cargo.toml",
        "[dependencies]\nprobity-lint.workspace = true\n",
    );
    workspace.append(
        "crates/probity-lint/Cargo.toml",
        "[dependencies]\nprobity-finding.workspace = true\n",
    );
    let ran = workspace.tidy();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stdout.contains(
            "crates/probity-finding/Cargo.toml:10: probity-finding -> probity-lint: this arrow is \
             not in the table; probity-finding may depend on nothing\n    A new arrow is a design \
             change: write a numbered decision in docs/decisions first\n"
        ),
        "{}",
        ran.stdout
    );
}

#[test]
fn xtask_depends_on_none_of_ours() {
    let workspace = Workspace::new();
    workspace.append("xtask/Cargo.toml", "[dependencies]\nprobity-finding.workspace = true\n");
    workspace.expect(&["xtask/Cargo.toml:10: xtask -> probity-finding: this arrow is not in the \
                        table; xtask may depend on nothing"]);
}

#[test]
fn crates_and_rows_of_the_table_match() {
    let workspace = Workspace::new();
    for path in ["Cargo.toml", "src/lib.rs"] {
        let text = workspace.read(&format!("crates/probity-scope/{path}"));
        let text = text.replace("probity-scope", "probity-cellar");
        workspace.write(&format!("crates/probity-cellar/{path}"), &text);
    }
    std::fs::remove_dir_all(workspace.path().join("crates/probity-scope")).expect("removed");
    workspace.replace("Cargo.toml", "probity-scope = { path = \"crates/probity-scope\" }\n", "");
    workspace.expect(&[
        "crates/probity-cellar/Cargo.toml: probity-cellar: this crate has no row in the arrow \
         table",
        "xtask/src/tidy/arrows.rs: probity-scope: a row of the arrow table without a crate",
    ]);
}
