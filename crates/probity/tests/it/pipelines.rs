//! Hooks, actions and pipeline files: valid by their published schemas, and their shell steps run in
//! order, in an empty environment, with a stand-in for the page of releases.

mod shards;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    agent::executable,
    file_server::FileServer,
    packages::{VERSION, packed},
    review::{
        commit, findings, git,
        publish::{
            FILE, HUNKS,
            server::{Api, Forge, TOKEN},
        },
        recorded, repository, root,
    },
};

/// The page of releases, with an archive for this machine. The program in it starts the one that is
/// tested: each job of a pipeline unpacks it, and a debug build has a hundred megabytes. The tests of
/// packages look at what a real archive has.
fn releases() -> FileServer {
    let server = FileServer::start();
    let place = tempfile::tempdir().unwrap();
    let name = format!("probity-{VERSION}-x86_64-unknown-linux-gnu");
    let program = place.path().join(&name).join("probity");
    fs::create_dir(place.path().join(&name)).unwrap();
    let starts = format!("#!/bin/bash\nexec -a \"$0\" {} \"$@\"\n", env!("CARGO_BIN_EXE_probity"));
    fs::write(&program, starts).unwrap();
    executable(&program);
    let packs = format!("tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > SHA256SUMS");
    let packed = Command::new("sh").args(["-c", &packs]).current_dir(&place).status();
    assert!(packed.unwrap().success());
    for file in [format!("{name}.tar.gz"), "SHA256SUMS".to_owned()] {
        let content = fs::read(place.path().join(&file)).unwrap();
        server.serve(&format!("/v{VERSION}/{file}"), content);
    }
    server
}

/// A machine of a CI system: a checkout, a directory for temporary files, and what steps leave for
/// later ones.
struct Machine {
    place: tempfile::TempDir,
    checkout: PathBuf,
    /// What each `${{ … }}` stands for; one that is not listed is an error.
    values: BTreeMap<&'static str, String>,
    variables: BTreeMap<String, String>,
}

impl Machine {
    fn new(checkout: PathBuf) -> Self {
        let place = tempfile::tempdir().unwrap();
        for directory in ["temp", "home", "bin"] {
            fs::create_dir(place.path().join(directory)).unwrap();
        }
        for file in ["path", "output"] {
            fs::write(place.path().join(file), "").unwrap();
        }
        Self { place, checkout, values: BTreeMap::new(), variables: BTreeMap::new() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// A program that a hosted runner has and this machine may lack: it notes its arguments.
    fn stand_in(&self, name: &str) {
        let path = self.at("bin").join(name);
        let notes = self.at("notes");
        fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >> {}\n", notes.display()))
            .unwrap();
        executable(&path);
    }

    fn expand(&self, text: &str) -> String {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let (expression, after) = after.split_once("}}").unwrap();
            let value = self.values.get(expression.trim());
            assert!(value.is_some(), "no value for {expression}");
            expanded += before;
            expanded += value.unwrap();
            rest = after;
        }
        expanded + rest
    }

    /// Runs the shell part of a step; gives its exit code and what it printed.
    fn run(&self, step: &Value) -> (Option<i32>, String) {
        let added = fs::read_to_string(self.at("path")).unwrap();
        let mut path: Vec<&str> = added.lines().rev().collect();
        let own = self.at("bin");
        path.extend([own.to_str().unwrap(), "/usr/local/bin:/usr/bin:/bin"]);
        let mut shell = Command::new("bash");
        shell.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c"]);
        shell.arg(self.expand(step["run"].as_str().unwrap()));
        shell.env_clear().current_dir(&self.checkout).envs(&self.variables);
        shell.env("PATH", path.join(":")).env("HOME", self.at("home"));
        shell.env("RUNNER_TEMP", self.at("temp")).env("GITHUB_PATH", self.at("path"));
        shell.env("GITHUB_OUTPUT", self.at("output"));
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            shell.env(name, self.expand(value.as_str().unwrap()));
        }
        let output = shell.output().unwrap();
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    }
}

fn yaml(path: &str) -> Value {
    let text = fs::read_to_string(root(path)).unwrap();
    // Only the second document of a GitLab component has jobs.
    let text = text.rsplit("\n---\n").next().unwrap().to_owned();
    serde_saphyr::from_str(&text).unwrap()
}

