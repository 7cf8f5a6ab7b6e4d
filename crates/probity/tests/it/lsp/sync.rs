//! Incremental changes: after any number of them both sides have the same text.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Editor, encodings};
use crate::binary::directory;

/// Pieces that edits are made of: every width in every encoding, and every end of a line.
const PIECES: &[&str] = &[
    "a",
    "RUN ",
    "é",
    "😀",
    "e\u{301}",
    "👩\u{200d}💻",
    "\t",
    "\n",
    "\r\n",
    "ß",
    "中",
    "\u{feff}",
    " \\\n",
    "\"",
    "# x\n",
    "$A",
    "<<EOF\n",
    "",
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }
}

/// How many units a character has in an encoding.
type Width = fn(char) -> usize;

/// The client's own idea of a text: characters, and positions counted one by one.
struct Model {
    chars: Vec<char>,
    width: Width,
}

impl Model {
    /// A position before the character with this number that a client could name.
    fn position(&self, index: usize) -> Value {
        let (mut line, mut column) = (0, 0);
        for (at, &char) in self.chars[..index].iter().enumerate() {
            let ends = char == '\n' || (char == '\r' && self.chars.get(at + 1) != Some(&'\n'));
            if ends {
                (line, column) = (line + 1, 0);
            } else {
                column += (self.width)(char);
            }
        }
        json!({ "line": line, "character": column })
    }

    /// A position never lies between `\r` and `\n`.
    fn is_place(&self, index: usize) -> bool {
        index == 0 || !(self.chars[index - 1] == '\r' && self.chars.get(index) == Some(&'\n'))
    }

    fn place(&self, dice: &mut Dice) -> usize {
        let mut index = dice.roll(self.chars.len() + 1);
        while !self.is_place(index) {
            index -= 1;
        }
        index
    }

    fn text(&self) -> String {
        self.chars.iter().collect()
    }
}

#[test]
fn ten_thousand_random_edits_in_each_encoding_leave_both_sides_with_one_text() {
    let dir = directory(&[]);
    let ways: [(&str, Width); 3] =
        [("utf-8", char::len_utf8), ("utf-16", char::len_utf16), ("utf-32", |_| 1)];
    for (round, (encoding, width)) in ways.into_iter().enumerate() {
        let mut editor = Editor::start(dir.path(), encodings(&[encoding]));
        assert_eq!(editor.introduction["capabilities"]["positionEncoding"], encoding);
        let first = "FROM alpine\r\nRUN echo é😀 \\\n  && true\r\n# e\u{301}\n";
        let uri = editor.open(&dir.path().join("Dockerfile"), first);
        let mut model = Model { chars: first.chars().collect(), width };
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 + u64::try_from(round).unwrap());
        let mut edits = 0;
        for version in 2.. {
            // Several changes of one notification build upon each other.
            let mut changes = Vec::new();
            for _ in 0..=dice.roll(3) {
                let (a, b) = (model.place(&mut dice), model.place(&mut dice));
                let (start, mut end) = (a.min(b), a.max(b));
                if model.chars.len() < 600 {
                    end = end.min(start + dice.roll(4));
                    while !model.is_place(end) {
                        end += 1;
                    }
                }
                let new: String =
                    (0..dice.roll(4)).map(|_| PIECES[dice.roll(PIECES.len())]).collect();
                let range = json!({ "start": model.position(start), "end": model.position(end) });
                changes.push(json!({ "range": range, "text": new }));
                model.chars.splice(start..end, new.chars());
                edits += 1;
            }
            let document = json!({ "uri": uri, "version": version });
            let params = json!({ "textDocument": document, "contentChanges": changes });
            editor.notify("textDocument/didChange", params);
            if version % 250 == 0 || edits >= 10_000 {
                assert_eq!(editor.text_of(&uri), model.text(), "{encoding}, {edits} edits");
                editor.heard.clear();
            }
            if edits >= 10_000 {
                break;
            }
        }
        editor.leave();
    }
}

/// Edits in one stroke: the server lints when it has seen them all, and never says anything about a
/// text that it knows to be old.
#[test]
fn edits_that_come_faster_than_lints_are_linted_together_and_in_order() {
    let dir = directory(&[]);
    let mut editor = Editor::start(dir.path(), json!({}));
    let uri = editor.open(&dir.path().join("Dockerfile"), "FROM scratch\n");
    let last = 400;
    let mut bytes = String::new();
    for version in 2..=last {
        let end = json!({ "line": version - 1, "character": 0 });
        let range = json!({ "start": end, "end": end });
        let change = json!({ "range": range, "text": format!("ENV A{version} b\n") });
        let document = json!({ "uri": uri, "version": version });
        bytes.push_str(&super::client::framed(&json!({
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": { "textDocument": document, "contentChanges": [change] },
        })));
    }
    editor.write(bytes);
    let final_rules = editor.rules(&uri, last);
    let legacy = final_rules.iter().filter(|rule| *rule == "buildkit/LegacyKeyValueFormat").count();
    assert_eq!(i64::try_from(legacy).unwrap(), last - 1, "one for each line of the last version");
    // Whatever comes later would be old.
    std::thread::sleep(Duration::from_millis(300));
    editor.text_of(&uri);
    let published: Vec<i64> = editor
        .heard
        .iter()
        .filter(|message| message["method"] == "textDocument/publishDiagnostics")
        .map(|message| message["params"]["version"].as_i64().unwrap())
        .collect();
    assert!(published.len() < 40, "{published:?}");
    assert!(published.iter().all(|version| *version < last), "{published:?}");
    assert!(published.is_sorted_by(|a, b| a < b), "{published:?}");
    editor.leave();
}
