//! Code actions and formatting: what is offered, and what the text is afterwards.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::client::{Editor, applied};
use crate::binary::{directory, probity};

fn everything() -> Value {
    json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } })
}

fn actions(editor: &mut Editor, uri: &str, range: Value, only: Option<&[&str]>) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if let Some(only) = only {
        context["only"] = json!(only);
    }
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
    editor.request("textDocument/codeAction", params).as_array().unwrap().clone()
}

fn titled<'a>(actions: &'a [Value], title: &str) -> &'a Value {
    let titles: Vec<&Value> = actions.iter().map(|action| &action["title"]).collect();
    actions
        .iter()
        .find(|action| action["title"].as_str().unwrap().starts_with(title))
        .unwrap_or_else(|| panic!("{title} is not in {titles:#?}"))
}

#[test]
fn a_fix_on_a_line_with_accents_and_emoji_changes_the_word_it_is_about() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let text = "FROM alpine:3.20\nRUN echo \"héé😀\" && apt install -y curl\n";
    let uri = editor.open(&dir.path().join("Dockerfile"), text);
    let found = actions(&mut editor, &uri, everything(), None);
    let fix = titled(&found, "use apt-get");
    assert_eq!(fix["kind"], "quickfix");
    assert_eq!(fix["isPreferred"], false, "an editor must not apply it unasked");
    assert_eq!(fix["diagnostics"][0]["code"], "hadolint/DL3027");
    let changed = applied(text, &fix["edit"]["changes"][&uri]);
    assert_eq!(changed, text.replace("apt install", "apt-get install"));
    // Elsewhere nothing of it is offered.
    let start = json!({ "line": 0, "character": 0 });
    let here = actions(&mut editor, &uri, json!({ "start": start, "end": start }), None);
    assert!(!json!(here).to_string().contains("apt-get"), "{here:#?}");
    editor.leave();
}

#[test]
fn all_findings_of_a_rule_and_all_safe_ones_are_fixed_at_once() {
    let dir = directory(&[]);
    let text = "FROM scratch AS One\nMAINTAINER é\nFROM One AS Two\nCOPY --from=One 😀 /\n";
    for resolves in [false, true] {
        let support = json!({ "resolveSupport": { "properties": ["edit"] } });
        let mut capabilities =
            json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } });
        if resolves {
            capabilities["textDocument"] = json!({ "codeAction": support });
        }
        let mut editor = Editor::start(dir.path(), capabilities);
        let uri = editor.open(&dir.path().join("Dockerfile"), text);
        let found = actions(&mut editor, &uri, everything(), None);
        let mut all = vec![
            titled(&found, "Fix all 2 findings of buildkit/StageNameCasing").clone(),
            titled(&found, "Apply all safe fixes").clone(),
        ];
        assert_eq!(all[1]["kind"], "source.fixAll.probity");
        if resolves {
            assert!(all[0]["edit"].is_null(), "worked out when it is chosen");
            all = all
                .into_iter()
                .map(|action| editor.request("codeAction/resolve", action))
                .collect();
        }
        for action in &all {
            let change = &action["edit"]["documentChanges"][0];
            assert_eq!(change["textDocument"], json!({ "uri": uri, "version": 1 }));
            let expected = text.replace("One", "one").replace("Two", "two");
            assert_eq!(applied(text, &change["edits"]), expected);
        }
        let on_save = actions(&mut editor, &uri, everything(), Some(&["source.fixAll"]));
        let kinds: Vec<&Value> = on_save.iter().map(|action| &action["kind"]).collect();
        assert_eq!(kinds, ["source.fixAll.probity"]);
        if resolves {
            // The text that it was offered for is gone.
            editor.replace(&uri, 2, "FROM scratch\n");
            let error =
                editor.try_request("codeAction/resolve", titled(&found, "Apply all").clone());
            assert_eq!(error.unwrap_err()["code"], -32801);
        }
        editor.leave();
    }
}