/// The steps that have a shell part.
fn shell_steps(steps: &Value) -> Vec<&Value> {
    steps.as_array().unwrap().iter().filter(|step| step["run"].is_string()).collect()
}

/// A checkout with a Dockerfile that has one defect.
fn checkout() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("Dockerfile"), "FROM debian:12\nRUN sudo true\n").unwrap();
    directory
}

/// The report about a file whose second line calls sudo.
const SUDO: &str = "\
Dockerfile:2:5: error: do not use sudo; switch with USER, or at run time with gosu [hadolint/DL3004]
2 | RUN sudo true
  |     ^^^^ run it without sudo (--fix --fix-unsafe)

1 finding in 1 of 1 file: 1 error.
Fixable: 1 with `--fix --fix-unsafe`.
Explain: `probity explain hadolint/DL3004`.
";

#[test]
fn the_action_installs_a_release_annotates_and_writes_sarif() {
    let (server, checkout) = (releases(), checkout());
    let mut machine = Machine::new(checkout.path().to_owned());
    let base = "inputs.download-url || format('{0}/{1}/releases/download', github.server_url, github.action_repository)";
    machine.values.insert(base, server.address());
    for (name, value) in [
        ("inputs.version", VERSION),
        ("inputs.command", "check"),
        ("inputs.args", "--preset\nstrict\n"),
        ("github.base_ref", ""),
    ] {
        machine.values.insert(name, value.to_owned());
    }
    let action = yaml("action.yml");
    assert_eq!(action["inputs"]["version"]["default"], VERSION);
    let steps = shell_steps(&action["runs"]["steps"]);
    let (code, said) = machine.run(steps[0]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = machine.run(steps[1]);
    assert_eq!(code, Some(1), "{said}");
    insta::assert_snapshot!(said, @"::error file=Dockerfile,line=2,col=5,endLine=2,endColumn=9,title=hadolint/DL3004::do not use sudo; switch with USER, or at run time with gosu");
    let output = fs::read_to_string(machine.at("output")).unwrap();
    let sarif = output.trim().strip_prefix("sarif-file=").unwrap();
    let sarif: Value = serde_json::from_str(&fs::read_to_string(sarif).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["name"], "probity");
    // A release that was changed on its way is not installed.
    let archive = format!("/v{VERSION}/probity-{VERSION}-x86_64-unknown-linux-gnu.tar.gz");
    server.serve(&archive, b"something else".to_vec());
    assert_ne!(machine.run(steps[0]).0, Some(0));
}

#[test]
fn the_review_workflow_installs_what_it_uses_keeps_history_and_publishes() {
    let (server, (origin, place)) = (releases(), changed_clone());
    let mut machine = reviewing(place.path(), &server);
    machine.variables.remove("DATABASE_URL");
    let forge = forge_for(&mut machine, Api::Github);
    let workflow = yaml("deploy/github-review.yml");
    assert_eq!(workflow["env"]["PROBITY_VERSION"], VERSION);
    machine.values.insert("github.base_ref", git(origin.path(), &["branch", "--show-current"]));
    machine.values.insert("secrets.ANTHROPIC_API_KEY", "a key".to_owned());
    machine.values.insert("github.token", TOKEN.to_owned());
    for job in ["review", "publish"] {
        for step in shell_steps(&workflow["jobs"][job]["steps"]) {
            let (code, said) = machine.run(step);
            assert_eq!(code, Some(0), "{}\n{said}", step["name"]);
        }
    }
    assert_published(&forge);
    // Only the job that publishes may write to the repository.
    let may_write = |permissions: &Value| {
        permissions
            .as_object()
            .unwrap()
            .iter()
            .any(|(name, word)| word == "write" && name != "security-events")
    };
    assert!(!may_write(&workflow["permissions"]));
    assert!(!may_write(&workflow["jobs"]["review"]["permissions"]));
    assert!(may_write(&workflow["jobs"]["publish"]["permissions"]));
    let notes = fs::read_to_string(machine.at("notes")).unwrap();
    let version = notes.trim_end().rsplit('@').next().unwrap();
    assert_eq!(
        notes,
        format!(
            "sudo apt-get update -qq\n\
             sudo apt-get install -qq -y --no-install-recommends bubblewrap\n\
             sudo sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0\n\
             npm install --global --silent @agentclientprotocol/claude-agent-acp@{version}\n"
        )
    );
    for file in ["temp/review/review.json", "temp/review.sarif", "temp/history/reviews.db"] {
        assert!(machine.at(file).exists(), "{file}");
    }
}

#[test]
fn the_files_of_other_systems_install_and_lint() {
    let server = releases();
    let variables =
        [("PROBITY_VERSION", VERSION.to_owned()), ("PROBITY_RELEASES", server.address())];
    let checkout = checkout();
    let mut machine = Machine::new(checkout.path().to_owned());
    machine.variables.extend(variables.map(|(name, value)| (name.to_owned(), value)));
    machine.variables.insert("PROBITY_ARGS".to_owned(), String::new());

    // Concourse gives a task its inputs beside each other.
    let task = yaml("deploy/concourse-check.yml");
    let beside = tempfile::tempdir().unwrap();
    fs::create_dir(beside.path().join("repo")).unwrap();
    fs::copy(checkout.path().join("Dockerfile"), beside.path().join("repo/Dockerfile")).unwrap();
    machine.checkout = beside.path().to_owned();
    let script = task["run"]["args"][1].as_str().unwrap();
    let (code, said) = machine.run(&serde_json::json!({ "run": script }));
    assert_eq!((code, said.as_str()), (Some(1), SUDO));
    machine.checkout = checkout.path().to_owned();

    let jenkins = fs::read_to_string(root("deploy/Jenkinsfile")).unwrap();
    let install = jenkins.split("'''").nth(1).unwrap().replace("\\\\", "\\");
    let (code, said) = machine.run(&serde_json::json!({ "run": install }));
    assert_eq!(code, Some(0), "{said}");
    let lint = jenkins.split("sh '.probity").skip(1).map(|rest| rest.split('\'').next().unwrap());
    let codes: Vec<_> = lint
        .map(|rest| machine.run(&serde_json::json!({ "run": format!(".probity{rest}") })).0)
        .collect();
    assert_eq!(codes, [Some(0), Some(1)]);
    assert!(checkout.path().join("probity.xml").exists());

    let component = yaml("deploy/gitlab-component.yml");
    let lines = |key: &str| component["probity-check"][key].as_array().unwrap().clone();
    // The image's own preparation needs Debian's servers; what follows is ours.
    let before = lines("before_script").into_iter().skip(1);
    let unpacked = machine.at("bin").display().to_string();
    let script: Vec<String> = before
        .chain(lines("script"))
        .map(|line| line.as_str().unwrap().replace("/usr/local/bin", &unpacked))
        .map(|line| line.replace("$[[ inputs.args ]]", ""))
        .collect();
    let (code, said) = machine.run(&serde_json::json!({ "run": script.join("\n") }));
    assert_eq!((code, said.as_str()), (Some(1), SUDO));
    assert!(checkout.path().join("gl-code-quality-report.json").exists());
}

/// A clone of the sample repository with a branch that changes something.
fn changed_clone() -> (tempfile::TempDir, tempfile::TempDir) {
    let (origin, place) = (repository(), tempfile::tempdir().unwrap());
    git(place.path(), &["clone", "-q", origin.path().to_str().unwrap(), "repo"]);
    let checkout = place.path().join("repo");
    git(&checkout, &["checkout", "-q", "-b", "change"]);
    let code = fs::read_to_string(checkout.join("src/numbers.js")).unwrap();
    fs::write(checkout.join("src/numbers.js"), format!("{code}// more\n")).unwrap();
    commit(&checkout);
    (origin, place)
}

/// A machine on which the model's words are recorded; everything else is real.
fn reviewing(place: &Path, server: &FileServer) -> Machine {
    let mut machine = Machine::new(place.join("repo"));
    let set = [
        ("PROBITY_VERSION", VERSION.to_owned()),
        ("PROBITY_RELEASES", server.address()),
        ("PROBITY_REVIEW__AGENT", recorded(place, &findings().to_string())),
        ("DATABASE_URL", format!("sqlite:{}", place.join("reviews.db").display())),
        ("ANTHROPIC_API_KEY", "a key".to_owned()),
        ("PROBITY_REVIEW__SANDBOX", "bwrap".to_owned()),
        // Each job is to reach its end; the sample's defect is high.
        ("PROBITY_REVIEW__FAIL_ON", "none".to_owned()),
    ];
    machine.variables.extend(set.map(|(name, value)| (name.to_owned(), value)));
    ["sudo", "npm"].iter().for_each(|name| machine.stand_in(name));
    machine
}

/// A forge with the pull request of the checkout, as a job for it finds them in its environment.
fn forge_for(machine: &mut Machine, api: Api) -> Forge {
    let head = git(&machine.checkout, &["rev-parse", "HEAD"]);
    git(&machine.checkout, &["remote", "set-url", "origin", "https://forge.example/o/r.git"]);
    let forge = Forge::start(api, &head, FILE, HUNKS);
    let event = machine.at("event");
    let pull = serde_json::json!({ "number": 7, "head": { "sha": head } });
    fs::write(&event, serde_json::json!({ "pull_request": pull }).to_string()).unwrap();
    let set = match api {
        Api::Github | Api::Gitea => vec![
            ("GITHUB_API_URL", forge.address()),
            ("GITHUB_REPOSITORY", "o/r".to_owned()),
            ("GITHUB_SHA", head),
            ("GITHUB_EVENT_PATH", event.display().to_string()),
        ],
        Api::Gitlab => vec![
            ("CI_API_V4_URL", forge.address()),
            ("CI_PROJECT_PATH", "o/r".to_owned()),
            ("CI_COMMIT_SHA", head),
            ("CI_MERGE_REQUEST_IID", "7".to_owned()),
            ("GITLAB_TOKEN", TOKEN.to_owned()),
        ],
    };
    machine.variables.extend(set.into_iter().map(|(name, value)| (name.to_owned(), value)));
    forge
}

#[track_caller]
fn assert_published(forge: &Forge) {
    let state = forge.state();
    assert_eq!(state.threads.len(), 1, "{state:#?}");
    let thread = &state.threads[0];
    assert!(thread.notes[0].body.starts_with("**high** `ISS-001`"), "{thread:#?}");
    assert_eq!((state.comments.len(), state.statuses.len()), (1, 1), "{state:#?}");
    assert_eq!(state.statuses[0].description, "Score 8.5 of 10, 1 proven issue");
}

/// Tests of a change run beside keys, so that a job without a sandbox has to fail.
#[test]
fn every_job_that_runs_tests_refuses_to_do_so_without_a_sandbox() {
    let github = |file: &str| yaml(file)["env"].clone();
    let shards = yaml("deploy/concourse-review-shards.yml");
    let plan = shards["jobs"][0]["plan"].as_array().unwrap();
    let task = |name: &str| {
        let step = plan.iter().find(|step| step["task"] == name).unwrap();
        step["config"]["params"].clone()
    };
    let job = yaml("deploy/kubernetes-review.yml");
    let pod = job["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap().clone();
    let pod: serde_json::Map<String, Value> = pod
        .into_iter()
        .map(|variable| (variable["name"].as_str().unwrap().to_owned(), variable["value"].clone()))
        .collect();
    for (job, variables) in [
        ("github", github("deploy/github-review.yml")),
        ("github, shards", github("deploy/github-review-shards.yml")),
        ("gitlab", yaml("deploy/gitlab-review-shards.yml")[".probity"]["variables"].clone()),
        ("concourse, ask", task("ask")),
        ("concourse, prove", task("prove")),
        ("kubernetes", Value::Object(pod)),
        ("concourse task", yaml("ci/tasks/ci-agent-review.yml")["params"].clone()),
    ] {
        let said = ["PROBITY_REVIEW__SANDBOX", "REVIEW_SANDBOX"].map(|name| &variables[name]);
        assert!(said.contains(&&Value::from("auto")), "{job}: {said:?}");
    }
}

/// A release changes the version in several files; one that is forgotten installs the wrong program.
#[test]
fn every_file_names_this_version() {
    for (file, before) in [
        ("pyproject.toml", "version = \""),
        ("pyproject.toml", "probity-cli=="),
        ("deploy/github-review.yml", "PROBITY_VERSION: "),
        ("deploy/github-review-shards.yml", "PROBITY_VERSION: "),
        ("deploy/gitlab-review-shards.yml", "PROBITY_VERSION: "),
        ("deploy/concourse-check.yml", "PROBITY_VERSION: "),
        ("deploy/gitlab-component.yml", "default: "),
        ("deploy/Jenkinsfile", "PROBITY_VERSION = '"),
        ("Cargo.toml", "version = \""),
    ] {
        let text = fs::read_to_string(root(file)).unwrap();
        assert!(text.contains(&format!("{before}{VERSION}")), "{file}: {before}");
    }
}

#[test]
fn published_schemas_accept_the_files() {
    let check = |schema: &str, file: &Path| {
        let program = root("target/tools/python/bin/check-jsonschema");
        let output =
            Command::new(program).args(["--builtin-schema", schema]).arg(file).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {said}", file.display());
    };
    check("vendor.github-actions", &root("action.yml"));
    check("vendor.github-workflows", &root("deploy/github-review.yml"));
    check("vendor.github-workflows", &root("deploy/github-review-shards.yml"));
    check("vendor.gitlab-ci", &root("deploy/gitlab-review-shards.yml"));
    // The second document of a component is an ordinary file once its inputs are filled in.
    let component = fs::read_to_string(root("deploy/gitlab-component.yml")).unwrap();
    let jobs = component.split_once("\n---\n").unwrap().1.replace("$[[ inputs.stage ]]", "test");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gitlab-ci.yml");
    fs::write(&file, jobs).unwrap();
    check("vendor.gitlab-ci", &file);
    let program = root("target/tools/python/bin/pre-commit");
    let mut hooks = Command::new(program);
    hooks.arg("validate-manifest").arg(root(".pre-commit-hooks.yaml"));
    assert!(hooks.status().unwrap().success());
}

/// pre-commit installs from a clone, as it does from GitHub; the wheel comes from a directory.
#[test]
fn pre_commit_runs_the_hooks_of_a_clone() {
    let place = tempfile::tempdir().unwrap();
    let hooks = place.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for file in [".pre-commit-hooks.yaml", "pyproject.toml"] {
        fs::copy(root(file), hooks.join(file)).unwrap();
    }
    git(&hooks, &["init", "-q"]);
    commit(&hooks);
    let wheels = place.path().join("wheels");
    fs::create_dir(&wheels).unwrap();
    for directory in [packed(), root("target/tools/wheels")] {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            if entry.path().extension().is_some_and(|extension| extension == "whl") {
                fs::copy(entry.path(), wheels.join(entry.file_name())).unwrap();
            }
        }
    }
    let project = place.path().join("project");
    fs::create_dir(&project).unwrap();
    git(&project, &["init", "-q"]);
    let head = git(&hooks, &["rev-parse", "HEAD"]);
    let config = format!(
        "repos:\n- repo: {}\n  rev: {head}\n  hooks:\n  - id: probity-check\n",
        hooks.display()
    );
    fs::write(project.join(".pre-commit-config.yaml"), config).unwrap();
    let run = |dockerfile: &str| {
        fs::write(project.join("Dockerfile"), dockerfile).unwrap();
        git(&project, &["add", "-A"]);
        pre_commit(&project, &wheels, place.path())
    };
    let (code, said) = run("FROM debian:12\nRUN sudo true\n");
    assert!(code == Some(1) && said.contains(SUDO), "{said}");
    let (code, said) = run("FROM debian:12\nRUN true\nUSER 1000\nCMD [\"true\"]\n");
    assert_eq!(code, Some(0), "{said}");
}

fn pre_commit(project: &Path, wheels: &Path, home: &Path) -> (Option<i32>, String) {
    let output = Command::new(root("target/tools/python/bin/pre-commit"))
        .args(["run", "--all-files"])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", root("target/tools/python/bin").display()))
        .envs([
            ("HOME", home),
            ("PRE_COMMIT_HOME", &home.join("cache")),
            ("PIP_FIND_LINKS", wheels),
        ])
        .env("PIP_NO_INDEX", "1")
        .current_dir(project)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}
