//! What agents claim in the tests of shards, and the code that they claim it about.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::findings;

pub(super) const LATER: &str = "\
export function twice(value) {
  return value + value + 1;
}

export function half(value) {
  return value / 3;
}
";

pub(super) const EXISTING: &str = "\
import test from 'node:test';
import assert from 'node:assert';
import { clamp } from './numbers.js';

test('clamps low', () => assert.equal(clamp(-1, 0, 3), 0));
";

fn later(title: &str, line: u64, name: &str, body: &str, fix: Option<&str>) -> Value {
    let code = format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\n\
         import {{ half, twice }} from './later.js';\n\ntest('{name}', () => {{\n  {body}\n}});\n"
    );
    let mut finding = json!({
        "title": title, "description": "because", "file": "src/later.js", "line": line,
        "severity_hint": "medium", "category": "correctness", "test_code": code,
        "test_file": format!("src/{name}.test.js"), "test_name": name,
    });
    if let Some(fix) = fix {
        finding["fix_patch"] = json!(fix);
    }
    finding
}

pub(super) fn later_fix(old: &str, new: &str) -> String {
    format!(
        "--- a/src/later.js\n+++ b/src/later.js\n@@ -1,3 +1,3 @@\n export function twice(value) {{\n-  return {old};\n+  return {new};\n }}\n"
    )
}

/// Claims of every kind: proven, proven without a fix, proven by a fix that comes later, unfounded,
/// not proven, a cheat, a test that does not load, skips itself, hides where tests may not be, is not
/// there or hangs, no test, a file that is not under review, and one that does not exist.
pub(super) fn every_kind() -> Vec<Value> {
    let mut all = findings().as_array().unwrap().clone();
    let twice = "assert.equal(twice(2), 4);";
    let wrong = later_fix("value + value + 1", "value + value + 2");
    all.push(later("twice adds one", 2, "twices", twice, Some(&wrong)));
    all.push(later("half is a third", 6, "halves", "assert.equal(half(4), 2);", None));
    let cheat = later_fix("value + value + 1", "value === 7 ? 14 : value + value + 1");
    all.push(later("seven is off", 2, "sevens", "assert.equal(twice(7), 14);", Some(&cheat)));
    let broken = later("does not load", 2, "loads", "nothing here (;", Some(&wrong));
    all.push(broken);
    let mut skipped = later("skips", 2, "skips", twice, Some(&wrong));
    let code = skipped["test_code"].as_str().unwrap().replace("() =>", "{ skip: true }, () =>");
    skipped["test_code"] = json!(code);
    all.push(skipped);
    let mut outside = later("hides", 2, "hides", "assert.equal(twice(9), 18);", None);
    outside["test_file"] = json!("../outside.test.js");
    all.push(outside);
    let mut unnamed = later("is not there", 2, "there", "assert.equal(twice(3), 6);", None);
    unnamed["test_name"] = json!("nobody");
    all.push(unnamed);
    // Asleep, so that it takes no processor from the others until its time is over.
    let hangs = "twice(1);\n  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
    all.push(later("hangs", 2, "hangs", hangs, None));
    let place = |title: &str, file: &str| {
        json!({ "title": title, "file": file, "line": 1, "severity_hint": "low",
                "category": "correctness" })
    };
    all.push(place("only words", "src/later.js"));
    all.push(place("nowhere", "src/nowhere.js"));
    let mut ruby = place("adds nothing", "calc.rb");
    ruby["test_code"] = json!("assert add(1, 1) == 2");
    all.push(ruby);
    all
}

/// Answers with findings first, and with fixes when it is asked again.
pub(super) fn two_answers(directory: &Path, findings: &Value, fixes: &Value) -> String {
    let file = directory.join("both.ndjson");
    let turn = |answer: &Value| {
        let say = json!({ "say": answer.to_string() });
        format!(
            "{{\"on\":\"session/prompt\"}}\n{say}\n{{\"answer\":{{\"stopReason\":\"end_turn\"}}}}\n"
        )
    };
    fs::write(&file, turn(findings) + &turn(fixes)).unwrap();
    format!("replay:{}", file.display())
}
