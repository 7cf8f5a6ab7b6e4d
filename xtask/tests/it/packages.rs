//! Manifests, licences and bans.

use crate::workspace::Workspace;

#[test]
fn what_the_root_decides_is_inherited() {
    let manifest = "crates/probity-scope/Cargo.toml";
    let cases = [
        ("\nedition.workspace = true", "\nedition = \"2024\"", "`edition` is not inherited"),
        ("\nrust-version.workspace = true", "", "`rust-version` is not inherited"),
        ("\nversion.workspace = true", "\nversion = \"1.0.0\"", "`version` is not inherited"),
        ("\nlicense.workspace = true", "\nlicense = \"MIT\"", "`license` is not inherited"),
        ("\n[lints]\nworkspace = true", "", "the lints are not inherited"),
    ];
    for (old, new, problem) in cases {
        let workspace = Workspace::new();
        workspace.replace(manifest, old, new);
        workspace.expect(&[&format!("{manifest}: {problem}")]);
    }
}

#[test]
fn a_dependency_with_its_own_version_is_refused() {
    let workspace = Workspace::new();
    workspace.vendor("other", "license = \"MIT\"", "");
    workspace.append(
        "crates/probity-scope/Cargo.toml",
        "[target.'cfg(unix)'.dependencies]\nother = { path = \"../../vendor/other\" }\n",
    );
    workspace
        .expect(&["crates/probity-scope/Cargo.toml:10: other is not taken from the workspace"]);
}

#[test]
fn a_licence_outside_the_list_is_refused() {
    let cases = [
        ("license = \"MIT\"", ""),
        ("license = \"GPL-3.0-only/MIT\"", ""),
        ("license = \"GPL-3.0-only\"", " has the licence `GPL-3.0-only`"),
        ("license = \"MIT AND GPL-3.0-only\"", " has the licence `MIT AND GPL-3.0-only`"),
        ("license-file = \"LICENSE\"", " does not say its licence"),
        ("license = \"MIT OR\"", " has the licence `MIT OR`: ends where a licence is expected"),
    ];
    for (license, expected) in cases {
        let workspace = Workspace::new();
        workspace.vendor("other", license, "");
        workspace
            .append("crates/probity-scope/Cargo.toml", "[dependencies]\nother.workspace = true\n");
        let problem = format!("Cargo.lock: other 1.2.3{expected}");
        let problems: &[&str] = if expected.is_empty() { &[] } else { &[&problem] };
        workspace.expect(problems);
    }
}

#[test]
fn a_banned_package_is_found_behind_another_unless_that_one_may() {
    let workspace = Workspace::new();
    workspace.vendor("rotten", "license = \"MIT\"", "");
    let through = "[build-dependencies]\nrotten = { path = \"../rotten\" }\n";
    workspace.vendor("other", "license = \"MIT\"", through);
    let manifest = "crates/probity-scope/Cargo.toml";
    workspace.append(manifest, "[dependencies]\nother.workspace = true\n");
    let ban = "{ crate = \"rotten\", reason = \"it is rotten\", use-instead = \"fresh\" }";
    workspace.replace("deny.toml", "deny = []", &format!("deny = [{ban}]"));
    workspace.expect(&["Cargo.lock: other -> rotten: a banned package"]);
    let said = workspace.tidy().stdout;
    assert!(said.contains("    it is rotten; use fresh instead\n"), "{said}");

    workspace.replace("deny.toml", "\"fresh\" }", "\"fresh\", wrappers = [\"other\"] }");
    workspace.expect(&[]);
    workspace.append(manifest, "rotten.workspace = true\n");
    workspace.expect(&["Cargo.lock: probity-scope -> rotten: a banned package"]);
}

#[test]
fn a_ban_without_its_reason_is_refused() {
    let workspace = Workspace::new();
    let ban = "deny = [{ crate = \"rotten\", use-instead = \"fresh\" }]";
    workspace.replace("deny.toml", "deny = []", ban);
    workspace.expect(&["deny.toml: the ban of rotten lacks its `reason` or its `use-instead`"]);
}

#[test]
fn without_deny_toml_nothing_is_allowed() {
    let workspace = Workspace::new();
    workspace.write("deny.toml", "[bans]\n");
    let ran = workspace.tidy();
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("missing field `licenses`"), "{}", ran.stdout);
}

#[test]
fn a_stale_lock_file_is_refused() {
    let workspace = Workspace::new();
    workspace.expect(&[]);
    workspace.vendor("other", "license = \"MIT\"", "");
    workspace.append("crates/probity-scope/Cargo.toml", "[dependencies]\nother.workspace = true\n");
    let ran = workspace.xtask(&["tidy"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("Cargo.lock: cannot be resolved: "), "{}", ran.stdout);
}
