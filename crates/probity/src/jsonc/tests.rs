//! Settings files of many shapes: what is added, and that nothing else changes.

use serde_json::{Value, json};

use super::{Entry, Inserted, SyntaxError, insert, insert::InsertError, parse};

fn entry(name: &str) -> Entry {
    let fields = vec![("command", json!("/bin/p")), ("args", json!(["acp", name]))];
    Entry { table: "agents", name: name.to_owned(), fields }
}

fn is_ours(entry: &Value) -> bool {
    entry["command"].as_str().is_some_and(|command| command.ends_with("/p"))
}

fn added(before: &str, name: &str) -> String {
    match insert(before, &entry(name), is_ours) {
        Ok(Inserted::Added(after)) => after,
        other => panic!("{before:?}: {other:?}"),
    }
}

const WHOLE: &str = "{\n  \"agents\": {\n    \"a\": {\n      \"command\": \"/bin/p\",\n      \
                     \"args\": [\"acp\", \"a\"]\n    }\n  }\n}";

#[test]
fn an_entry_is_added_where_it_belongs() {
    // `@` is where the new text begins and ends; all the rest is the old file.
    for (before, after) in [
        ("", format!("{WHOLE}\n")),
        ("\u{feff}", format!("\u{feff}{WHOLE}\n")),
        ("\n", format!("\n{WHOLE}\n")),
        ("// mine\n", format!("// mine\n{WHOLE}\n")),
        ("// mine", format!("// mine\n{WHOLE}\n")),
        ("{}", WHOLE.to_owned()),
        ("{ }\n", format!("{WHOLE}\n")),
        ("{\n}\n", format!("{WHOLE}\n")),
        ("\u{feff}{\n}\n", format!("\u{feff}{WHOLE}\n")),
        ("{ // none yet\n}\n", WHOLE.replacen('{', "{ // none yet", 1) + "\n"),
        ("{ /* a */ /* b */ }", WHOLE.replacen('{', "{ /* a */ /* b */", 1)),
        ("{\r\n}\r\n", format!("{WHOLE}\n").replace('\n', "\r\n")),
        // A sibling, with a comment that stays with it.
        (
            "{\n    \"x\": 1 // one\n}",
            "{\n    \"x\": 1, // one\n    \"agents\": {\n        \"a\": {\n            \
             \"command\": \"/bin/p\",\n            \"args\": [\"acp\", \"a\"]\n        }\n    }\n}"
                .to_owned(),
        ),
        (
            "{\n\t\"x\": 1,\n}",
            "{\n\t\"x\": 1,\n\t\"agents\": {\n\t\t\"a\": {\n\t\t\t\"command\": \"/bin/p\",\n\t\t\t\
             \"args\": [\"acp\", \"a\"]\n\t\t}\n\t},\n}"
                .to_owned(),
        ),
        (
            "{ \"x\": [1, 2,], }",
            "{ \"x\": [1, 2,], \"agents\": { \"a\": { \"command\": \"/bin/p\", \"args\": [\"acp\", \
             \"a\"] } }, }"
                .to_owned(),
        ),
        (
            "{\"x\":{}}",
            "{\"x\":{}, \"agents\": { \"a\": { \"command\": \"/bin/p\", \"args\": [\"acp\", \"a\"] \
             } }}"
                .to_owned(),
        ),
        // The table is there, empty or with others in it.
        (
            "{\n  \"agents\": {}, // mine\n  \"x\": 1\n}\n",
            "{\n  \"agents\": {\n    \"a\": {\n      \"command\": \"/bin/p\",\n      \"args\": \
             [\"acp\", \"a\"]\n    }\n  }, // mine\n  \"x\": 1\n}\n"
                .to_owned(),
        ),
        (
            "{\n  \"agents\": {\n    \"b\": {} /* b */\n    // \"c\": {}\n  }\n}\n",
            "{\n  \"agents\": {\n    \"b\": {}, /* b */\n    \"a\": {\n      \"command\": \
             \"/bin/p\",\n      \"args\": [\"acp\", \"a\"]\n    }\n    // \"c\": {}\n  }\n}\n"
                .to_owned(),
        ),
        (
            "{\r\n  \"agents\": {\r\n    \"b\": 1 // b\r\n  }\r\n}",
            "{\r\n  \"agents\": {\r\n    \"b\": 1, // b\r\n    \"a\": {\r\n      \"command\": \
             \"/bin/p\",\r\n      \"args\": [\"acp\", \"a\"]\r\n    }\r\n  }\r\n}"
                .to_owned(),
        ),
        // Keys in strings, comments and other objects are not the table.
        (
            "{ \"x\": \"\\\"agents\\\": {\", /* \"agents\": {} */ \"y\": {\"agents\": {}} }",
            "{ \"x\": \"\\\"agents\\\": {\", /* \"agents\": {} */ \"y\": {\"agents\": {}}, \
             \"agents\": { \"a\": { \"command\": \"/bin/p\", \"args\": [\"acp\", \"a\"] } } }"
                .to_owned(),
        ),
    ] {
        let found = added(before, "a");
        assert_eq!(found, after, "{before:?}");
        assert_eq!(insert(&found, &entry("a"), is_ours), Ok(Inserted::Same), "{before:?}");
        // A second agent beside the first, and the first is still as it was.
        let both = added(&found, "b2");
        assert_eq!(insert(&both, &entry("a"), is_ours), Ok(Inserted::Same), "{both}");
        assert_eq!(insert(&both, &entry("b2"), is_ours), Ok(Inserted::Same), "{both}");
    }
}

