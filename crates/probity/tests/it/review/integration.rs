//! The files that bring a review into a CI system, held against schemas, parsers and ourselves.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use super::{named, probity, root};

fn yaml(path: &str) -> Value {
    let text = fs::read_to_string(root(path)).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

fn task_schema() -> jsonschema::Validator {
    let text = fs::read_to_string(root("docs/schema/concourse-task.schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[track_caller]
fn is_task(task: &Value, name: &str) {
    let problem = task_schema().validate(task).err().map(|error| error.to_string());
    assert_eq!(problem, None, "{name}");
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn the_tasks_are_what_concourse_takes_and_what_we_read() {
    let review = yaml("ci/tasks/ci-agent-review.yml");
    is_task(&review, "ci-agent-review.yml");
    assert_eq!(review["run"]["path"], "/usr/local/bin/ci-agent-review");
    assert_eq!(
        (names(&review["inputs"]), names(&review["outputs"])),
        (vec!["repo", "review-config"], vec!["review"])
    );
    assert_eq!(review["inputs"][1]["optional"], true);
    let gate = yaml("ci/tasks/review-gate.yml");
    is_task(&gate, "review-gate.yml");
    assert_eq!(gate["run"]["args"], serde_json::json!(["gate", "review/review.json"]));
    // Every variable of the task is one that the help page names, or a key of an agent.
    let help = named("ci-agent-review").args(["--help"]).run().code(0).stdout;
    for task in [&review, &gate] {
        for name in task["params"].as_object().unwrap().keys() {
            let key = ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"].contains(&name.as_str());
            assert!(key || help.contains(name.as_str()), "{name}");
        }
    }
    let mut wrong = review.clone();
    wrong["ouputs"] = Value::Array(Vec::new());
    assert!(!task_schema().is_valid(&wrong));
}

#[test]
fn the_defaults_of_the_tasks_are_accepted() {
    let review = yaml("ci/tasks/ci-agent-review.yml");
    let place = tempfile::tempdir().unwrap();
    let params = review["params"].as_object().unwrap();
    let run = params.iter().fold(named("ci-agent-review"), |run, (name, value)| {
        run.env(name, value.as_str().unwrap())
    });
    // They are all read before it is noticed that there is nothing to review.
    let output = run.dir(place.path()).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: there is no repository in repo
      help: name its directory with --repo, or REPO_DIR
    ");
}

#[test]
fn in_the_pipeline_the_review_runs_beside_the_tests_and_blocks_nothing() {
    let pipeline = yaml("deploy/borg-pipeline.yml");
    let jobs = pipeline["jobs"].as_array().unwrap();
    assert_eq!(names(&pipeline["jobs"]), ["unit-tests", "review"]);
    let known: BTreeSet<&str> = names(&pipeline["resources"]).into_iter().collect();
    let mut steps: Vec<&Value> =
        jobs.iter().flat_map(|job| job["plan"].as_array().unwrap()).collect();
    let mut tasks = Vec::new();
    while let Some(step) = steps.pop() {
        let step = step.as_object().unwrap();
        assert!(!step.contains_key("passed"), "a job that waits for another");
        if let Some(parallel) = step.get("in_parallel") {
            steps.extend(parallel.as_array().unwrap());
        } else if let Some(tried) = step.get("try") {
            steps.push(tried);
        } else if let Some(got) = step.get("get") {
            assert!(known.contains(got.as_str().unwrap()), "{got}");
        } else {
            let task = step.get("task").and_then(Value::as_str).unwrap();
            tasks.push(task);
            match (step.get("file"), step.get("config")) {
                (Some(file), None) => {
                    let file = file.as_str().unwrap().strip_prefix("repo/").unwrap();
                    let config = yaml(file);
                    let params = step["params"].as_object().unwrap().keys();
                    for name in params {
                        assert!(config["params"].get(name).is_some(), "{task}: {name}");
                    }
                    let image = step["image"].as_str().unwrap();
                    assert!(known.contains(image), "{image}");
                }
                (None, Some(config)) => is_task(config, task),
                other => panic!("{task}: {other:?}"),
            }
        }
    }
    tasks.sort_unstable();
    assert_eq!(tasks, ["gate", "review", "unit-tests"]);
}

#[test]
fn the_image_is_clean_by_our_own_measure_and_has_what_the_task_runs() {
    let path = root("deploy/Dockerfile.ci-agent");
    let output = probity().args(["check", path.to_str().unwrap()]).run().code(0);
    insta::assert_snapshot!(output.stdout, @"No findings in 1 file.");
    let text = fs::read_to_string(path).unwrap();
    for needed in ["/usr/local/bin/ci-agent-review", "golang:", "git=", "/opt/agent/bin"] {
        assert!(text.contains(needed), "{needed}");
    }
    assert_eq!(text.matches("\nFROM ").count(), 2, "a stage to build in and one to run in");
}

#[test]
fn the_workflow_has_flags_that_exist_and_no_key_in_a_script() {
    let workflow = yaml("deploy/github-review.yml");
    assert_eq!(workflow["jobs"]["review"]["steps"][0]["with"]["fetch-depth"], 0);
    for (job, command, least) in
        [("review", &["review"][..], 4), ("publish", &["review", "publish"], 2)]
    {
        let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
        let scripts: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
        assert!(scripts.iter().all(|script| !script.contains("${{")), "{scripts:?}");
        let is_review = |script: &&str| script.contains("probity review");
        let script = scripts.iter().copied().find(is_review).unwrap();
        let help = probity().args(command.iter().copied()).args(["--help"]).run().code(0).stdout;
        let flags: Vec<&str> =
            script.split_whitespace().filter(|word| word.starts_with("--")).collect();
        assert!(flags.len() >= least, "{script}");
        for flag in flags {
            assert!(help.contains(flag), "{flag}");
        }
    }
}
