//! Hovers: what is said about the word under the cursor.

use serde_json::json;

use super::{client::Editor, documents::cursor};
use crate::binary::{directory, probity};

/// A document with a cursor, and what the hover says.
const HOVERS: &[(&str, &[&str])] = &[
    ("FR‸OM alpine:3.20\n", &["Begins a stage", "FROM [--platform=PLATFORM]"]),
    ("FROM a\nRU‸N true\n", &["stores the files that it changes as a layer"]),
    ("FROM a\nONBUILD WORK‸DIR /a\n", &["Sets the working directory"]),
    ("FROM a AS b\nCOPY --from=b --cho‸wn=1 é /\n", &["`--chown`", "root if absent"]),
    ("FROM a\nRUN --mount=type=cache,shar‸ing=locked,target=/é x\n", &["`locked`", "share it"]),
    ("FROM a\nRUN --mount=type=cache,d‸st=/x y\n", &["Path in the container"]),
    ("FROM a\nARG V=😀\nRUN echo é $‸V\n", &["`V = 😀`", "`ARG` in line 2", "--build-arg V="]),
    ("FROM a\nENV A=1\nENV B=${A}2\nLABEL x=$‸B\n", &["`B = 12`", "`ENV` in line 3"]),
    ("FROM a\r\nARG V\r\nLABEL x=\t${‸V}\r\n", &["without a default value"]),
    ("FROM a\nLABEL x=$NO‸NE\n", &["is not declared here, so it expands to nothing"]),
    ("FROM a\nRUN echo $NO‸NE\n", &["is not set by the Dockerfile"]),
    (
        "FROM a AS b\nUSER app\nSHELL [\"/bin/bash\", \"-c\"]\nENTRYPOINT [\"/e\u{301}\"]\nFROM ‸b\n",
        &["User: `app` (line 2)", "Shell: `/bin/bash -c`", "Entry point: `/e\u{301}`", "image `a`"],
    ),
    ("FROM a AS b\nFROM c\nCOPY --from=‸b x /\n", &["Stage `b` (line 1)", "Shell: `/bin/sh -c`"]),
];

#[test]
fn hovers_explain_instructions_flags_variables_and_stages() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    for (number, (marked, said)) in HOVERS.iter().enumerate() {
        let (text, position) = cursor(marked);
        let uri = editor.open(&dir.path().join(format!("{number}.Dockerfile")), &text);
        let params = json!({ "textDocument": { "uri": uri }, "position": position });
        let hover = editor.request("textDocument/hover", params);
        let value = hover["contents"]["value"].as_str().unwrap_or_default();
        for words in *said {
            assert!(value.contains(words), "{marked}: {words} is not in\n{value}");
        }
    }
    editor.leave();
}

#[test]
fn a_finding_shows_the_page_of_its_rule_and_not_its_message_again() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let (text, position) = cursor("FROM scratch AS B‸ad\n");
    let uri = editor.open(&dir.path().join("Dockerfile"), &text);
    let params = json!({ "textDocument": { "uri": uri }, "position": position });
    let hover = editor.request("textDocument/hover", params);
    let page = probity().args(["explain", "buildkit/StageNameCasing"]).run().code(0).stdout;
    let value = hover["contents"]["value"].as_str().unwrap();
    assert!(value.contains(page.trim_end()), "{value}");
    let found = editor.pushed(&uri, Some(1));
    assert!(!value.contains(found[0]["message"].as_str().unwrap()), "{value}");
    let empty = json!({ "line": 1, "character": 0 });
    let params = json!({ "textDocument": { "uri": uri }, "position": empty });
    assert!(editor.request("textDocument/hover", params).is_null());
    editor.leave();
}