/// Whatever is taken away from the new text again is the old one: bytes are only added.
#[test]
fn every_byte_of_the_old_text_is_in_the_new_one_in_its_order() {
    for before in [
        "{}",
        "// a\n{ \"x\" : [ 1,2 ], // b\n\n\n  \"agents\":{ /* c */ }\t}\n// d",
        "{\"agents\":\n{\n\"z\":{\"k\":\"\\u00e9/*\"},}\n,\"x\":-1.5e3}",
        "\u{feff}{\r\n\t\"x\": true,\r\n\r\n\t// y\r\n}\r\n",
    ] {
        let after = added(before, "a");
        let mut rest = after.chars();
        for char in before.chars().filter(|char| !char.is_whitespace()) {
            assert!(rest.any(|found| found == char), "{before:?} lost {char:?}: {after:?}");
        }
    }
}

#[test]
fn an_entry_of_ours_is_updated_and_keeps_what_it_has_more() {
    let before = "{ \"agents\": { \"a\": { \"command\": \"/old/p\", /* k */ \"env\": {\"K\": \"v\"}, \
                  \"args\": [\"acp\", \"a\"] } } }";
    let after = before.replace("/old/p", "/bin/p");
    assert_eq!(insert(before, &entry("a"), is_ours), Ok(Inserted::Updated(after)));
}

#[test]
fn what_is_unclear_is_refused_with_its_place() {
    let taken = "{\"agents\": {\"a\": {\"command\": \"docker\", \"args\": []}}}";
    for (before, at, why) in [
        ("{", 1, "expected a key in double quotes or `}`"),
        ("{\"x\": 1 \"y\": 2}", 8, "expected a comma or `}`"),
        ("{\"x\" 1}", 5, "expected a colon"),
        ("{\"x\": }", 6, "expected a value"),
        ("{'x': 1}", 1, "expected a key in double quotes or `}`"),
        ("{x: 1}", 1, "expected a key in double quotes or `}`"),
        ("{\"x\": [1 2]}", 9, "expected a comma or `]`"),
        ("{\"x\": [1,,2]}", 9, "expected a value"),
        ("{,}", 1, "expected a key in double quotes or `}`"),
        ("{\"x\": 01}", 6, "expected a value"),
        ("{\"x\": tru}", 6, "expected a value"),
        ("{\"x\": \"a\nb\"}", 6, "expected a string that ends"),
        ("{\"x\": \"\\q\"}", 6, "expected a value"),
        ("{} {}", 3, "expected the end of the file"),
        ("/* mine", 0, "expected a comment that ends with */"),
        ("<<<<<<< ours\n{}", 0, "expected a value"),
        ("[]", 0, "expected an object"),
        ("null", 0, "expected an object"),
        ("{\"agents\": null}", 11, "expected an object"),
        ("{\"agents\": [{}]}", 11, "expected an object"),
        ("{\"agents\": {}, \"agents\": {}}", 15, "the key `agents` appears twice"),
        ("{\"agents\": {\"a\": 1, \"\\u0061\": 2}}", 20, "the key `a` appears twice"),
        ("{\"agents\": {\"a\": 1}}", 17, "`a` already exists and runs another command"),
        (taken, 17, "`a` already exists and runs another command"),
    ] {
        let error = insert(before, &entry("a"), is_ours).unwrap_err();
        assert_eq!((error.at(), error.to_string().as_str()), (at, why), "{before:?}");
    }
    let deep = "[".repeat(100_000);
    let error = insert(&deep, &entry("a"), is_ours).unwrap_err();
    let expected = SyntaxError { at: 128, expected: "less nesting" };
    assert_eq!(error, InsertError::Syntax(expected));
}

