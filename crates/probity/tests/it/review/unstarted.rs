//! Tests that cannot start: never a score if there is no other test, and said first if there is.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{commit, git, recorded, review_in};
use crate::{
    binary::{Run, directory, named, probity, tools},
    whole_corpus::is_whole,
};

const LIB: &str = "exports.answer = () => 41;\n";

/// A package whose tests run.
const WORKS: (&str, &str) = ("api", "{\"name\":\"api\"}\n");
/// A package whose runner is not installed.
const NO_MOCHA: (&str, &str) =
    ("web", "{\"name\":\"web\",\"devDependencies\":{\"mocha\":\"10\"}}\n");

/// What keeps every Python test of a repository from starting, as its `conftest.py`.
const CONFTESTS: [&str; 3] = [
    "raise RuntimeError('no database')\n",
    "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        \
     item.add_marker(pytest.mark.skip('no database'))\n",
    "def pytest_collection_modifyitems(items):\n    items[:] = []\n",
];

fn claim_js(package: &str) -> Value {
    let name = format!("{package} answers");
    json!({
        "title": "wrong answer", "file": format!("{package}/lib.js"), "line": 1,
        "severity_hint": "high", "category": "correctness",
        "test_code": format!(
            "const {{ test }} = require('node:test');\nconst assert = require('node:assert');\n\
             const lib = require('./lib.js');\n\n\
             test('{name}', () => assert.equal(lib.answer(), 42));\n"
        ),
        "fix_patch": format!(
            "--- a/{package}/lib.js\n+++ b/{package}/lib.js\n@@ -1 +1 @@\n\
             -exports.answer = () => 41;\n+exports.answer = () => 42;\n"
        ),
    })
}

fn claim_py() -> Value {
    json!({
        "title": "wrong sum", "file": "shop.py", "line": 2, "severity_hint": "high",
        "category": "correctness",
        "test_code": "from shop import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n",
    })
}

/// A claim whose test may not be where it wants to be.
fn claim_elsewhere() -> Value {
    let mut claim = claim_py();
    claim["title"] = json!("another sum");
    claim["test_file"] = json!("../test_shop.py");
    claim
}

/// Packages and, with a conftest, Python code; in `repo` of a place of its own.
fn place(packages: &[(&str, &str)], conftest: Option<&str>, claims: &[Value]) -> (TempDir, String) {
    let place = directory(&[("repo/README.md", "A project.\n")]);
    let repo = place.path().join("repo");
    for (name, manifest) in packages {
        fs::create_dir_all(repo.join(name)).unwrap();
        fs::write(repo.join(name).join("package.json"), manifest).unwrap();
        fs::write(repo.join(name).join("lib.js"), LIB).unwrap();
    }
    if let Some(conftest) = conftest {
        fs::write(repo.join("shop.py"), "def add(a, b):\n    return a - b\n").unwrap();
        fs::write(repo.join("conftest.py"), conftest).unwrap();
    }
    git(&repo, &["init", "-q", "-b", "main"]);
    commit(&repo);
    let agent = recorded(place.path(), &json!(claims).to_string());
    (place, agent)
}

fn with_tools(run: Run, place: &Path) -> Run {
    let python = tools().join("python/bin");
    let path = format!("{}:{}", python.display(), std::env::var("PATH").unwrap());
    let at = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let run = run.dir(place).env("PATH", &path).env("XDG_CACHE_HOME", &at("cache"));
    run.env("XDG_STATE_HOME", &at("state"))
}

fn review(place: &Path, arguments: &[&str]) -> Run {
    let run = probity().args(["review"]).args(arguments);
    // What fails a review that has the score is not of interest here.
    with_tools(run.env("PROBITY_REVIEW__FAIL_ON", "none"), place)
}

/// There is no score, and nothing that reads the review takes it for a pass.
#[track_caller]
fn assert_no_review(place: &Path, output: &Path) {
    let page = review_in(output);
    assert_eq!((&page["status"], &page["score"]["pass"]), (&json!("error"), &json!(false)));
    assert!(!page["unstarted"].as_array().unwrap().is_empty(), "{page:#}");
    let file = output.join("review.json");
    let file = file.to_str().unwrap();
    let badge = review(place, &["badge", file]).run().code(0).stdout;
    assert!(badge.contains("no review"), "{badge}");
    review(place, &["gate", file, "--threshold", "0"]).run().code(2);
    let fix = ["fix", "--report", file, "--repo", "repo", "--allow-dirty"];
    review(place, &fix).run().code(2);
}

