//! AI fixes in an editor: offered where they are enabled, begun when somebody chooses one.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Editor, applied};
use crate::{
    agent::misbehaving::wait_until,
    ai_fix::{GO, MULTI_STAGE, TWO_STAGES, left, patch, turn},
    binary::{directory, probity},
};

const HANGING: &str = "{\"on\":\"session/prompt\"}\n{\"hang\":\"deaf\"}\n";

/// A workspace, and a user whose own configuration names an agent that plays a script.
struct Desk {
    dir: TempDir,
    mark: String,
}

impl Desk {
    fn new(script: &str) -> Self {
        let dir = directory(&[("work/agent.ndjson", script)]);
        let mark = dir.path().join("work/agent.ndjson").display().to_string();
        let command = json!([env!("CARGO_BIN_EXE_probity"), "agent", "replay", mark]);
        let config = format!("[ai]\nenabled = true\nproof = \"static\"\ncommand = {command}\n");
        let place = dir.path().join("config/probity");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("probity.toml"), config).unwrap();
        Self { dir, mark }
    }

    fn editor(&self) -> Editor {
        let home = self.dir.path().join("config");
        let run = probity().args(["lsp"]).env("XDG_CONFIG_HOME", home.to_str().unwrap());
        let edits = json!({ "documentChanges": true, "changeAnnotationSupport": {} });
        let resolve = json!({ "resolveSupport": { "properties": ["edit"] } });
        let capabilities = json!({
            "workspace": { "workspaceEdit": edits },
            "textDocument": { "codeAction": resolve },
            "window": { "workDoneProgress": true },
        });
        Editor::start_as(run, &self.dir.path().join("work"), capabilities)
    }

    /// Opens the document and gives the action that asks the agent.
    fn action(&self, editor: &mut Editor) -> (String, Value) {
        let uri = editor.open(&self.dir.path().join("work/Dockerfile"), GO);
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let context = json!({ "diagnostics": [], "only": ["quickfix.ai"] });
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
        let actions = editor.request("textDocument/codeAction", params);
        let actions = actions.as_array().unwrap();
        let is_wanted = |action: &&Value| action["diagnostics"][0]["code"] == MULTI_STAGE;
        let wanted: Vec<&Value> = actions.iter().filter(is_wanted).collect();
        let [action] = wanted.as_slice() else { panic!("{actions:#?}") };
        assert!(action["title"].as_str().unwrap().starts_with("Fix with AI: "));
        assert!(action["edit"].is_null());
        (uri, (*action).clone())
    }
}

fn progress(editor: &mut Editor, kind: &str) -> Value {
    let message = editor.wait(|message| {
        message["method"] == "$/progress" && message["params"]["value"]["kind"] == kind
    });
    message["params"].clone()
}

#[test]
fn a_chosen_fix_is_an_edit_that_somebody_confirms_with_the_level_of_its_proof() {
    let desk = Desk::new(&turn(&patch(GO, TWO_STAGES)));
    let mut editor = desk.editor();
    let (uri, action) = desk.action(&mut editor);
    editor.pushed(&uri, Some(1));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(left(&desk.mark), 0, "looking at a file asks nobody");
    let resolved = editor.request("codeAction/resolve", action);
    let created = editor.wait(|message| message["method"] == "window/workDoneProgress/create");
    let begun = progress(&mut editor, "begin");
    assert_eq!(begun["token"], created["params"]["token"]);
    assert_eq!(begun["value"]["cancellable"], true);
    assert!(progress(&mut editor, "report")["value"]["message"].is_string());
    progress(&mut editor, "end");
    let change = &resolved["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({ "uri": uri, "version": 1 }));
    assert_eq!(change["edits"].as_array().unwrap().len(), 1, "half of a fix is not proven");
    assert_eq!(applied(GO, &change["edits"]), TWO_STAGES);
    let note = change["edits"][0]["annotationId"].as_str().unwrap();
    let annotation = &resolved["edit"]["changeAnnotations"][note];
    assert_eq!(annotation["needsConfirmation"], true);
    let said = editor.wait(|message| message["method"] == "window/showMessage");
    let words = said["params"]["message"].as_str().unwrap();
    assert_eq!(
        words,
        format!(
            "{MULTI_STAGE}: proven by static checks. the patch applies, parses, keeps the runtime settings \
             and adds no finding"
        )
    );
    editor.leave();
    wait_until(|| left(&desk.mark) == 0);
}

#[test]
fn an_agent_that_sees_nothing_to_do_changes_nothing_and_says_so() {
    let desk = Desk::new(&turn("NO_CHANGE"));
    let mut editor = desk.editor();
    let (_, action) = desk.action(&mut editor);
    let error = editor.try_request("codeAction/resolve", action).unwrap_err();
    assert_eq!(error["code"], -32803, "{error}");
    let said = editor.wait(|message| message["method"] == "window/showMessage");
    assert_eq!(said["params"]["type"], 2);
    editor.leave();
}

#[test]
fn an_agent_at_work_is_called_off_by_request_by_button_and_by_the_end() {
    let desk = Desk::new(HANGING);
    let mut editor = desk.editor();
    let (uri, action) = desk.action(&mut editor);
    let id = editor.ask("codeAction/resolve", action.clone());
    progress(&mut editor, "report");
    wait_until(|| left(&desk.mark) > 0);
    // The server still answers while the agent works.
    assert_eq!(editor.text_of(&uri), GO);
    editor.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.answer(id).unwrap_err()["code"], -32800);
    progress(&mut editor, "end");
    wait_until(|| left(&desk.mark) == 0);

    let id = editor.ask("codeAction/resolve", action.clone());
    let token = progress(&mut editor, "report")["token"].clone();
    editor.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    assert_eq!(editor.answer(id).unwrap_err()["code"], -32800);
    wait_until(|| left(&desk.mark) == 0);

    let id = editor.ask("codeAction/resolve", action);
    progress(&mut editor, "report");
    wait_until(|| left(&desk.mark) > 0);
    editor.hang_up();
    assert_eq!(editor.answer(id).unwrap_err()["code"], -32800);
    assert_eq!(editor.exit_code(), Some(1));
    wait_until(|| left(&desk.mark) == 0);
}

#[test]
fn without_ai_or_without_a_client_that_resolves_no_agent_is_offered() {
    let dir = directory(&[]);
    let resolve = json!({ "resolveSupport": { "properties": ["edit"] } });
    let mut editor =
        Editor::start(dir.path(), json!({ "textDocument": { "codeAction": resolve } }));
    let uri = editor.open(&dir.path().join("Dockerfile"), GO);
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let context = json!({ "diagnostics": [] });
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
    let actions = editor.request("textDocument/codeAction", params.clone());
    assert!(!actions.to_string().contains("Fix with AI"), "{actions:#}");
    editor.leave();
    let desk = Desk::new(HANGING);
    let home = desk.dir.path().join("config");
    let run = probity().args(["lsp"]).env("XDG_CONFIG_HOME", home.to_str().unwrap());
    let mut editor = Editor::start_as(run, dir.path(), json!({}));
    editor.open(&dir.path().join("Dockerfile"), GO);
    let actions = editor.request("textDocument/codeAction", params);
    assert!(!actions.to_string().contains("Fix with AI"), "{actions:#}");
    editor.leave();
}