#[test]
fn suppressions_have_a_reason_and_suppress() {
    let dir = directory(&[("probity.toml", "[check.inline-directives]\nrequire-reason = true\n")]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let text = "# syntax=docker/dockerfile:1\r\nFROM scratch AS Bad\r\nRUN a \\\r\n  && sudo é\r\n";
    let uri = editor.open(&dir.path().join("Dockerfile"), text);
    let mut version = 1;
    for (rule, title) in [
        ("buildkit/StageNameCasing", "Suppress buildkit/StageNameCasing for this instruction"),
        ("buildkit/StageNameCasing", "Suppress buildkit/StageNameCasing in this file"),
        ("hadolint/DL3004", "Suppress hadolint/DL3004 for this instruction"),
    ] {
        let found = actions(&mut editor, &uri, everything(), Some(&["quickfix"]));
        let action = titled(&found, title);
        let changed = applied(text, &action["edit"]["changes"][&uri]);
        assert!(changed.starts_with("# syntax="), "the parser directive stays first: {changed}");
        version += 1;
        editor.replace(&uri, version, &changed);
        let rules = editor.rules(&uri, version);
        assert!(!rules.contains(&rule.to_owned()), "{title}: {rules:?}\n{changed}");
        assert!(!rules.iter().any(|rule| rule.contains("directive")), "{rules:?}\n{changed}");
        version += 1;
        editor.replace(&uri, version, text);
        assert!(editor.rules(&uri, version).contains(&rule.to_owned()));
    }
    editor.replace(&uri, 90, "FROM\n");
    let found = actions(&mut editor, &uri, everything(), None);
    assert!(!json!(found).to_string().contains("Suppress"), "syntax cannot be suppressed");
    editor.leave();
}

fn formatted(editor: &mut Editor, uri: &str, text: &str) -> String {
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": uri }, "options": options });
    applied(text, &editor.request("textDocument/formatting", params))
}

fn words(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace() && *char != '\\').collect()
}

#[test]
fn formatting_is_layout_alone_in_every_preset_and_obeys_what_is_ignored() {
    let dir = directory(&[("probity.toml", "")]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let text = "from alpine  AS Bad   \nRUN apt install -y é😀   \n\n\n\n\nMAINTAINER x\n";
    let path = dir.path().join("Dockerfile");
    let uri = editor.open(&path, text);
    let new = formatted(&mut editor, &uri, text);
    assert_ne!(new, text);
    assert_eq!(words(&new), words(text), "no word is touched:\n{new}");
    assert!(!new.contains(" \n") && !new.contains("\n\n\n\n"), "{new}");
    // One line alone.
    let line =
        json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 5 } });
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": uri }, "range": line, "options": options });
    let part = applied(text, &editor.request("textDocument/rangeFormatting", params));
    insta::assert_snapshot!(part, @"
    from alpine  AS Bad   
    RUN apt install -y é😀




    MAINTAINER x
    ");
    let config = "[check.rules]\nexclude = [\"tally/no-trailing-spaces\"]\n";
    let config = editor.open(&dir.path().join("probity.toml"), config);
    editor.pushed(&config, Some(1));
    insta::assert_snapshot!(formatted(&mut editor, &uri, text), @"
    from alpine AS Bad   

    RUN apt install -y é😀   

    MAINTAINER x
    ");
    editor.leave();
}

/// Every fixture: formatted once it is settled, and its words are the same.
#[test]
fn formatting_the_corpus_changes_no_word_and_settles() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/fixable");
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let mut changed = 0;
    for (number, entry) in fs::read_dir(corpus).unwrap().enumerate() {
        let Ok(text) = fs::read_to_string(entry.unwrap().path()) else { continue };
        let uri = editor.open(&dir.path().join(format!("{number}.Dockerfile")), &text);
        let new = formatted(&mut editor, &uri, &text);
        assert_eq!(words(&new), words(&text));
        changed += usize::from(new != text);
        editor.replace(&uri, 2, &new);
        assert_eq!(formatted(&mut editor, &uri, &new), new, "{text}");
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    assert!(changed > 10, "{changed}");
    editor.leave();
}

/// The action and the command line come to the same text.
#[test]
fn fix_all_is_what_check_fix_does() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/fixable");
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let mut compared = 0;
    for (number, entry) in fs::read_dir(corpus).unwrap().enumerate().take(25) {
        let Ok(text) = fs::read_to_string(entry.unwrap().path()) else { continue };
        if text.replace("\r\n", "").contains('\r') {
            continue;
        }
        let path = dir.path().join(format!("{number}.Dockerfile"));
        let uri = editor.open(&path, &text);
        let found = actions(&mut editor, &uri, everything(), Some(&["source.fixAll.probity"]));
        let new = match found.first() {
            Some(action) => applied(&text, &action["edit"]["changes"][&uri]),
            None => text.clone(),
        };
        fs::write(&path, &text).unwrap();
        probity().dir(&dir).args(["check", "--fix", "--quiet"]).args([&path]).run();
        assert_eq!(new, fs::read_to_string(&path).unwrap());
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
    editor.leave();
}