#[test]
fn a_review_of_which_no_test_could_start_has_no_score_however_it_is_run() {
    // Each is reviewed twice; `script/nightly` has the other ways in which a conftest.py can do it.
    let conftests = if is_whole() { &CONFTESTS[..] } else { &CONFTESTS[..1] };
    let mut cases: Vec<(TempDir, String)> = conftests
        .iter()
        .map(|conftest| place(&[], Some(conftest), &[claim_py(), claim_elsewhere()]))
        .collect();
    let both = [claim_js("web"), claim_py()];
    cases.push(place(&[NO_MOCHA], Some(CONFTESTS[1]), &both));
    cases.push(place(&[WORKS, NO_MOCHA], None, &[claim_js("web")]));
    for (number, (place, agent)) in cases.iter().enumerate() {
        let place = place.path();
        let whole = ["--repo", "repo", "--agent", agent, "--output", "review"];
        let told = review(place, &whole).run().code(2);
        assert!(told.stderr.contains("no review: "), "{number}: {}", told.stderr);
        assert_eq!(told.stdout, "", "{number}");
        assert_no_review(place, &place.join("review"));
        let step = named("ci-agent-review").env("AGENT_CLI", agent).env("OUTPUT_DIR", "step");
        with_tools(step, place).run().code(2);
        assert_no_review(place, &place.join("step"));
        // Nothing of it is a point of the trend.
        let history = review(place, &["history", "--repo", "repo", "--format", "json"]);
        let history: Value = serde_json::from_str(&history.run().code(0).stdout).unwrap();
        assert_eq!(history["reviews"][0]["status"], "error", "{history:#}");
    }
}

#[test]
fn shards_of_which_no_test_could_start_merge_into_no_review() {
    let (place, agent) = place(&[NO_MOCHA], Some(CONFTESTS[1]), &[claim_js("web"), claim_py()]);
    let place = place.path();
    let ask = ["ask", "--repo", "repo", "--agent", &agent, "--output", "out"];
    review(place, &ask).run().code(0);
    for shard in ["1/2", "2/2"] {
        let part = format!("part-{}.json", &shard[..1]);
        let prove =
            ["prove", "out/claims.json", "--repo", "repo", "--shard", shard, "--out", &part];
        review(place, &prove).run().code(0);
    }
    let merge = ["merge", "part-1.json", "part-2.json", "--repo", "repo", "--output", "out"];
    review(place, &merge).run().code(2);
    assert_no_review(place, &place.join("out"));
}

#[test]
fn a_package_of_which_no_test_could_start_comes_first_and_the_others_have_a_score() {
    let claims = [claim_js("api"), claim_js("web")];
    let (place, agent) = place(&[WORKS, NO_MOCHA], None, &claims);
    let place = place.path();
    let whole = ["--repo", "repo", "--agent", &agent, "--output", "review", "--format", "text"];
    let told = review(place, &whole).run().code(0).stdout;
    let first = "not tested: the one test for JavaScript in web could not start: ";
    assert!(told.starts_with(first), "{told}");
    let page = review_in(&place.join("review"));
    assert_eq!((&page["status"], &page["score"]["value"]), (&json!("ok"), &json!(8.5)));
    let unstarted = &page["unstarted"][0];
    assert_eq!(
        (&unstarted["language"], &unstarted["package"]),
        (&json!("JavaScript"), &json!("web"))
    );
    let summary = page["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("The one test for JavaScript in web could not start: "),
        "{summary}"
    );
    for (file, words) in [
        ("review.md", "The one test for JavaScript in web could not start"),
        ("review.html", "The one test for JavaScript in web could not start"),
        ("review.sarif", "the one test for JavaScript in web could not start"),
        ("review.junit.xml", "tests for JavaScript web"),
        ("review.gitlab.json", "Not tested: the one test for JavaScript in web"),
    ] {
        let text = fs::read_to_string(place.join("review").join(file)).unwrap();
        let (said, found) = (text.find(words), text.find("wrong answer"));
        assert!(said.is_some() && (file == "review.sarif" || said < found), "{file}: {text}");
    }
    let annotations = ["report", "review/review.json", "--format", "github-actions"];
    let annotations = review(place, &annotations).run().code(0).stdout;
    assert!(annotations.starts_with("::warning title=not tested::the one test"), "{annotations}");
}

#[test]
fn a_test_that_is_wrong_by_itself_leaves_a_score() {
    let mut broken = claim_js("api");
    broken["test_code"] = json!("const { = require(;\n");
    let mut elsewhere = claim_js("api");
    elsewhere["test_file"] = json!("../api.test.js");
    for claim in [broken, elsewhere] {
        let (place, agent) = place(&[WORKS], None, std::slice::from_ref(&claim));
        let place = place.path();
        let whole = ["--repo", "repo", "--agent", &agent, "--output", "review"];
        review(place, &whole).run().code(0);
        let page = review_in(&place.join("review"));
        assert_eq!(page["score"]["value"], 10.0, "{claim}: {page:#}");
        assert_eq!(page["unstarted"], Value::Null, "{claim}");
        assert_eq!(page["observations"].as_array().map(Vec::len), Some(1), "{claim}");
        // Without a remote a repository has the name of its directory.
        assert_eq!(page["metadata"]["repo"], "repo");
    }
}
