//! A person's word: on the command line, and in the code.

use std::fs;

use serde_json::{Value, json};

use super::{CODE, FIX, again::Stage, commit, findings, git, probity, review_in};
use crate::binary::{Output, stable};

impl Stage {
    fn state(&self) -> String {
        self.place.path().join("state").to_str().unwrap().to_owned()
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        let report = self.place.path().join("out/review.json");
        let report = ["--report", report.to_str().unwrap()];
        let report: &[&str] = if arguments[0] == "verdict" { &report } else { &[] };
        let run = probity().args(["review"]).args(arguments).args(report);
        run.env("XDG_STATE_HOME", &self.state()).env("USER", "ada").dir(self.repo()).run()
    }
}

/// What counts and what does not, each by its id.
fn sorted(page: &Value) -> (Value, Vec<&Value>, Vec<&Value>) {
    let ids = |list: &'_ str, pointer: &str| -> Vec<&Value> {
        let items = page[list].as_array().map_or(&[][..], Vec::as_slice);
        items.iter().map(|item| item.pointer(pointer).unwrap()).collect()
    };
    (page["score"]["value"].clone(), ids("proven_issues", "/id"), ids("dismissed", "/issue/id"))
}

#[test]
fn a_dismissed_issue_costs_nothing_is_listed_and_comes_back_only_if_its_lines_change() {
    let stage = Stage::new();
    let out = stage.place.path().join("out");
    let only = json!([findings()[0]]);
    let (_, page) = stage.review(&only, &[]);
    let id = json!("ISS-001");
    assert_eq!(sorted(&page), (json!(8.5), vec![&id], vec![]), "{page:#}");

    let refusals = [
        ["verdict", "ISS-009", "accurate", "--reason", "x"],
        ["verdict", "ISS-001", "wrong", "--reason", "x"],
        ["verdict", "ISS-001", "accurate", "--reason", " "],
    ]
    .map(|arguments| stage.ask(&arguments).code(2).stderr);
    insta::assert_snapshot!(stable(&refusals.join("\n")), @"
    error: [dir]/out/review.json has no issue ISS-009
      help: `probity review report [dir]/out/review.json --format text` lists the issues

    error: invalid value 'wrong' for '<VERDICT>': `wrong` is not a valid value (valid: accurate, false-positive, wont-fix)

    For more information, try 'probity review verdict --help'.

    error: the reason is empty
      help: say why with --reason TEXT
    ");
    let words = ["verdict", "iss-001", "false-positive", "--reason", "one number less is meant"];
    let output = stage.ask(&words).code(0);
    insta::assert_snapshot!(output.stdout, @"ISS-001: false-positive; Score 10 of 10: nothing proven, 0 observations, 0 discarded, 1 dismissed; reaches the threshold of 7.");
    let page = review_in(&out);
    assert_eq!(sorted(&page), (json!(10.0), vec![], vec![&id]), "{page:#}");
    let dismissed = &page["dismissed"][0];
    assert_eq!(
        (&dismissed["by"], &dismissed["reason"]),
        (&json!("ada"), &json!("one number less is meant"))
    );
    let markdown = fs::read_to_string(out.join("review.md")).unwrap();
    let listed: Vec<&str> =
        markdown.lines().filter(|line| line.starts_with("- Dismissed: ")).collect();
    insta::assert_snapshot!(listed.join("\n"), @"- Dismissed: `ISS-001` the average is wrong: false-positive by ada: one number less is meant");

    // The agent may report it again or not; it moves with its line.
    fs::write(stage.repo().join("src/numbers.js"), format!("// Sums.\n{CODE}")).unwrap();
    commit(stage.repo());
    let mut printed = Vec::new();
    for told in [&json!([]), &{
        let mut told = only.clone();
        told[0]["line"] = json!(5);
        told[0]["fix_patch"] = json!(FIX.replace("@@ -1,5 +1,5 @@", "@@ -2,5 +2,5 @@"));
        told
    }] {
        let (output, page) = stage.review(told, &[]);
        assert_eq!(sorted(&page), (json!(10.0), vec![], vec![&id]), "{page:#}");
        printed.push(output.stdout);
    }
    insta::assert_snapshot!(printed.join("\n"), @"
    ISS-001 dismissed: the average is wrong: false-positive by ada: one number less is meant
    Score 10 of 10: nothing proven, 0 observations, 0 discarded, 1 dismissed; reaches the threshold of 7.

    ISS-001 dismissed: the average is wrong: false-positive by ada: one number less is meant
    Score 10 of 10: nothing proven, 0 observations, 0 discarded, 1 dismissed; reaches the threshold of 7.
    ");

    // Another text of the line is another matter, and nobody has to find it again.
    let changed = CODE.replace("(numbers.length - 1)", "(numbers.length + 1)");
    fs::write(stage.repo().join("src/numbers.js"), changed).unwrap();
    commit(stage.repo());
    let mut told = only.clone();
    told[0]["fix_patch"] = json!(FIX.replace("(numbers.length - 1)", "(numbers.length + 1)"));
    let (_, page) = stage.review(&told, &[]);
    assert_eq!(sorted(&page), (json!(8.5), vec![&id], vec![]), "{page:#}");

    stage.ask(&["verdict", "ISS-001", "accurate", "--reason", "it is one now"]).code(0);
    for _ in 0..2 {
        stage.ask(&["verdict", "ISS-001", "accurate", "--reason", "it is one now"]).code(0);
    }
    let output = stage.ask(&["verdicts", "--format", "json"]).code(0);
    let counted: Value = serde_json::from_str(&output.stdout).unwrap();
    let row = &counted["accuracy"][0];
    assert_eq!(
        (&row["accurate"], &row["falsePositive"], &row["percent"], &row["category"]),
        (&json!(1), &json!(1), &json!(50.0), &json!("correctness")),
        "{counted:#}"
    );
    assert_eq!(counted["verdicts"].as_array().unwrap().len(), 2, "{counted:#}");
}

#[test]
fn a_comment_in_the_code_counts_only_if_it_was_there_before_the_change() {
    let stage = Stage::new();
    let file = stage.repo().join("src/numbers.js");
    let ignored = CODE.replace(
        "  return sum / (numbers",
        "  // probity-ignore[correctness] -- a sample, not a population\n  return sum / (numbers",
    );
    let mut told = json!([findings()[0]]);
    told[0]["line"] = json!(5);
    let patch = FIX.replace("-1,5 +1,5", "-1,6 +1,6").replace(
        "-  return",
        "   // probity-ignore[correctness] -- a sample, not a population\n-  return",
    );
    told[0]["fix_patch"] = json!(patch);

    git(stage.repo(), &["checkout", "-q", "-b", "topic"]);
    fs::write(&file, &ignored).unwrap();
    commit(stage.repo());
    let (_, page) = stage.review(&told, &["--no-history"]);
    let id = json!("ISS-001");
    assert_eq!(sorted(&page), (json!(8.5), vec![&id], vec![]), "{page:#}");
    insta::assert_snapshot!(page["notes"].to_string(), @r#"["only the change since main is reviewed; `--whole` reviews the repository","src/numbers.js:4: probity-ignore does not count, because it is not on the base branch: a sample, not a population"]"#);

    git(stage.repo(), &["checkout", "-q", "main"]);
    git(stage.repo(), &["merge", "-q", "topic"]);
    let (_, page) = stage.review(&told, &["--no-history"]);
    assert_eq!(sorted(&page), (json!(10.0), vec![], vec![&id]), "{page:#}");
    assert_eq!(page["dismissed"][0]["reason"], "a sample, not a population");
}
