//! Ten documents, and every feature that reads one: outline, folds, selection, tokens, hints, names.

use serde_json::{Value, json};

use super::client::Editor;
use crate::binary::directory;

/// A document, and what every feature says about it.
struct Case {
    text: &'static str,
    /// Stages and top-level instructions, each with the number of its children.
    outline: &'static [(&'static str, usize)],
    /// First and last line, from zero.
    folds: &'static [(u64, u64)],
    /// Words that have a token of a kind, in order: keyword `k`, comment `c`, directive `d`, flag
    /// `f`, variable `v`, stage `n`, image `t`, string and heredoc `s`.
    tokens: &'static str,
    hints: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        text: "FROM alpine:3.20\nRUN true\n",
        outline: &[("stage 0", 1)],
        folds: &[(0, 1)],
        tokens: "k:FROM t:alpine:3.20 k:RUN",
        hints: &[],
    },
    Case {
        text: "ARG V=1\nFROM alpine:$V AS base\nFROM base\nCOPY --from=base /a /b\n",
        outline: &[("ARG", 0), ("base", 0), ("stage 1", 1)],
        folds: &[(2, 3)],
        tokens: "k:ARG v:V k:FROM v:V k:AS n:base k:FROM n:base k:COPY f:--from n:base",
        hints: &[],
    },
    Case {
        text: "# é😀 comment\n# two\nFROM a AS grün\nENV Ä=😀 B=$PATH\n",
        outline: &[("grün", 1)],
        folds: &[(0, 1), (2, 3)],
        tokens: "c:#·é😀·comment c:#·two k:FROM t:a k:AS n:grün k:ENV v:Ä v:B v:PATH",
        hints: &[],
    },
    Case {
        text: "FROM a AS x\r\nUSER app\r\nWORKDIR /src\r\nFROM x\r\nRUN ls\\\r\n  -l\r\n",
        outline: &[("x", 2), ("stage 1", 1)],
        folds: &[(0, 2), (3, 5), (4, 5)],
        tokens: "k:FROM t:a k:AS n:x k:USER k:WORKDIR k:FROM n:x k:RUN",
        hints: &["USER app · WORKDIR /src"],
    },
    Case {
        text: "FROM a\nRUN <<EOF\necho \"é\"\n\techo $HOME\nEOF\n",
        outline: &[("stage 0", 1)],
        folds: &[(0, 4), (1, 4), (2, 3)],
        tokens: "k:FROM t:a k:RUN s:<<EOF v:HOME s:EOF",
        hints: &[],
    },
    Case {
        text: "FROM a AS b\nSHELL [\"/bin/bash\", \"-c\"]\nFROM b AS c\nFROM c\n",
        outline: &[("b", 1), ("c", 0), ("stage 2", 0)],
        folds: &[(0, 1)],
        tokens: "k:FROM t:a k:AS n:b k:SHELL k:FROM n:b k:AS n:c k:FROM n:c",
        hints: &["SHELL /bin/bash -c", "SHELL /bin/bash -c"],
    },
    Case {
        text: "FROM a\nRUN --mount=type=cache,target=/c \\\n    # note e\u{301}\n    make\n",
        outline: &[("stage 0", 1)],
        folds: &[(0, 3), (1, 3)],
        tokens: "k:FROM t:a k:RUN f:--mount c:#·note·e\u{301}",
        hints: &[],
    },
    Case {
        text: "# syntax=docker/dockerfile:1\nFROM scratch\nONBUILD\tCOPY 👩\u{200d}💻 /\n",
        outline: &[("stage 0", 1)],
        folds: &[(1, 2)],
        tokens: "d:#·syntax=docker/dockerfile:1 k:FROM t:scratch k:ONBUILD k:COPY",
        hints: &[],
    },
    Case {
        text: "FROM a\nHEALTHCHECK --interval=5s CMD curl $URL\nNONSENSE x\n",
        outline: &[("stage 0", 2)],
        folds: &[(0, 2)],
        tokens: "k:FROM t:a k:HEALTHCHECK f:--interval v:URL k:NONSENSE",
        hints: &[],
    },
    Case { text: "", outline: &[], folds: &[], tokens: "", hints: &[] },
];

const CLASSES: [&str; 9] = ["k", "c", "d", "f", "v", "n", "t", "s", "s"];

