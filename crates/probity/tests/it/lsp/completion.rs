//! Completion: what is offered, what is not, and what it replaces.

use serde_json::json;

use super::{
    client::{Editor, applied},
    documents::cursor,
};
use crate::binary::directory;

/// A document with a cursor, labels that are offered, labels that are not, and the line that the
/// first one makes.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], &'static str);

const DOCKERFILES: &[Row] = &[
    ("FR‸", &["FROM", "RUN", "HEALTHCHECK"], &["from"], "FROM"),
    ("FROM a\nru‸\n", &["run", "copy"], &["RUN"], "run"),
    ("FROM a\nONBUILD C‸\n", &["COPY", "CMD"], &[], "ONBUILD COPY"),
    ("FROM a\nCOPY --f‸\n", &["--from", "--chown", "--link"], &["--mount"], "COPY --from"),
    ("FROM a\nRUN --network=‸\n", &["none", "default", "host"], &[], "RUN --network=none"),
    ("FROM a\nRUN --mount=‸\n", &["type", "target", "from"], &["sharing"], "RUN --mount=type"),
    (
        "FROM a\nRUN --mount=type=cache,id=é😀,sha‸\n",
        &["sharing", "target", "uid"],
        &["env"],
        "RUN --mount=type=cache,id=é😀,sharing",
    ),
    ("FROM a\nRUN --mount=type=s‸\n", &["secret", "ssh", "bind"], &[], "RUN --mount=type=secret"),
    (
        "FROM a AS one\nFROM b AS two\nCOPY --from=t‸\nFROM c AS later\n",
        &["two", "one"],
        &["later"],
        "COPY --from=two",
    ),
    ("FROM a AS one\r\nFROM o‸\r\n", &["one", "scratch"], &[], "FROM one"),
    ("FROM a A‸\n", &["AS"], &["scratch"], "FROM a AS"),
    (
        "FROM a\nARG PORT=1\nENV HOST=ü\nLABEL é😀=$H‸\n",
        &["HOST", "PORT", "PATH"],
        &[],
        "LABEL é😀=$HOST",
    ),
    ("FROM a\nRUN \\\n  --mount=type=tmpfs,si‸\n", &["size"], &[], "  --mount=type=tmpfs,size"),
    (
        "# tally ignore=DL3006,buildkit/St‸\nFROM a\n",
        &["buildkit/StageNameCasing", "hadolint/DL3006"],
        &[],
        "# tally ignore=DL3006,buildkit/StageNameCasing",
    ),
    (
        "# check=skip=Sta‸\nFROM a\n",
        &["StageNameCasing"],
        &["DL3006"],
        "# check=skip=StageNameCasing",
    ),
    (
        "# ‸\nFROM a\n",
        &["syntax=docker/dockerfile:1", "tally ignore="],
        &[],
        "# syntax=docker/dockerfile:1",
    ),
];

const CONFIGS: &[Row] = &[
    ("[ch‸\n", &["check", "ai", "review"], &["preset"], "[check"),
    ("[check.‸\n", &["rules", "output"], &[], "[check.rules"),
    ("[check]\npre‸\n", &["preset", "output"], &["enabled"], "preset"),
    ("[check]\npreset = ‸\n", &["\"strict\"", "\"recommended\""], &[], "preset = \"strict\""),
    ("# é😀\n[ai]\nenabled = t‸\n", &["true", "false"], &[], "enabled = true"),
    ("[check.rules.buildkit.StageNameCasing]\nsev‸\n", &["severity", "fix"], &[], "severity"),
];

#[test]
fn dockerfiles_and_configurations_are_completed_from_what_there_is() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let dockerfiles = DOCKERFILES.iter().map(|row| ("Dockerfile", row));
    let all = dockerfiles.chain(CONFIGS.iter().map(|row| ("probity.toml", row)));
    for (name, (marked, offered, others, line)) in all {
        let (text, position) = cursor(marked);
        let path = dir.path().join(name);
        let uri = editor.open(&path, &text);
        let params = json!({ "textDocument": { "uri": uri }, "position": position });
        let list = editor.request("textDocument/completion", params);
        let items = list["items"].as_array().unwrap();
        let labels: Vec<&str> = items.iter().map(|item| item["label"].as_str().unwrap()).collect();
        for label in *offered {
            assert!(labels.contains(label), "{marked}: {label} is not in {labels:?}");
        }
        for label in *others {
            assert!(!labels.contains(label), "{marked}: {label} is in {labels:?}");
        }
        let first = items.iter().find(|item| item["label"] == offered[0]).unwrap();
        let changed = applied(&text, &json!([first["textEdit"]]));
        let at = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
        assert_eq!(changed.lines().nth(at), Some(*line), "{marked}");
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    editor.leave();
}
