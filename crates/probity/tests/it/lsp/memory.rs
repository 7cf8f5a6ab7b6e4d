//! A session of any length needs as much memory as its documents.

use std::fs;

use serde_json::json;

use super::client::Editor;
use crate::binary::directory;

/// Long enough that one text more for each edit is seen, and cheap to check.
const SIZE: usize = 64 * 1024;
const EDITS: i64 = 200;

/// Resident bytes of the server.
fn resident(editor: &Editor) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", editor.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
fn edits_that_leave_a_text_as_long_as_it_is_leave_the_memory_as_it_is() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let text = format!("FROM scratch\n{}", "# a comment\n".repeat(SIZE / 12));
    let uri = editor.open(&dir.path().join("Dockerfile"), &text);
    let mut replace_letter = |versions: std::ops::RangeInclusive<i64>| {
        for version in versions {
            let start = json!({ "line": 1, "character": 2 });
            let end = json!({ "line": 1, "character": 3 });
            let letter = if version % 2 == 0 { "b" } else { "a" };
            let change = json!({ "range": { "start": start, "end": end }, "text": letter });
            let document = json!({ "uri": uri, "version": version });
            let params = json!({ "textDocument": document, "contentChanges": [change] });
            editor.notify("textDocument/didChange", params);
            editor.pushed(&uri, Some(version));
        }
        resident(&editor)
    };
    let before = replace_letter(2..=50);
    let after = replace_letter(51..=50 + EDITS);
    let grown = after.saturating_sub(before);
    let leaked = SIZE * usize::try_from(EDITS).unwrap();
    assert!(grown < leaked / 2, "{before} bytes grew to {after}; one text an edit is {leaked}");
    editor.leave();
}