/// The text under a range, by UTF-16 units.
fn under(text: &str, line: u64, start: u64, length: u64) -> String {
    let line = text.split('\n').nth(usize::try_from(line).unwrap()).unwrap();
    let units: Vec<u16> = line.encode_utf16().collect();
    let start = usize::try_from(start).unwrap();
    String::from_utf16(&units[start..start + usize::try_from(length).unwrap()]).unwrap()
}

fn decoded(text: &str, data: &Value) -> String {
    let numbers: Vec<u64> =
        data.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
    let (mut line, mut column, mut words) = (0, 0, Vec::new());
    for token in numbers.chunks(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let class = CLASSES[usize::try_from(token[3]).unwrap()];
        let word = under(text, line, column, token[2]).replace(' ', "·");
        // Bodies of heredocs are whatever is left of them.
        if !(class == "s" && word.contains("echo")) && word != "\"é\"" {
            words.push(format!("{class}:{word}"));
        }
    }
    words.join(" ")
}

#[test]
fn outlines_folds_tokens_and_hints_of_ten_documents() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    for (number, case) in CASES.iter().enumerate() {
        let uri = editor.open(&dir.path().join(format!("{number}.Dockerfile")), case.text);
        let document = json!({ "textDocument": { "uri": uri } });
        let symbols = editor.request("textDocument/documentSymbol", document.clone());
        let outline: Vec<(&str, usize)> = symbols
            .as_array()
            .unwrap()
            .iter()
            .map(|symbol| {
                (symbol["name"].as_str().unwrap(), symbol["children"].as_array().unwrap().len())
            })
            .collect();
        assert_eq!(outline, case.outline, "{}", case.text);
        let folds = editor.request("textDocument/foldingRange", document.clone());
        let folds: Vec<(u64, u64)> = folds
            .as_array()
            .unwrap()
            .iter()
            .map(|range| (range["startLine"].as_u64().unwrap(), range["endLine"].as_u64().unwrap()))
            .collect();
        assert_eq!(folds, case.folds, "{}", case.text);
        let tokens = editor.request("textDocument/semanticTokens/full", document);
        assert_eq!(decoded(case.text, &tokens["data"]), case.tokens, "{}", case.text);
        let all = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let whole = json!({ "textDocument": { "uri": uri }, "range": all });
        let part = editor.request("textDocument/semanticTokens/range", whole.clone());
        assert_eq!(part["data"], tokens["data"], "the whole range is the whole document");
        let hints = editor.request("textDocument/inlayHint", whole);
        let hints: Vec<&str> =
            hints.as_array().unwrap().iter().map(|hint| hint["label"].as_str().unwrap()).collect();
        assert_eq!(hints, case.hints, "{}", case.text);
        check_selection(&mut editor, &uri, case.text);
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    editor.leave();
}

/// From every character outward: each range lies in the next, and the last is the whole document.
fn check_selection(editor: &mut Editor, uri: &str, text: &str) {
    let mut positions = Vec::new();
    for (line, content) in text.split('\n').enumerate() {
        let mut column = 0;
        for char in content.trim_end_matches('\r').chars() {
            positions.push(json!({ "line": line, "character": column }));
            column += char.len_utf16();
        }
    }
    let params = json!({ "textDocument": { "uri": uri }, "positions": positions });
    let ranges = editor.request("textDocument/selectionRange", params);
    let place = |it: &Value| (it["line"].as_u64().unwrap(), it["character"].as_u64().unwrap());
    for (range, position) in ranges.as_array().unwrap().iter().zip(&positions) {
        let (mut inner, at) = (range, place(position));
        let (start, end) = (place(&inner["range"]["start"]), place(&inner["range"]["end"]));
        assert!(start <= at && at <= end, "{text:?}: {position} in {inner}");
        while let Some(outer) = inner.get("parent") {
            let (a, b) = (place(&inner["range"]["start"]), place(&inner["range"]["end"]));
            let (c, d) = (place(&outer["range"]["start"]), place(&outer["range"]["end"]));
            assert!(c <= a && b <= d && (c, d) != (a, b), "{inner}");
            inner = outer;
        }
        assert_eq!(place(&inner["range"]["start"]), (0, 0));
    }
}

