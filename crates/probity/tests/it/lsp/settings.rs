//! The configuration in an editor: as on the command line, live, and wrong in its own file.

use std::fs;

use serde_json::{Value, json};

use super::client::{Editor, uri};
use crate::binary::directory;

const BAD: &str = "FROM scratch AS Bad\n";
const CASING: &str = "buildkit/StageNameCasing";
const OFF: &str = "[check.rules.buildkit.StageNameCasing]\nseverity = \"off\"\n";

#[test]
fn a_changed_file_is_read_again_and_told_by_a_watcher() {
    let dir = directory(&[("probity.toml", OFF)]);
    let watches =
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut editor = Editor::start(dir.path(), watches);
    let registration = editor.wait(|message| message["method"] == "client/registerCapability");
    let watcher = &registration["params"]["registrations"][0]["registerOptions"]["watchers"][0];
    insta::assert_snapshot!(watcher["globPattern"].as_str().unwrap(), @"**/{probity.toml,pyproject.toml,.tally.toml,tally.toml,.hadolint.yaml,.hadolint.yml,.dockerignore,*.dockerignore}");
    editor.send(&json!({ "jsonrpc": "2.0", "id": registration["id"], "result": null }));
    let open = editor.open(&dir.path().join("Dockerfile"), BAD);
    assert_eq!(editor.rules(&open, 1), [""; 0]);
    let file = dir.path().join("probity.toml");
    fs::write(&file, "").unwrap();
    let changes = json!({ "changes": [{ "uri": uri(&file), "type": 2 }] });
    editor.notify("workspace/didChangeWatchedFiles", changes);
    assert_eq!(editor.rules(&open, 1), [CASING]);
    // Without a word of the client, the next lint finds out by itself.
    fs::write(&file, OFF).unwrap();
    editor.replace(&open, 2, BAD);
    assert_eq!(editor.rules(&open, 2), [""; 0]);
    editor.leave();
}

#[test]
fn a_broken_file_is_diagnosed_in_itself_and_the_last_good_settings_hold() {
    let dir = directory(&[("probity.toml", OFF)]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let open = editor.open(&dir.path().join("Dockerfile"), BAD);
    assert_eq!(editor.rules(&open, 1), [""; 0]);
    let file = dir.path().join("probity.toml");
    fs::write(&file, "[check]\npreset = \"loud\"\nnonsense = 1\n").unwrap();
    editor.replace(&open, 2, BAD);
    let problems = editor.pushed(&uri(&file), None);
    let lines: Vec<&Value> =
        problems.iter().map(|found| &found["range"]["start"]["line"]).collect();
    assert_eq!(lines, [1, 2], "{problems:#?}");
    insta::assert_snapshot!(problems[1]["message"].as_str().unwrap(), @"unknown key `nonsense` in [check] (valid keys: preset, unsafe-fixes, baseline, rule, output, rules, inline-directives, file-validation, slow-checks, shellcheck)");
    assert_eq!(editor.rules(&open, 2), [""; 0], "the last good settings hold");
    fs::write(&file, "").unwrap();
    editor.replace(&open, 3, BAD);
    assert!(editor.pushed(&uri(&file), None).is_empty(), "what is mended is taken back");
    assert_eq!(editor.rules(&open, 3), [CASING]);
    editor.leave();
}

#[test]
fn an_open_file_counts_before_it_is_saved() {
    let dir = directory(&[("probity.toml", ""), (".dockerignore", ""), ("app/main.py", "")]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let text = "FROM scratch AS Bad\nCOPY app /app\n";
    let open = editor.open(&dir.path().join("Dockerfile"), text);
    assert_eq!(editor.rules(&open, 1), [CASING]);
    let config = editor.open(&dir.path().join("probity.toml"), OFF);
    assert!(editor.pushed(&config, Some(1)).is_empty());
    assert_eq!(editor.rules(&open, 1), [""; 0]);
    editor.replace(&config, 2, "é = 😀\n");
    let broken = editor.pushed(&config, Some(2));
    assert_eq!(broken[0]["range"]["start"]["line"], 0, "{broken:#?}");
    editor.rules(&open, 1);
    editor.replace(&config, 3, "[check.rules.buildkit.CopyIgnoredFile]\nseverity = \"error\"\n");
    editor.pushed(&config, Some(3));
    assert_eq!(editor.rules(&open, 1), [CASING]);
    let ignored = dir.path().join(".dockerignore");
    let document =
        json!({ "uri": uri(&ignored), "languageId": "ignore", "version": 1, "text": "app\n" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(editor.rules(&open, 1), [CASING, "buildkit/CopyIgnoredFile"]);
    // Closed without saving, it is the file on disk again that counts.
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&ignored) } }));
    assert_eq!(editor.rules(&open, 1), [CASING]);
    editor.leave();
}

#[test]
fn each_workspace_folder_has_its_own_settings_and_folders_come_and_go() {
    let dir = directory(&[
        ("one/probity.toml", OFF),
        ("one/Dockerfile", BAD),
        ("two/.tally.toml", "[rules.buildkit.StageNameCasing]\nexclude.paths = [\"/sub/**\"]\n"),
        ("two/sub/Dockerfile", BAD),
    ]);
    let mut editor = Editor::start(&dir.path().join("one"), json!({}));
    let one = editor.open(&dir.path().join("one/Dockerfile"), BAD);
    assert_eq!(editor.rules(&one, 1), [""; 0]);
    let two = editor.open(&dir.path().join("two/sub/Dockerfile"), BAD);
    // Paths count from the folder, and this one is in none yet.
    assert_eq!(editor.rules(&two, 1), [CASING]);
    let added = json!([{ "uri": uri(&dir.path().join("two")), "name": "two" }]);
    let event = json!({ "added": added, "removed": [] });
    editor.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    assert_eq!(editor.rules(&two, 1), [""; 0]);
    let event = json!({ "added": [], "removed": added });
    editor.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    editor.rules(&one, 1);
    assert_eq!(editor.rules(&two, 1), [CASING]);
    editor.leave();
}
