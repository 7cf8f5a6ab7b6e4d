//! Reviews in several jobs: a GitHub matrix, parallel GitLab jobs, and shards of Concourse and Kubernetes.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::Value;

use super::{
    Machine, assert_published, changed_clone, forge_for, releases, reviewing, shell_steps, yaml,
};
use crate::{
    packages::VERSION,
    review::{
        git,
        publish::server::{Api, TOKEN},
    },
};

fn proven_in(directory: &Path) -> Value {
    let text = fs::read_to_string(directory.join("review.json")).unwrap();
    let review: Value = serde_json::from_str(&text).unwrap();
    review["proven_issues"][0]["title"].clone()
}

#[test]
fn the_matrix_of_github_asks_proves_merges_and_publishes() {
    let (server, (origin, place)) = (releases(), changed_clone());
    let mut machine = reviewing(place.path(), &server);
    let forge = forge_for(&mut machine, Api::Github);
    machine.values.insert("github.token", TOKEN.to_owned());
    let workflow = yaml("deploy/github-review-shards.yml");
    assert_eq!(workflow["env"]["PROBITY_VERSION"], VERSION);
    machine.values.insert("github.base_ref", git(origin.path(), &["branch", "--show-current"]));
    machine.values.insert("secrets.ANTHROPIC_API_KEY", "a key".to_owned());
    let url = machine.variables["DATABASE_URL"].clone();
    machine.values.insert("secrets.REVIEW_DATABASE_URL", url);
    let shards = workflow["jobs"]["prove"]["strategy"]["matrix"]["shard"].as_array().unwrap().len();
    machine.values.insert("strategy.job-total", shards.to_string());
    let run = |machine: &Machine, job: &str| {
        for step in shell_steps(&workflow["jobs"][job]["steps"]) {
            let (code, said) = machine.run(step);
            assert_eq!(code, Some(0), "{job}: {}\n{said}", step["name"]);
        }
    };
    run(&machine, "ask");
    for shard in 1..=shards {
        machine.values.insert("matrix.shard", shard.to_string());
        run(&machine, "prove");
    }
    run(&machine, "merge");
    assert_eq!(proven_in(&machine.at("temp/review")), "the average is wrong");
    assert!(place.path().join("reviews.db").exists());
    run(&machine, "publish");
    assert_published(&forge);
}

#[test]
fn the_parallel_jobs_of_gitlab_ask_prove_merge_and_publish() {
    let (server, (origin, place)) = (releases(), changed_clone());
    let mut machine = reviewing(place.path(), &server);
    let forge = forge_for(&mut machine, Api::Gitlab);
    let jobs = yaml("deploy/gitlab-review-shards.yml");
    assert_eq!(jobs[".probity"]["variables"]["PROBITY_VERSION"], VERSION);
    let base = git(origin.path(), &["branch", "--show-current"]);
    machine.variables.insert("CI_MERGE_REQUEST_TARGET_BRANCH_NAME".to_owned(), base);
    let (bin, temp) = (machine.at("bin"), machine.at("temp"));
    let run = |machine: &Machine, job: &str| {
        let lines = |value: &Value| value.as_array().unwrap().clone();
        // The image's own preparation needs Debian's servers; what follows is ours.
        let before = lines(&jobs[".probity"]["before_script"]).into_iter().skip(1);
        let script: Vec<String> = before
            .chain(lines(&jobs[job]["script"]))
            .map(|line| line.as_str().unwrap().replace("/tmp", temp.to_str().unwrap()))
            .map(|line| line.replace("/usr/local/bin", bin.to_str().unwrap()))
            .collect();
        let (code, said) = machine.run(&serde_json::json!({ "run": script.join("\n") }));
        assert_eq!(code, Some(0), "{job}\n{said}");
    };
    run(&machine, "review-ask");
    // A job gets the artifacts of those before it, and a checkout that has nothing else.
    let keep = |machine: &Machine, pattern: &str| {
        for entry in fs::read_dir(machine.checkout.join("review")).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if !name.starts_with(pattern) && entry.path().is_file() {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    };
    keep(&machine, "claims");
    let shards = jobs["review-prove"]["parallel"].as_u64().unwrap();
    machine.variables.insert("CI_NODE_TOTAL".to_owned(), shards.to_string());
    for shard in 1..=shards {
        machine.variables.insert("CI_NODE_INDEX".to_owned(), shard.to_string());
        run(&machine, "review-prove");
    }
    keep(&machine, "part-");
    run(&machine, "review-merge");
    let review = machine.checkout.join("review");
    assert_eq!(proven_in(&review), "the average is wrong");
    for report in ["review.gitlab.json", "review.junit.xml"] {
        assert!(review.join(report).exists(), "{report}");
    }
    run(&machine, "review-publish");
    assert_published(&forge);
}

#[test]
fn the_shards_of_concourse_and_kubernetes_ask_prove_and_merge() {
    let (server, (_origin, place)) = (releases(), changed_clone());
    let mut machine = reviewing(place.path(), &server);
    // Both run in an image that has the program.
    symlink(env!("CARGO_BIN_EXE_probity"), machine.at("bin").join("probity")).unwrap();

    // Concourse gives a task its inputs beside each other.
    machine.checkout = place.path().to_owned();
    for directory in ["claims", "review", "store"] {
        fs::create_dir(place.path().join(directory)).unwrap();
    }
    let store = format!("file://{}", place.path().join("store").display());
    machine.variables.insert("PARTS_URL".to_owned(), store);
    let pipeline = yaml("deploy/concourse-review-shards.yml");
    let plan = pipeline["jobs"][0]["plan"].as_array().unwrap();
    let task = |name: &str| plan.iter().find(|step| step["task"] == name).unwrap();
    let run = |machine: &Machine, name: &str| {
        let script = &task(name)["config"]["run"]["args"][1];
        let (code, said) = machine.run(&serde_json::json!({ "run": script }));
        assert_eq!(code, Some(0), "{name}\n{said}");
    };
    run(&machine, "ask");
    let values = task("prove")["across"][0]["values"].as_array().unwrap();
    for name in ["prove", "merge"] {
        assert_eq!(task(name)["config"]["params"]["SHARDS"], values.len());
    }
    machine.variables.insert("SHARDS".to_owned(), values.len().to_string());
    for shard in values {
        machine.variables.insert("SHARD".to_owned(), shard.to_string());
        run(&machine, "prove");
    }
    run(&machine, "merge");
    assert_eq!(proven_in(&place.path().join("review")), "the average is wrong");

    let job = yaml("deploy/kubernetes-review.yml");
    assert_eq!(job["spec"]["completionMode"], "Indexed");
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let shards = job["spec"]["completions"].as_u64().unwrap();
    assert_eq!(container["env"][0]["value"], shards.to_string());
    fs::copy(place.path().join("claims/claims.json"), place.path().join("claims.json")).unwrap();
    for index in 0..shards {
        machine.variables.insert("JOB_COMPLETION_INDEX".to_owned(), index.to_string());
        let (code, said) = machine.run(&serde_json::json!({ "run": container["command"][2] }));
        assert_eq!(code, Some(0), "{said}");
    }
    let merge = "probity review merge parts/part-*.json --repo repo --output of-kubernetes";
    let (code, said) = machine.run(&serde_json::json!({ "run": merge }));
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(proven_in(&place.path().join("of-kubernetes")), "the average is wrong");
}