#[test]
fn plain_json_means_the_same_as_to_serde() {
    for text in [
        "{\"a\":[1,-2.5e3,true,false,null,\"\\u00e9\\n\\\"\"],\"b\":{\"c\":{}}}",
        "  [ ]  ",
        "\"only a string\"",
    ] {
        let node = parse(text).unwrap().unwrap();
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(node.value(text), expected, "{text}");
    }
}

/// Settings as people leave them: every run makes the same ones.
struct Settings {
    seed: u64,
    newline: &'static str,
}

impl Settings {
    fn below(&mut self, count: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 33) % count
    }

    fn gap(&mut self) -> String {
        let newline = self.newline;
        match self.below(8) {
            0..3 => String::new(),
            3 => " ".to_owned(),
            4 => format!("{newline}\t"),
            5 => format!("{newline}{newline}    "),
            6 => " /* {\"agents\": [ */".to_owned(),
            _ => format!(" // \"agents\": {{{newline}  "),
        }
    }

    fn value(&mut self, depth: u64) -> String {
        let kind = if depth == 0 { self.below(3) } else { self.below(5) };
        match kind {
            0 => "-1.5e3".to_owned(),
            1 => "\"\\\"}, // \\u00e9\"".to_owned(),
            2 => "null".to_owned(),
            3 => self.list(depth, "[", "]", None),
            _ => self.list(depth, "{", "}", Some("k")),
        }
    }

    /// An array, or an object whose keys begin with this.
    fn list(&mut self, depth: u64, open: &str, close: &str, key: Option<&str>) -> String {
        let count = self.below(4);
        let mut text = format!("{open}{}", self.gap());
        for index in 0..count {
            if let Some(key) = key {
                let (before, after) = (self.gap(), self.gap());
                text.push_str(&format!("\"{key}{index}\"{before}:{after}"));
            }
            text.push_str(&self.value(depth.saturating_sub(1)));
            text.push_str(&self.gap());
            let is_last = index + 1 == count;
            text.push_str(if is_last && self.below(2) == 0 { "" } else { "," });
            text.push_str(&self.gap());
        }
        text + close
    }

    fn file(&mut self) -> String {
        let mark = if self.below(4) == 0 { "\u{feff}" } else { "" };
        let (head, tail) = (self.gap(), self.gap());
        let mut root = self.list(3, "{", "}", Some("x"));
        if self.below(2) == 0 {
            let table = self.list(2, "{", "}", Some("y"));
            let gap = self.gap();
            root = format!("{{\"agents\":{gap}{table},{}", &root[1..]);
        }
        format!("{mark}{head}{root}{tail}")
    }
}

#[test]
fn two_agents_can_be_added_to_any_settings() {
    for newline in ["\n", "\r\n"] {
        let mut settings = Settings { seed: 22, newline };
        for _ in 0..2000 {
            let before = settings.file();
            let one = added(&before, "a");
            let two = added(&one, "b");
            for name in ["a", "b"] {
                assert_eq!(insert(&two, &entry(name), is_ours), Ok(Inserted::Same), "{before:?}");
            }
            let mixed = two.matches('\n').count() != two.matches(newline).count();
            // A file without a newline of its own gets the usual one.
            assert!(!mixed || !before.contains('\n'), "{before:?} -> {two:?}");
            let mut rest = two.chars();
            for char in before.chars().filter(|char| !char.is_whitespace()) {
                assert!(rest.any(|found| found == char), "{before:?} lost {char:?}: {two:?}");
            }
        }
    }
}
