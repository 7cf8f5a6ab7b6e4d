//! From the first message to the last: what comes too early, too late, broken or never.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::client::{Editor, framed, uri};
use crate::binary::{directory, named, probity};

#[test]
fn early_late_unknown_and_broken_requests_are_refused_and_the_session_goes_on() {
    let dir = directory(&[]);
    // Clients add the flag to arguments that have it already.
    let mut editor = Editor::silent(probity().args(["lsp", "--stdio", "--stdio"]).dir(&dir));
    let code = |answer: Result<Value, Value>| answer.unwrap_err()["code"].as_i64().unwrap();
    assert_eq!(code(editor.try_request("textDocument/hover", json!({}))), -32002);
    // Dropped, since nobody has introduced himself.
    let early = uri(&dir.path().join("Early"));
    let document = json!({ "uri": early, "languageId": "dockerfile", "version": 1, "text": "" });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    editor.introduce(json!({ "processId": null, "rootUri": null, "capabilities": {} }));
    assert_eq!(editor.introduction["serverInfo"]["name"], "probity");
    assert_eq!(editor.introduction["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(code(editor.try_request("initialize", json!({ "capabilities": {} }))), -32600);
    assert_eq!(code(editor.try_request("textDocument/mystery", json!({}))), -32601);
    assert_eq!(code(editor.try_request("textDocument/hover", json!({ "a": 1 }))), -32602);
    editor.notify("$/mystery", json!([1]));
    editor.notify("textDocument/didChange", json!({ "nonsense": true }));
    let path = dir.path().join("Dockerfile");
    let open = editor.open(&path, "FROM scratch AS Bad\n");
    let hover = json!({ "textDocument": { "uri": open }, "range": "here" });
    assert_eq!(code(editor.try_request("textDocument/codeAction", hover)), -32602);
    let text = json!({ "textDocument": { "uri": early } });
    assert_eq!(editor.request("probity/viewFileText", text), Value::Null);
    for (bytes, expected) in [
        ("Content-Length: 5\r\n\r\n{oops", -32700),
        ("Content-Length: 2\r\n\r\n[]", -32600),
        ("Content-Length: 9\r\n\r\n{\"id\":[]}", -32600),
        ("Content-Length: many\r\n\r\n", -32700),
        ("Hello: there\r\n\r\n", -32700),
        ("Content-Length: 2\r\n\r\n\u{fe}", -32700),
    ] {
        editor.write(bytes);
        let refusal = editor.wait(|message| message["id"].is_null() && !message["error"].is_null());
        assert_eq!(refusal["error"]["code"], expected, "{bytes:?}: {refusal}");
    }
    assert!(!editor.pushed(&open, Some(1)).is_empty(), "the session goes on");
    assert_eq!(editor.request("shutdown", Value::Null), Value::Null);
    assert_eq!(code(editor.try_request("shutdown", Value::Null)), -32600);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(0));
}

#[test]
fn a_client_that_leaves_without_a_word_or_dies_ends_the_server() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(1), "`exit` without `shutdown`");

    let mut editor = Editor::start(dir.path(), json!({}));
    editor.hang_up();
    assert_eq!(editor.exit_code(), Some(1), "the end of input");

    let mut editor = Editor::start(dir.path(), json!({}));
    editor.write("Content-Length: 100\r\n\r\n{\"half\":");
    editor.hang_up();
    assert_eq!(editor.exit_code(), Some(1), "half a frame");

    let mut parent = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let mut editor = Editor::silent(probity().args(["lsp"]).dir(&dir));
    editor.introduce(json!({ "processId": parent.id(), "capabilities": {} }));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let since = Instant::now();
    assert_eq!(editor.exit_code(), Some(1), "the process that started it is gone");
    assert!(since.elapsed() < Duration::from_secs(60));
}

/// The server reads ahead, so that a cancellation overtakes the requests before it.
#[test]
fn a_request_that_has_not_begun_is_cancelled_and_the_others_are_answered() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let path = dir.path().join("Dockerfile");
    let text = format!("FROM scratch\n{}", "RUN  echo a  &&  echo b\n".repeat(100));
    let open = editor.open(&path, &text);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": open }, "options": options });
    let request = |id: i64| {
        let method = "textDocument/formatting";
        framed(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let mut bytes: String = (1000..1020).map(request).collect();
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 1019 } });
    bytes.push_str(&framed(&cancel));
    editor.write(bytes);
    assert_eq!(editor.answer(1019).unwrap_err()["code"], -32800);
    for id in 1000..1019 {
        assert!(editor.answer(id).unwrap().is_array());
    }
    // Of what is over, or never was, nothing is said.
    for id in [json!(1000), json!("never"), json!(null)] {
        editor.notify("$/cancelRequest", json!({ "id": id }));
    }
    editor.leave();
}

#[test]
fn tally_has_the_server_too_with_the_rules_that_tally_runs() {
    let dir = directory(&[]);
    let mut editor =
        Editor::start_as(named("tally").args(["lsp", "--stdio", "--stdio"]), dir.path(), json!({}));
    let path = dir.path().join("Dockerfile");
    let text = "FROM scratch\n";
    let open = editor.open(&path, text);
    let found = editor.rules(&open, 1);
    std::fs::write(&path, text).unwrap();
    let report = named("tally").dir(&dir).args(["lint", "--format", "json", "Dockerfile"]).run();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let listed = report["files"][0]["violations"].as_array().unwrap();
    let listed: Vec<&str> = listed.iter().map(|found| found["rule"].as_str().unwrap()).collect();
    assert_eq!(found, listed);
    assert_eq!(listed, ["hadolint/DL3057"]);
    editor.leave();
}