/// A document with a cursor `‸`, the places of all references, and the text after renaming to `n`.
const NAMES: &[(&str, usize, Option<&str>)] = &[
    (
        "FROM a AS ba‸se\nFROM base AS two\nCOPY --from=base /é /\nRUN --mount=from=base,target=/b x\n",
        4,
        Some("FROM a AS n\nFROM n AS two\nCOPY --from=n /é /\nRUN --mount=from=n,target=/b x\n"),
    ),
    (
        "FROM a AS base\nFROM b\nCOPY 😀 /\nCOPY --from=b‸ase e\u{301} /\n",
        2,
        Some("FROM a AS n\nFROM b\nCOPY 😀 /\nCOPY --from=n e\u{301} /\n"),
    ),
    (
        "ARG V‸=1\nFROM a:$V\nARG V\nRUN echo 😀 ${V} \"$V\" $VV\nLABEL v=${V:-2}\n",
        6,
        Some("ARG n=1\nFROM a:$n\nARG n\nRUN echo 😀 ${n} \"$n\" $VV\nLABEL v=${n:-2}\n"),
    ),
    (
        "FROM a\r\nARG V=1\r\nENV V=$V‸\r\nRUN echo $V\r\n",
        2,
        Some("FROM a\r\nARG n=1\r\nENV V=$n\r\nRUN echo $V\r\n"),
    ),
    ("FROM a\nENV V=1\nRUN echo $‸V\n", 2, None),
    ("FROM a\nARG TARGETARCH\nRUN echo $TARGET‸ARCH\n", 2, None),
    ("FROM a\nARG V‸\nRUN V=2; echo $V\n", 2, None),
    ("FROM a\nRUN ec‸ho\n", 0, None),
    ("FROM a AS n\nFROM b AS m‸\n", 1, None),
    ("FROM a\nARG V‸=1\nARG n=2\nRUN echo $V\n", 2, None),
];

#[test]
fn names_are_found_and_renamed_everywhere_or_not_at_all() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let mut refusals = Vec::new();
    for (number, (marked, count, renamed)) in NAMES.iter().enumerate() {
        let (text, position) = cursor(marked);
        let uri = editor.open(&dir.path().join(format!("{number}.Dockerfile")), &text);
        let at = json!({ "textDocument": { "uri": uri }, "position": position });
        let mut with = at.clone();
        with["context"] = json!({ "includeDeclaration": true });
        let references = editor.request("textDocument/references", with);
        assert_eq!(references.as_array().unwrap().len(), *count, "{marked}: {references:#}");
        let highlights = editor.request("textDocument/documentHighlight", at.clone());
        assert_eq!(highlights.as_array().unwrap().len(), *count, "{marked}");
        let definition = editor.request("textDocument/definition", at.clone());
        assert_eq!(definition.as_array().unwrap().is_empty(), *count == 0, "{marked}");
        let mut rename = at.clone();
        rename["newName"] = json!("n");
        match (editor.try_request("textDocument/rename", rename), renamed) {
            (Ok(edit), Some(expected)) => {
                let changed = super::client::applied(&text, &edit["changes"][&uri]);
                assert_eq!(&changed, expected, "{marked}");
                let place = editor.request("textDocument/prepareRename", at);
                assert!(place["placeholder"].is_string(), "{place}");
            }
            (Err(error), None) => refusals.push(error["message"].as_str().unwrap().to_owned()),
            (answer, _) => panic!("{marked}: {answer:?}"),
        }
    }
    insta::assert_snapshot!(refusals.join("\n"), @"
    ENV variables are part of the image, and the container reads them by this name
    BuildKit sets this argument, and knows it by this name alone
    line 3 uses the word `V` without `$`; rename it there first
    only stages and build arguments can be renamed; place the cursor on the name of one
    another stage is called `n`
    the name `n` is used already
    ");
    let (text, position) = cursor("FROM a AS b‸\n");
    let uri = editor.open(&dir.path().join("Dockerfile"), &text);
    for name in ["", "9a", "a b", "ä"] {
        let document = json!({ "uri": uri });
        let params = json!({ "textDocument": document, "position": position, "newName": name });
        assert!(editor.try_request("textDocument/rename", params).is_err(), "{name:?}");
    }
    editor.leave();
}

/// The text without its cursor, and the cursor's position in UTF-16.
pub(super) fn cursor(marked: &str) -> (String, Value) {
    let at = marked.find('‸').unwrap();
    let before = &marked[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let character = before[start..].encode_utf16().count();
    (marked.replace('‸', ""), json!({ "line": line, "character": character }))
}
