//! Hovers: what is said about the word under the cursor.

use serde_json::json;

use super::{client::Editor, documents::cursor};
use crate::binary::{directory, probity};

/// Documents, each with a cursor.
const HOVERS: &[&str] = &[
    "FR‸OM alpine:3.20\n",
    "FROM a\nRU‸N true\n",
    "FROM a\nONBUILD WORK‸DIR /a\n",
    "FROM a AS b\nCOPY --from=b --cho‸wn=1 é /\n",
    "FROM a\nRUN --mount=type=cache,shar‸ing=locked,target=/é x\n",
    "FROM a\nRUN --mount=type=cache,d‸st=/x y\n",
    "FROM a\nARG V=😀\nRUN echo é $‸V\n",
    "FROM a\nENV A=1\nENV B=${A}2\nLABEL x=$‸B\n",
    "FROM a\r\nARG V\r\nLABEL x=\t${‸V}\r\n",
    "FROM a\nLABEL x=$NO‸NE\n",
    "FROM a\nRUN echo $NO‸NE\n",
    "FROM a AS b\nUSER app\nSHELL [\"/bin/bash\", \"-c\"]\nENTRYPOINT [\"/e\u{301}\"]\nFROM ‸b\n",
    "FROM a AS b\nFROM c\nCOPY --from=‸b x /\n",
];

#[test]
fn hovers_explain_instructions_flags_variables_and_stages() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let mut hovers = Vec::new();
    for (number, marked) in HOVERS.iter().enumerate() {
        let (text, position) = cursor(marked);
        let uri = editor.open(&dir.path().join(format!("{number}.Dockerfile")), &text);
        let params = json!({ "textDocument": { "uri": uri }, "position": position });
        let hover = editor.request("textDocument/hover", params);
        let value = hover["contents"]["value"].as_str().unwrap_or_default();
        // What follows the line is the page of a rule.
        let own = value.split("\n\n---\n").next().unwrap();
        hovers.push(format!("{marked:?}\n{own}"));
    }
    insta::assert_snapshot!(hovers.join("\n\n"), @r#"
    "FR‸OM alpine:3.20\n"
    ```dockerfile
    FROM [--platform=PLATFORM] IMAGE[:TAG][@DIGEST] [AS NAME]
    ```

    Begins a stage. The stage starts with the files and settings of IMAGE, which can be an earlier stage. Only the last stage becomes the image.

    "FROM a\nRU‸N true\n"
    ```dockerfile
    RUN [FLAGS] COMMAND
    RUN ["PROGRAM", "ARGUMENT", …]
    ```

    Runs a command and stores the files that it changes as a layer. The first form runs in the stage's shell, the second without one.

    "FROM a\nONBUILD WORK‸DIR /a\n"
    ```dockerfile
    WORKDIR PATH
    ```

    Sets the working directory of the instructions that follow and of the container, and creates it. A relative path starts at the previous one.

    "FROM a AS b\nCOPY --from=b --cho‸wn=1 é /\n"
    `--chown`

    Owner and group of the files, as `user:group`; root if absent.

    "FROM a\nRUN --mount=type=cache,shar‸ing=locked,target=/é x\n"
    `--mount=…,sharing`

    What happens if two builds use the cache: share it, get one each, or wait.

    Values: `shared`, `private`, `locked`.

    "FROM a\nRUN --mount=type=cache,d‸st=/x y\n"
    `--mount=…,target`

    Path in the container at which the mount appears.

    "FROM a\nARG V=😀\nRUN echo é $‸V\n"
    `V = 😀`

    Default of `ARG` in line 2; `--build-arg V=…` changes it.

    "FROM a\nENV A=1\nENV B=${A}2\nLABEL x=$‸B\n"
    `B = 12`

    Set by `ENV` in line 3.

    "FROM a\r\nARG V\r\nLABEL x=\t${‸V}\r\n"
    `V`, without a default value

    Declared by `ARG` in line 2; `--build-arg V=…` sets it.

    "FROM a\nLABEL x=$NO‸NE\n"
    `NONE` is not declared here, so it expands to nothing

    "FROM a\nRUN echo $NO‸NE\n"
    `NONE` is not set by the Dockerfile; the shell or the base image may

    "FROM a AS b\nUSER app\nSHELL [\"/bin/bash\", \"-c\"]\nENTRYPOINT [\"/e\u{301}\"]\nFROM ‸b\n"
    Stage `b` (line 1), from image `a`

    - User: `app` (line 2)
    - Working directory: of the base image
    - Shell: `/bin/bash -c` (line 3)
    - Entry point: `/é` (line 4)
    - Command: of the base image

    "FROM a AS b\nFROM c\nCOPY --from=‸b x /\n"
    Stage `b` (line 1), from image `a`

    - User: of the base image
    - Working directory: of the base image
    - Shell: `/bin/sh -c`
    - Entry point: of the base image
    - Command: of the base image
    "#);
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
