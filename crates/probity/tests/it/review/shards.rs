//! One review on several machines: equal to the whole, and refused where it could not be.

use std::{env, fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    CODE, FIX, commit, findings, git, recorded, repository, review_in, root, server::Server,
};
use crate::binary::{Run, probity};

/// A repository, its checkout on another machine, and what reviews of it leave.
struct Stage {
    repo: TempDir,
    place: TempDir,
}

impl Stage {
    fn new() -> Self {
        let repo = repository();
        fs::write(repo.path().join("src/later.js"), LATER).unwrap();
        fs::write(repo.path().join("src/numbers.test.js"), EXISTING).unwrap();
        fs::write(repo.path().join("calc.rb"), "def add(a, b) = a - b\n").unwrap();
        commit(repo.path());
        Self { repo, place: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> String {
        self.place.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = probity().args(["review"]).args(arguments).dir(self.repo.path());
        run.env("XDG_STATE_HOME", &self.at("state")).env("XDG_CACHE_HOME", &self.at("cache"))
    }

    /// A checkout of the same commit elsewhere.
    fn clone(&self, name: &str) -> String {
        let at = self.at(name);
        git(self.place.path(), &["clone", "-q", self.repo.path().to_str().unwrap(), name]);
        at
    }

    fn ask(&self, agent: &str) -> String {
        self.run(&["ask", "--agent", agent, "--output", &self.at("out")]).run().code(0);
        self.at("out/claims.json")
    }

    fn prove(&self, claims: &str, shard: &str) -> String {
        let part = self.at(&format!("part-{}.json", shard.replace('/', "-")));
        self.run(&["prove", claims, "--shard", shard, "--out", &part]).run().code(0);
        part
    }
}

const LATER: &str = "\
export function twice(value) {
  return value + value + 1;
}

export function half(value) {
  return value / 3;
}
";

const EXISTING: &str = "\
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

fn later_fix(old: &str, new: &str) -> String {
    format!(
        "--- a/src/later.js\n+++ b/src/later.js\n@@ -1,3 +1,3 @@\n export function twice(value) {{\n-  return {old};\n+  return {new};\n }}\n"
    )
}

/// Claims of every kind: proven, proven without a fix, proven by a fix that comes later, unfounded,
/// not proven, a cheat, a test that does not load, skips itself, hides where tests may not be, is not
/// there or hangs, no test, a file that is not under review, and one that does not exist.
fn every_kind() -> Vec<Value> {
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
fn two_answers(directory: &Path, findings: &Value, fixes: &Value) -> String {
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

/// Without times, which are never the same twice.
fn timeless(mut review: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let is_time = ["timestamp", "duration_seconds", "milliseconds"];
                    if is_time.contains(&name.as_str()) {
                        *value = Value::Null;
                    } else if name == "test_output" {
                        let text = value.as_str().unwrap();
                        let digits = |char: &char| !char.is_ascii_digit() && *char != '.';
                        *value = text.chars().filter(digits).collect::<String>().into();
                    } else {
                        strip(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut review);
    review
}

fn outcomes(review: &Value) -> Vec<String> {
    let all = ["proven_issues", "observations", "discarded"];
    let items = all.iter().flat_map(|list| review[*list].as_array().unwrap());
    let mut outcomes: Vec<String> =
        items.filter_map(|item| Some(item["proof"]["outcome"].as_str()?.to_owned())).collect();
    outcomes.sort();
    outcomes.dedup();
    outcomes
}

#[test]
fn parts_give_the_review_that_the_whole_gives() {
    let stage = Stage::new();
    // A review before, so that a known issue is among the claims.
    let first = recorded(stage.place.path(), &json!([findings()[0]]).to_string());
    stage.run(&["--agent", &first, "--output", &stage.at("before")]).run().code(0);
    let history = |number: u32| {
        let copy = stage.at(&format!("history-{number}.sqlite"));
        fs::copy(stage.at("state/probity/reviews.sqlite"), &copy).unwrap();
        format!("sqlite:{copy}")
    };
    let told = Value::from(&every_kind()[1..]);
    let right = later_fix("value + value + 1", "value + value");
    let fixes = json!({ "findings": [], "fixes": [{ "id": "003", "fix_patch": right }] });
    let both = two_answers(stage.place.path(), &told, &fixes);
    let out = stage.at("whole");
    let config = stage.at("review.yml");
    fs::write(&config, "proof: { timeout_seconds: 10 }\n").unwrap();
    let run = stage.run(&["--agent", &both, "--output", &out, "--database-url", &history(0)]);
    run.args(["--report-only", "--config", &config]).run().code(0);
    let whole = review_in(Path::new(&out));
    assert_eq!(
        outcomes(&whole),
        ["build-error", "failed", "not-run", "passed", "rejected", "skipped", "timeout"],
        "{whole:#}"
    );
    let titles = |list: &str| -> Vec<String> {
        let items = whole[list].as_array().unwrap().iter();
        items.map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    };
    let proven = titles("proven_issues");
    assert_eq!(
        proven,
        ["twice adds one", "half is a third", "the average is wrong"],
        "the first by the second fix, the second without any, the third from the history: {whole:#}"
    );

    let findings_only = recorded(stage.place.path(), &told.to_string());
    let second = tempfile::tempdir().unwrap();
    let fixes_only = recorded(second.path(), &fixes.to_string());
    // One part, and more than one on the other machine. `script/nightly` sets the variable, and tries
    // a whole number of claims in each part and an odd rest as well.
    let is_whole = env::var_os("PROBITY_WHOLE_CORPUS").is_some();
    let counts: &[u32] = if is_whole { &[1, 2, 3, 5] } else { &[1, 3] };
    for &shards in counts {
        let url = history(shards);
        let at = |name: &str| stage.at(&format!("{shards}-{name}"));
        let elsewhere = stage.clone(&format!("clone-{shards}"));
        git(Path::new(&elsewhere), &["remote", "remove", "origin"]);
        let out = at("out");
        stage
            .run(&["ask", "--agent", &findings_only, "--output", &out, "--database-url", &url])
            .args(["--config", &config])
            .run()
            .code(0);
        let mut claims = format!("{out}/claims.json");
        check_schema(&claims);
        for round in 1..=2 {
            let mut parts = Vec::new();
            for index in 1..=shards {
                let part = at(&format!("{round}-part-{index}.json"));
                let shard = format!("{index}/{shards}");
                // Every shard but the first is on another machine.
                let repo =
                    if index == 1 { stage.repo.path().to_str().unwrap() } else { &elsewhere };
                let run = stage.run(&["prove", &claims, "--shard", &shard, "--out", &part]);
                run.args(["--repo", repo]).run().code(0);
                check_schema(&part);
                parts.push(part);
            }
            // In whatever order a shell lists them.
            parts.reverse();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            if round == 1 {
                claims = at("again.json");
                let run = stage.run(&["ask", "--agent", &fixes_only, "--output", &out]);
                let run = run.args(["--out", &claims, "--database-url", &url]);
                run.args(["--continue"]).args(&parts).run().code(0);
                continue;
            }
            let run = stage.run(&["merge", "--output", &out, "--database-url", &url]);
            run.args(["--report-only"]).args(&parts).run().code(0);
        }
        let merged = review_in(Path::new(&out));
        let (mut merged, mut whole) = (timeless(merged), timeless(whole.clone()));
        // The recordings have other names.
        for review in [&mut merged, &mut whole] {
            review["metadata"]["agent_cli"] = Value::Null;
        }
        assert_eq!(merged, whole, "{shards} shards");
        let list = stage.run(&["history", "--format", "json", "--database-url", &url]).run();
        let list: Value = serde_json::from_str(&list.code(0).stdout).unwrap();
        assert_eq!(list["reviews"].as_array().unwrap().len(), 2, "stored once: {list:#}");
    }
}

/// Each step with a state directory of its own, as machines have it: only the server knows of the others.
#[test]
fn machines_share_the_history_of_a_database_server() {
    let stage = Stage::new();
    let server = Server::start();
    let url = server.url();
    let on = |machine: &str, arguments: &[&str]| {
        let run = stage.run(arguments).env("XDG_STATE_HOME", &stage.at(machine));
        run.env("DATABASE_URL", &url)
    };
    let agent = recorded(stage.place.path(), &findings().to_string());
    let elsewhere = stage.clone("elsewhere");
    git(Path::new(&elsewhere), &["remote", "remove", "origin"]);
    let out = stage.at("out");
    let review = |number: u32, agent: &str| {
        on("asks", &["ask", "--agent", agent, "--output", &out]).run().code(0);
        let claims = format!("{out}/claims.json");
        let parts = [1, 2].map(|index| {
            let part = stage.at(&format!("{number}-{index}.json"));
            let shard = format!("{index}/2");
            let repo = if index == 1 { stage.repo.path().to_str().unwrap() } else { &elsewhere };
            let run = on(&shard, &["prove", &claims, "--shard", &shard, "--out", &part]);
            run.args(["--repo", repo]).run().code(0);
            part
        });
        let [one, two] = &parts;
        let run = on("merges", &["merge", "--output", &out, "--report-only", one, two]);
        let output = run.run().code(0);
        assert!(!output.stderr.contains("history"), "{}", output.stderr);
        review_in(Path::new(&out))
    };
    let first = review(1, &agent);
    assert_eq!(first["proven_issues"].as_array().unwrap().len(), 1, "{first:#}");
    // An agent that sees nothing: the known issue comes from the server, and is proven by a shard.
    let silent = recorded(stage.place.path(), "[]");
    let second = review(2, &silent);
    assert_eq!(second["changes"]["known"], json!(["ISS-001"]), "{second:#}");
    assert_eq!(second["proven_issues"][0]["title"], "the average is wrong");
    let list = on("reads", &["history", "--format", "json"]).run().code(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list["reviews"].as_array().unwrap().len(), 2, "each is stored once: {list:#}");
    let local: Vec<&str> = ["asks", "1/2", "2/2", "merges", "reads"]
        .into_iter()
        .filter(|machine| Path::new(&stage.at(machine)).join("probity/reviews.sqlite").exists())
        .collect();
    assert_eq!(local, [""; 0], "nothing is stored on the machines");
}

fn check_schema(file: &str) {
    let schema = fs::read_to_string(root("docs/schema/claims.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let value: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let problem = schema.validate(&value).err();
    let problem = problem.map(|error| format!("{error} at {}", error.instance_path()));
    assert_eq!(problem, None, "{file}");
    let mut other = value;
    other["tree"] = json!("");
    other["results"] = json!(3);
    assert!(!schema.is_valid(&other), "{file}");
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let stage = Stage::new();
    let agent = recorded(stage.place.path(), &findings().to_string());
    let claims = stage.ask(&agent);
    let parts = ["1/2", "2/2"].map(|shard| stage.prove(&claims, shard));
    let of_three = stage.prove(&claims, "3/3");
    let (other, foreign) = (stage.at("other.json"), stage.at("foreign.json"));
    let silent = recorded(stage.place.path(), "[]");
    stage.run(&["ask", "--agent", &silent, "--out", &other]).run().code(0);
    stage.run(&["prove", &other, "--shard", "2/2", "--out", &foreign]).run().code(0);
    let other_version = stage.at("version.json");
    let text = fs::read_to_string(&parts[1]).unwrap();
    fs::write(&other_version, text.replace("\"probity\": \"", "\"probity\": \"9")).unwrap();
    let tampered = stage.at("tampered.json");
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value["results"]["proved"] = json!([]);
    fs::write(&tampered, value.to_string()).unwrap();
    let garbage = stage.at("garbage.json");
    fs::write(&garbage, b"\xff\xfe not json").unwrap();
    let huge = stage.at("huge.json");
    fs::File::create(&huge).unwrap().set_len(500 << 20).unwrap();
    let [one, two] = [&parts[0], &parts[1]];
    for (given, words, help) in [
        (vec![one], "of 2 parts these are missing: 2/2", "--shard I/N"),
        (vec![one, two, one], "are both shard 1/2", "name each part once"),
        (vec![one, &foreign], "belong to different claims files", "of one claims file"),
        (vec![one, &of_three], "is a part of 2, and", "the same N"),
        (vec![one, &other_version], "was written by probity 9", "the same version"),
        (vec![one, &tampered], "lacks results for some of its claims", "prove` again"),
        (vec![one, &garbage], "is not text", "that probity wrote"),
        (vec![one, &huge], "it has 524288000 bytes, the limit is 268435456", "`probity review"),
        (vec![one, &claims], "it is a claims file, not a part of a review", "prove` wrote"),
        (vec![&stage.at("nothing.json")], "nothing.json", "prove` writes parts"),
        (vec![&stage.at("out")], "out", "prove` writes parts"),
    ] {
        let given: Vec<&str> = given.iter().map(|path| path.as_str()).collect();
        let output = stage.run(&["merge", "--output", &stage.at("merged")]).args(&given).run();
        let output = output.code(2);
        assert!(output.stderr.contains(words), "{given:?}: {}", output.stderr);
        assert!(output.stderr.contains(help), "{given:?}: {}", output.stderr);
        assert!(!Path::new(&stage.at("merged/review.json")).exists(), "{given:?}");
    }
    stage.run(&["merge", "--output", &stage.at("merged"), one, two]).run().code(0);
    for shard in ["0/2", "3/2", "x", "1/0", "1/9999"] {
        let output = stage.run(&["prove", &claims, "--shard", shard]).run().code(2);
        assert!(output.stderr.contains("is not a shard"), "{}", output.stderr);
    }
}

#[test]
fn claims_about_other_code_are_not_proven() {
    let stage = Stage::new();
    let agent = recorded(stage.place.path(), &findings().to_string());
    let claims = stage.ask(&agent);
    let part = stage.prove(&claims, "1/1");
    let refused = |words: &str, help: &str| {
        for arguments in [["prove", &claims], ["merge", &part]] {
            let output = stage.run(&arguments).args(["--repo", "."]).run().code(2);
            assert!(output.stderr.contains(words), "{}", output.stderr);
            assert!(output.stderr.contains(help), "{}", output.stderr);
        }
    };
    // A file that nobody has committed is one that tests see.
    fs::write(stage.repo.path().join("src/more.js"), "export const more = 1;\n").unwrap();
    refused("are not those that the agent was asked about", "`git status`");
    fs::remove_file(stage.repo.path().join("src/more.js")).unwrap();
    fs::write(stage.repo.path().join("src/numbers.js"), CODE.replace(" - 1", "")).unwrap();
    refused("are not those that the agent was asked about", "`git status`");
    commit(stage.repo.path());
    refused("and the checkout is at", "git checkout");
    git(stage.repo.path(), &["checkout", "-q", "HEAD~"]);
    // Its own files may lie in the checkout, all of them.
    fs::copy(&claims, stage.repo.path().join("claims.json")).unwrap();
    for shard in ["1/2", "2/2"] {
        stage.run(&["prove", "claims.json", "--shard", shard]).run().code(0);
    }
    stage.run(&["merge", "part-1-of-2.json", "part-2-of-2.json"]).run().code(0);
}

#[test]
fn a_shallow_clone_without_the_merge_base_says_so() {
    let stage = Stage::new();
    git(stage.repo.path(), &["checkout", "-q", "-b", "topic"]);
    fs::write(stage.repo.path().join("src/numbers.js"), format!("{CODE}// more\n")).unwrap();
    commit(stage.repo.path());
    let agent = recorded(stage.place.path(), &findings().to_string());
    let out = stage.at("out");
    let run = stage.run(&["ask", "--agent", &agent, "--output", &out, "--diff-only"]);
    run.args(["--base", "main"]).run().code(0);
    let url = format!("file://{}", stage.repo.path().display());
    let mut clone = Command::new("git");
    clone.args(["clone", "-q", "--depth", "1", "--branch", "topic", &url]).arg(stage.at("shallow"));
    assert!(clone.status().unwrap().success());
    let claims = stage.at("out/claims.json");
    let run = stage.run(&["prove", &claims, "--repo", &stage.at("shallow")]);
    let output = run.run().code(2);
    assert!(output.stderr.contains("does not have the merge base"), "{}", output.stderr);
    assert!(output.stderr.contains("fetch-depth: 0"), "{}", output.stderr);
    // With it, another machine needs no branch of that name.
    let whole = stage.clone("full");
    git(Path::new(&whole), &["checkout", "-q", "topic"]);
    git(Path::new(&whole), &["remote", "remove", "origin"]);
    stage.run(&["prove", &claims, "--repo", &whole, "--out", &stage.at("p.json")]).run().code(0);
    stage.run(&["merge", &stage.at("p.json"), "--output", &out]).run().code(0);
    assert_eq!(review_in(Path::new(&out))["proven_issues"][0]["introduced"], false);
}

#[test]
fn a_log_has_one_line_for_each_claim() {
    let stage = Stage::new();
    let mut told = findings();
    told[2]["fix_patch"] = json!(FIX);
    let agent = recorded(stage.place.path(), &told.to_string());
    let claims = stage.ask(&agent);
    let run = stage.run(&["prove", &claims, "--out", &stage.at("part.json"), "--jobs", "1"]);
    let output = run.run().code(0);
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "1 of 3 claims: src/numbers.js:4: the average is wrong: proven (P3)",
            "2 of 3 claims: src/numbers.js:8: clamp mixes up its bounds: not proven (test passed, P0)",
            "3 of 3 claims: src/numbers.js:8: clamp loses numbers: not proven (test failed, P1)",
        ]
    );
    assert!(
        output.stdout.ends_with("shard 1/1 has 3 of 3 claims, 1 proven\n"),
        "{}",
        output.stdout
    );
    let quiet = stage.run(&["prove", &claims, "--out", &stage.at("part.json"), "-q"]).run().code(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn an_agent_that_fails_leaves_no_claims_and_says_so_in_a_review() {
    let stage = Stage::new();
    let agent = recorded(stage.place.path(), &findings().to_string());
    let claims = stage.ask(&agent);
    let silent = recorded(stage.place.path(), "I see nothing.");
    let run = stage.run(&["ask", "--agent", &silent, "--output", &stage.at("out")]);
    run.run().code(2);
    assert!(!Path::new(&claims).exists(), "those of yesterday are gone");
    assert_eq!(review_in(Path::new(&stage.at("out")))["status"], "error");
}
