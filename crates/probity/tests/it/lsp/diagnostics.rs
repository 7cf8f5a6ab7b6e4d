//! Diagnostics are what `check` reports: the same findings, places, words and severities.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::client::{Editor, encodings};
use crate::binary::{directory, probity};

/// Every Dockerfile of the repository that is a fixture of something, as UTF-8 text.
fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut found = Vec::new();
    let places = [
        "crates/probity/tests/corpus",
        "crates/probity/tests/it/presets",
        "eval",
        "examples",
        "deploy",
    ];
    let mut waiting: Vec<PathBuf> = places.iter().map(|place| root.join(place)).collect();
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_lowercase();
            if path.is_dir() {
                waiting.push(path);
            } else if name.contains("dockerfile") && fs::read_to_string(&path).is_ok() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What `check` says about each file, as far as a diagnostic says it too.
fn reported(root: &Path, paths: &[PathBuf]) -> BTreeMap<PathBuf, Vec<Value>> {
    let output = probity().dir(root).args(["check", "--format", "json"]).args(paths).run();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let place = |point: &Value| {
        let line = point["line"].as_i64().unwrap();
        json!([(line - 1).max(0), point["column"].as_i64().unwrap().max(0)])
    };
    let row = |found: &Value| {
        json!({
            "rule": found["rule"],
            "message": found["message"],
            "severity": found["severity"],
            "start": place(&found["location"]["start"]),
            "end": place(&found["location"]["end"]),
            "link": found["docUrl"],
            "related": found["related"].as_array().map_or(0, Vec::len)
                + found["spans"].as_array().map_or(0, |spans| spans.len() - 1),
        })
    };
    let files = report["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            let rows = file["violations"].as_array().unwrap().iter().map(row).collect();
            (root.join(file["file"].as_str().unwrap()), rows)
        })
        .collect()
}

fn row(found: &Value) -> Value {
    let severity = match found["severity"].as_i64().unwrap() {
        1 => "error",
        2 => "warning",
        3 => "info",
        _ => "style",
    };
    let place = |point: &Value| json!([point["line"], point["character"]]);
    json!({
        "rule": found["code"],
        "message": found["message"],
        "severity": severity,
        "start": place(&found["range"]["start"]),
        "end": place(&found["range"]["end"]),
        "link": found["codeDescription"]["href"],
        "related": found["relatedInformation"].as_array().map_or(0, Vec::len),
    })
}

#[test]
fn every_fixture_has_the_diagnostics_that_check_reports_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let files = fixtures();
    assert!(files.len() > 150, "{}", files.len());
    let reported = reported(&root, &files);
    let mut editor = Editor::start(&root, encodings(&["utf-8"]));
    let mut findings = 0;
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        // There a lone carriage return ends a line, and here it does not.
        if text.replace("\r\n", "").contains('\r') {
            continue;
        }
        let uri = editor.open(path, &text);
        let found: Vec<Value> = editor.pushed(&uri, Some(1)).iter().map(row).collect();
        let expected = reported.get(path).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{}", path.display());
        findings += found.len();
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        assert!(editor.pushed(&uri, None).is_empty(), "a closed document shows nothing");
    }
    assert!(findings > 500, "{findings}");
    editor.leave();
}

#[test]
fn secrets_are_masked_as_in_reports() {
    let dir = directory(&[]);
    let token = ["ghp_", "q7Zr2LmX9tPw4KcVb3Nd8YhJ5sFg6T", "uQe1Ab"].concat();
    let mut editor = Editor::start(dir.path(), json!({}));
    let text = format!("FROM scratch\nENV GITHUB_TOKEN={token}\nENV B {token}\n");
    let uri = editor.open(&dir.path().join("Dockerfile"), &text);
    let found = editor.pushed(&uri, Some(1));
    assert!(found.iter().any(|found| found["code"] == "tally/secrets-in-code"), "{found:#?}");
    assert!(!json!(found).to_string().contains(&token), "{found:#?}");
    editor.leave();
}

#[test]
fn tags_links_and_related_places_are_there() {
    let dir = directory(&[]);
    let server = probity().env("PROBITY_DOCS_URL", "https://docs.example").args(["lsp"]);
    let mut editor = Editor::start_as(server, dir.path(), json!({}));
    let text = "FROM alpine:3.20 AS a\nRUN true\nFROM alpine:3.20 AS a\nMAINTAINER me\n";
    let uri = editor.open(&dir.path().join("Dockerfile"), text);
    let found = editor.pushed(&uri, Some(1));
    let of = |rule: &str| found.iter().find(|found| found["code"] == rule).unwrap();
    let deprecated = of("buildkit/MaintainerDeprecated");
    assert_eq!(deprecated["tags"], json!([2]));
    assert_eq!(deprecated["source"], "probity");
    assert!(deprecated["codeDescription"]["href"].as_str().unwrap().starts_with("https://"));
    let explain = json!({ "command": "probity.explain", "arguments": ["MaintainerDeprecated"] });
    let page = editor.request("workspace/executeCommand", explain);
    let printed = probity().args(["explain", "MaintainerDeprecated"]).run().code(0).stdout;
    assert_eq!(page, printed);
    let unknown = json!({ "command": "probity.explain", "arguments": ["NoSuchRule"] });
    assert!(editor.try_request("workspace/executeCommand", unknown).is_err());
    editor.leave();
}

#[test]
fn a_client_that_pulls_is_answered_when_the_lint_is_there_and_is_pushed_nothing() {
    let dir = directory(&[]);
    let pulls = json!({ "textDocument": { "diagnostic": {} } });
    let mut editor = Editor::start(dir.path(), pulls);
    let uri = editor.open(&dir.path().join("Dockerfile"), "FROM scratch AS Bad\n");
    let pull = |editor: &mut Editor, previous: &Value| {
        let mut params = json!({ "textDocument": { "uri": uri } });
        if !previous.is_null() {
            params["previousResultId"] = previous.clone();
        }
        editor.request("textDocument/diagnostic", params)
    };
    let first = pull(&mut editor, &Value::Null);
    assert_eq!(first["kind"], "full");
    assert_eq!(first["items"][0]["code"], "buildkit/StageNameCasing");
    let again = pull(&mut editor, &first["resultId"]);
    assert_eq!(again, json!({ "kind": "unchanged", "resultId": first["resultId"] }));
    editor.replace(&uri, 2, "FROM scratch AS good\nCOPY a /\n");
    let changed = pull(&mut editor, &first["resultId"]);
    assert_eq!(changed["kind"], "full");
    assert!(!changed.to_string().contains("StageNameCasing"), "{changed}");
    // A request that waits for a document that goes away.
    editor.replace(&uri, 3, "FROM scratch\n");
    let waiting = editor.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    drop(editor.answer(waiting));
    let pushed = editor.heard.iter().filter(|message| {
        message["method"] == "textDocument/publishDiagnostics"
            && message["params"]["diagnostics"] != json!([])
    });
    assert_eq!(pushed.count(), 0);
    editor.leave();
}
