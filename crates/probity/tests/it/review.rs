//! `probity review` and `ci-agent-review`, as a person and as a CI step would run them.

mod again;
mod budget;
mod ending;
mod fix;
mod integration;
mod output;
mod own;
mod page;
mod places;
pub(crate) mod publish;
mod reports;
mod runners;
/// A database server, as the tests of the history start it.
#[expect(dead_code, reason = "TLS is tested there")]
#[path = "../../../probity-review/tests/it/history/server.rs"]
mod server;
mod shards;
mod step;
mod story;
mod unstarted;
mod verdicts;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{self, Run, directory, tools};

/// The binary with a node that starts in a tenth of the time: a review runs twenty tests or more. What a
/// real node does is shown by `story` and by the tests of probity-proof.
pub(crate) fn probity() -> Run {
    with_quick_node(binary::probity())
}

/// The same under another name.
fn named(name: &str) -> Run {
    with_quick_node(binary::named(name))
}

fn with_quick_node(run: Run) -> Run {
    let quick = tools().join("quick-node/bin");
    assert!(quick.join("node").exists(), "{} is missing: run script/tools once", quick.display());
    let path = format!("{}:{}", quick.display(), std::env::var("PATH").unwrap());
    // The sample's defect is high. That it fails a review has a test of its own.
    run.env("PATH", &path).env("PROBITY_REVIEW__FAIL_ON", "none")
}

/// A repository whose one defect is that the average divides by too little.
pub(crate) const CODE: &str = "\
export function average(numbers) {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum / (numbers.length - 1);
}

export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
";

pub(crate) fn repository() -> TempDir {
    let dir = directory(&[("package.json", "{\"type\":\"module\"}\n"), ("src/numbers.js", CODE)]);
    git(dir.path(), &["init", "-q", "-b", "main"]);
    commit(dir.path());
    dir
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.current_dir(directory).args(["-c", "user.name=x", "-c", "user.email=x@example.com"]);
    let output = git.args(arguments).env_remove("GIT_DIR").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn commit(directory: &Path) {
    git(directory, &["add", "-A"]);
    git(directory, &["commit", "-q", "-m", "x"]);
}

fn test(name: &str, body: &str) -> String {
    format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\n\
         import {{ average, clamp }} from './numbers.js';\n\n\
         test('{name}', () => {{\n  {body}\n}});\n"
    )
}

/// A fix of the defect.
pub(crate) const FIX: &str = "\
--- a/src/numbers.js
+++ b/src/numbers.js
@@ -1,5 +1,5 @@
 export function average(numbers) {
   let sum = 0;
   for (const number of numbers) sum += number;
-  return sum / (numbers.length - 1);
+  return sum / numbers.length;
 }
";

/// A fix of what is no defect.
const NO_FIX: &str = "\
--- a/src/numbers.js
+++ b/src/numbers.js
@@ -6,4 +6,4 @@

 export function clamp(value, low, high) {
-  return Math.min(Math.max(value, low), high);
+  return Math.max(Math.min(value, high), low);
 }
";

/// One claim that is true and two that are not.
pub(crate) fn findings() -> Value {
    let finding = |title: &str, line: u64, name: &str, body: &str| {
        let fix = if line == 4 { FIX } else { NO_FIX };
        json!({
            "title": title, "description": "because", "file": "src/numbers.js", "line": line,
            "severity_hint": "high", "category": "correctness",
            "test_file": format!("src/{name}.test.js"), "test_name": name,
            "test_code": test(name, body), "fix_patch": fix,
        })
    };
    json!([
        finding("the average is wrong", 4, "averages", "assert.equal(average([2, 4]), 3);"),
        finding("clamp mixes up its bounds", 8, "clamps", "assert.equal(clamp(5, 0, 3), 3);"),
        finding("clamp loses numbers", 8, "loses", "assert.fail('always');"),
    ])
}

/// A recording of an agent that answers this, whatever it is asked.
pub(crate) fn recorded(directory: &Path, answer: &str) -> String {
    let file = directory.join("agent.ndjson");
    let say = json!({ "say": answer });
    fs::write(
        &file,
        format!(
            "{{\"on\":\"session/prompt\"}}\n{say}\n{{\"answer\":{{\"stopReason\":\"end_turn\"}}}}\n"
        ),
    )
    .unwrap();
    format!("replay:{}", file.display())
}

/// Reads a review, and holds it against the schema that is shipped.
#[track_caller]
pub(crate) fn review_in(output: &Path) -> Value {
    let text = fs::read_to_string(output.join("review.json")).unwrap();
    let review: Value = serde_json::from_str(&text).unwrap();
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(root("docs/schema/review.schema.json")).unwrap())
            .unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let problem = schema.validate(&review).err().map(|error| error.to_string());
    assert_eq!(problem, None, "{review:#}");
    review
}

pub(crate) fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Everything in a directory but git's own, to see that it is as it was.
pub(crate) fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().unwrap() != ".git" {
                    open.push(path);
                }
            } else {
                found.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
