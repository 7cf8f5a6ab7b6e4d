//! The commands of `[[review.runner]]`: those of the merge base or of a named file, never the change's.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{commit, git, recorded, review_in};
use crate::binary::{directory, probity};

const CODE: &str = "package Calc;\nsub half { my ($n) = @_; return $n / 3; }\n1;\n";

const FIX: &str = "\
--- a/lib/Calc.pm
+++ b/lib/Calc.pm
@@ -1,2 +1,2 @@
 package Calc;
-sub half { my ($n) = @_; return $n / 3; }
+sub half { my ($n) = @_; return $n / 2; }
";

/// Runs the test.
const HONEST: &str = r#"
[[review.runner]]
match = "**/*.pm"
command = ["perl", "-Ilib", "{file}"]
suite = ["perl", "-Ilib", "t/all.t"]
report = "-"
"#;

/// What the code does already, so that a fix has something that it could break.
const KEPT: &str =
    "use Test::More;\nuse Calc;\nis(Calc::half(0), 0, 'nothing');\ndone_testing();\n";

/// Runs nothing, and says that whatever is asked for fails.
const LIAR: &str = r#"
[[review.runner]]
match = "**/*.pm"
command = ["sh", "-c", "printf '1..1\nnot ok 1 - claimed\n'", "{name}"]
report = "-"
"#;

/// What the repository has at the merge base and in the change, and the file that is named by a flag.
struct Row<'a> {
    base: &'a [(&'a str, &'a str)],
    change: &'a [(&'a str, &'a str)],
    named: Option<&'a str>,
    /// What becomes of a claim whose test fails, and of one whose test passes.
    outcomes: [&'a str; 2],
}

impl Row<'_> {
    fn repository(&self) -> TempDir {
        let files = [&[("lib/Calc.pm", CODE), ("t/all.t", KEPT)], self.base].concat();
        let repo = directory(&files);
        git(repo.path(), &["init", "-q", "-b", "main"]);
        commit(repo.path());
        git(repo.path(), &["checkout", "-q", "-b", "topic"]);
        for (path, _) in self.base {
            fs::remove_file(repo.path().join(path)).unwrap();
        }
        let more = format!("{CODE}# More.\n");
        for (path, text) in [&[("lib/Calc.pm", more.as_str())], self.change].concat() {
            fs::write(repo.path().join(path), text).unwrap();
        }
        commit(repo.path());
        repo
    }
}

fn finding(id: &str, number: u32) -> Value {
    let code = format!(
        "use Test::More;\nuse Calc;\nis(Calc::half({number}), 2, 'claimed');\ndone_testing();\n"
    );
    json!({
        "title": id, "description": "because", "file": "lib/Calc.pm", "line": 2,
        "severity_hint": "high", "category": "correctness", "test_file": format!("t/{id}.t"),
        "test_name": "claimed", "test_code": code, "fix_patch": FIX,
    })
}

fn outcome(review: &Value, title: &str) -> String {
    if review["status"] == "error" {
        return review["error"]["kind"].as_str().unwrap().to_owned();
    }
    let lists = ["proven_issues", "observations", "discarded"];
    let mut all = lists.iter().flat_map(|list| review[*list].as_array().unwrap());
    let item = all.find(|item| item["title"] == title).unwrap();
    let is_proven = review["proven_issues"].as_array().unwrap().contains(item);
    let outcome = item["proof"]["outcome"].as_str().unwrap_or("none");
    if is_proven { "proven".to_owned() } else { outcome.to_owned() }
}

#[test]
fn the_reviewed_change_does_not_decide_how_it_is_tested() {
    let quoted = LIAR.replace("review.runner", "tool.probity.review.runner");
    let honest_project = HONEST.replace("review.runner", "tool.probity.review.runner");
    let right = ["proven", "passed"];
    // Without a runner nobody reviews such files.
    let unknown = ["repository", "repository"];
    for (number, row) in [
        Row {
            base: &[("probity.toml", HONEST)],
            change: &[("probity.toml", LIAR)],
            named: None,
            outcomes: right,
        },
        Row { base: &[("probity.toml", HONEST)], change: &[], named: None, outcomes: right },
        Row { base: &[], change: &[("probity.toml", LIAR)], named: None, outcomes: unknown },
        Row {
            base: &[("pyproject.toml", &honest_project)],
            change: &[("probity.toml", LIAR), ("pyproject.toml", &quoted)],
            named: None,
            outcomes: right,
        },
        // A file that the user names comes before both.
        Row {
            base: &[("probity.toml", LIAR)],
            change: &[("probity.toml", LIAR)],
            named: Some(HONEST),
            outcomes: right,
        },
    ]
    .into_iter()
    .enumerate()
    {
        let repo = row.repository();
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let told = json!([finding("fails", 4), finding("passes", 6)]).to_string();
        let agent = recorded(place.path(), &told);
        let run = probity().args(["review", "--agent", &agent, "--base", "main", "--diff-only"]);
        let mut run = run.args(["--report-only", "--output", &at("out")]);
        if let Some(text) = row.named {
            fs::write(at("named.toml"), text).unwrap();
            run = run.args(["--runners", &at("named.toml")]);
        }
        let run = run.env("XDG_STATE_HOME", &at("state")).env("XDG_CACHE_HOME", &at("cache"));
        let output = run.dir(repo.path()).run().code(0);
        let review = review_in(Path::new(&at("out")));
        let outcomes = ["fails", "passes"].map(|title| outcome(&review, title));
        assert_eq!(outcomes, row.outcomes, "row {number}: {}\n{review:#}", output.stderr);
    }
}
