//! One review on several machines: equal to the whole, and refused where it could not be.

mod claims;

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::claims::{EXISTING, LATER, every_kind, later_fix, two_answers};
use super::{
    CODE, FIX, commit, findings, git, probity, recorded, repository, review_in, root,
    server::Server,
};
use crate::{
    binary::{Run, stable},
    whole_corpus::is_whole,
};

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
    // A part here and one on the other machine. `script/nightly` tries one part alone and more of them
    // as well.
    let counts: &[u32] = if is_whole() { &[1, 2, 3, 5] } else { &[2] };
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
    let mut refusals = Vec::new();
    for given in [
        vec![one],
        vec![one, two, one],
        vec![one, &foreign],
        vec![one, &of_three],
        vec![one, &other_version],
        vec![one, &tampered],
        vec![one, &garbage],
        vec![one, &huge],
        vec![one, &claims],
        vec![&stage.at("nothing.json")],
        vec![&stage.at("out")],
    ] {
        let given: Vec<&str> = given.iter().map(|path| path.as_str()).collect();
        let output = stage.run(&["merge", "--output", &stage.at("merged")]).args(&given).run();
        refusals.push(output.code(2).stderr.replace(env!("CARGO_PKG_VERSION"), "[version]"));
        assert!(!Path::new(&stage.at("merged/review.json")).exists(), "{given:?}");
    }
    insta::assert_snapshot!(stable(&refusals.concat()), @"
    error: the parts cannot be merged: of 2 parts these are missing: 2/2
      help: run `probity review prove --shard I/N` for them, and name all parts
    error: the parts cannot be merged: [dir]/part-1-2.json and [dir]/part-1-2.json are both shard 1/2
      help: name each part once
    error: the parts cannot be merged: [dir]/part-1-2.json and [dir]/foreign.json belong to different claims files
      help: name the parts of one claims file, made with the same N of `--shard I/N`
    error: the parts cannot be merged: [dir]/part-1-2.json is a part of 2, and [dir]/part-3-3.json is a part of 3
      help: name the parts of one claims file, made with the same N of `--shard I/N`
    error: [dir]/version.json cannot be used: it was written by probity 9[version], and this is [version]
      help: run `ask`, `prove` and `merge` with the same version of probity
    error: the parts cannot be merged: [dir]/tampered.json lacks results for some of its claims
      help: run `probity review prove` again for this shard
    error: [dir]/garbage.json is not text
      cause: stream did not contain valid UTF-8
      help: name a file that probity wrote
    error: [dir]/huge.json cannot be used: it has 524288000 bytes, the limit is 268435456
      help: name a file that `probity review ask` or `probity review prove` wrote
    error: [dir]/out/claims.json cannot be used: it is a claims file, not a part of a review
      help: name a file that `probity review ask` or `probity review prove` wrote
    error: cannot read [dir]/nothing.json
      cause: No such file or directory (os error 2)
      help: `probity review ask` writes claims, `probity review prove` writes parts
    error: cannot read [dir]/out
      cause: is a directory
      help: `probity review ask` writes claims, `probity review prove` writes parts
    ");
    stage.run(&["merge", "--output", &stage.at("merged"), one, two]).run().code(0);
    for shard in ["0/2", "3/2", "x", "1/0", "1/9999"] {
        let output = stage.run(&["prove", &claims, "--shard", shard]).run().code(2);
        let expected = format!(
            "error: invalid value '{shard}' for '--shard <I/N>': `{shard}` is not a shard; expected \
             I/N with I from 1 to N and N at most 1000, such as 2/3\n\n\
             For more information, try 'probity review prove --help'.\n"
        );
        assert_eq!(output.stderr, expected);
    }
}

#[test]
fn claims_about_other_code_are_not_proven() {
    let stage = Stage::new();
    let agent = recorded(stage.place.path(), &findings().to_string());
    let claims = stage.ask(&agent);
    let part = stage.prove(&claims, "1/1");
    let asked = git(stage.repo.path(), &["rev-parse", "HEAD"]);
    let mut refusals = Vec::new();
    let mut refused = || {
        let head = git(stage.repo.path(), &["rev-parse", "HEAD"]);
        for arguments in [["prove", &claims], ["merge", &part]] {
            let output = stage.run(&arguments).args(["--repo", "."]).run().code(2);
            refusals.push(output.stderr.replace(&head, "[head]").replace(&asked, "[asked]"));
        }
    };
    // A file that nobody has committed is one that tests see.
    fs::write(stage.repo.path().join("src/more.js"), "export const more = 1;\n").unwrap();
    refused();
    fs::remove_file(stage.repo.path().join("src/more.js")).unwrap();
    fs::write(stage.repo.path().join("src/numbers.js"), CODE.replace(" - 1", "")).unwrap();
    refused();
    commit(stage.repo.path());
    refused();
    insta::assert_snapshot!(stable(&refusals.concat()), @"
    error: the claims of [dir]/out/claims.json cannot be proven here: the files of the checkout are not those that the agent was asked about
      help: the working tree has uncommitted or untracked files, which `git status` lists: remove them, or run `probity review ask` again
    error: the parts cannot be merged: the files of the checkout are not those that the agent was asked about
      help: the working tree has uncommitted or untracked files, which `git status` lists: remove them, or run `probity review ask` again
    error: the claims of [dir]/out/claims.json cannot be proven here: the files of the checkout are not those that the agent was asked about
      help: the working tree has uncommitted or untracked files, which `git status` lists: remove them, or run `probity review ask` again
    error: the parts cannot be merged: the files of the checkout are not those that the agent was asked about
      help: the working tree has uncommitted or untracked files, which `git status` lists: remove them, or run `probity review ask` again
    error: the claims of [dir]/out/claims.json cannot be proven here: the file is about commit [asked], and the checkout is at [head]
      help: run `git checkout [asked]`, or run `probity review ask` again
    error: the parts cannot be merged: the file is about commit [asked], and the checkout is at [head]
      help: run `git checkout [asked]`, or run `probity review ask` again
    ");
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
    let told = output.stderr.replace(&git(stage.repo.path(), &["rev-parse", "main"]), "[main]");
    insta::assert_snapshot!(stable(&told), @"
    error: the claims of [dir]/out/claims.json cannot be proven here: the checkout does not have the merge base [main]
      help: fetch the history first (`git fetch --unshallow`, `fetch-depth: 0`, or GIT_DEPTH: 0)
    ");
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
    insta::assert_snapshot!(stable(&output.stdout), @"[dir]/part.json: shard 1/1 has 3 of 3 claims, 1 proven");
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
