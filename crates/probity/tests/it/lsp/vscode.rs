//! The VS Code extension: its code under node, and all of it in VS Code's browser build.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    ai_fix::{GO, MULTI_STAGE, TWO_STAGES, patch, turn},
    binary::{directory, newer_node, tools},
};

/// Copies the extension, with the packages that build it.
fn copy_extension(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let packages = root.join("target/vscode/node_modules");
    assert!(packages.exists(), "{} is missing: run script/tools once", packages.display());
    fs::create_dir_all(to).unwrap();
    for name in ["src", "test", "package.json", "tsconfig.json", "tsconfig.test.json"] {
        let copied = Command::new("cp")
            .arg("-r")
            .args([root.join("editors/vscode").join(name), to.join(name)])
            .status();
        assert!(copied.unwrap().success());
    }
    symlink(&packages, to.join("node_modules")).unwrap();
}

#[track_caller]
fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// A workspace brings its own settings: none of them may choose what runs.
#[test]
fn a_workspace_chooses_neither_the_program_nor_its_arguments() {
    let manifest = include_str!("../../../../../editors/vscode/package.json");
    let manifest: Value = serde_json::from_str(manifest).unwrap();
    let settings = &manifest["contributes"]["configuration"]["properties"];
    let of_workspaces: Vec<&String> = settings
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, setting)| setting["scope"] != "machine")
        .map(|(name, _)| name)
        .collect();
    assert_eq!(of_workspaces, ["probity.trace.server"]);
    assert_eq!(manifest["capabilities"]["untrustedWorkspaces"]["supported"], false);
    assert_eq!(manifest["capabilities"]["virtualWorkspaces"], false);
}

#[test]
fn the_code_of_the_extension_works_with_the_server() {
    let dir = directory(&[]);
    copy_extension(dir.path());
    output_of(
        Command::new("npm")
            .args(["test", "--silent"])
            .current_dir(&dir)
            .env("PROBITY", env!("CARGO_BIN_EXE_probity")),
    );
}

/// A person opens a Dockerfile in the browser, reads a finding and the page of its rule, sets wrong
/// programs and the right one again, applies the fix, and confirms an agent's fix of another file.
#[test]
fn vs_code_shows_findings_names_a_way_out_of_wrong_settings_and_applies_fixes() {
    let text = "# é😀\nFROM scratch AS Bad\nCOPY a /\n";
    let agent = turn(&patch(GO, TWO_STAGES).replace("/Dockerfile", "/Containerfile"));
    let files = [("work/Dockerfile", text), ("work/Containerfile", GO), ("agent.ndjson", &agent)];
    let home = directory(&files);
    let recording = home.path().join("agent.ndjson");
    let command = json!([env!("CARGO_BIN_EXE_probity"), "agent", "replay", recording]);
    let config = format!("[ai]\nenabled = true\nproof = \"static\"\ncommand = {command}\n");
    fs::create_dir_all(home.path().join("config/probity")).unwrap();
    fs::write(home.path().join("config/probity/probity.toml"), config).unwrap();
    let extension = home.path().join("extensions/probity.probity-0.2.0");
    copy_extension(&extension);
    output_of(Command::new("npm").args(["run", "build", "--silent"]).current_dir(&extension));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/lsp/vscode/browser.mjs");
    let printed = output_of(
        Command::new(newer_node())
            .arg(script)
            .arg(tools())
            .args([home.path(), &home.path().join("work")])
            .arg(env!("CARGO_BIN_EXE_probity"))
            .env("XDG_CONFIG_HOME", home.path().join("config")),
    );
    let seen: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(seen["foreign"], json!([]), "{seen:#}");
    let message = seen["message"].as_str().unwrap();
    assert!(message.starts_with("Stage name 'Bad' should be lowercase"), "{seen:#}");
    assert!(seen["status"].as_str().unwrap().contains("probity, Running /"), "{seen:#}");
    assert!(seen["page"].as_str().unwrap().starts_with("# buildkit/"), "{seen:#}");
    let missing =
        "The program `probity` was not found. Install it, or set `probity.path` to its path.";
    let broken = "The language server `/bin/false lsp --stdio` did not start. Check `probity.path` and \
                  `probity.arguments`.";
    for (shown, text) in [("missing", missing), ("broken", broken)] {
        let expected = json!({ "text": text, "buttons": ["Open the setting"] });
        assert_eq!(seen[shown], expected, "{seen:#}");
    }
    let actions = json!([
        "Rename the stage to `bad`",
        "Suppress buildkit/StageNameCasing for this instruction",
        "Suppress buildkit/StageNameCasing in this file",
    ]);
    assert_eq!(seen["actions"], actions, "{seen:#}");
    assert_eq!(seen["text"], text.replace("Bad", "bad"), "{seen:#}");
    assert_eq!(seen["boxes"], 2, "{seen:#}");
    assert_eq!([&seen["unconfirmed"], &seen["mended"]], [GO, TWO_STAGES], "{seen:#}");
    let proof = "proven by static checks. the patch applies, parses, keeps the runtime settings and adds no \
                 finding";
    assert_eq!(seen["proof"], format!("{MULTI_STAGE}: {proof}"), "{seen:#}");
}
